# SPDX-License-Identifier: Apache-2.0
"""Operator calls as binding code makes them: one flat list of inputs, attributes, outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from npuforge.dtypes import HostTensor, find
from npuforge.errors import UsageError
from npuforge.sandbox import Limits
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.host import Operator, Parameter
from npuforge.twin.sources.operator import OperatorSource, host_name

Description = dict[str, Any]  # one argument as the worker describes it
Shapes = tuple[Sequence[int], str] | list[tuple[Sequence[int], str]]


@dataclass(frozen=True, slots=True)
class BoundCall:
    """The flat argument list taken apart by the operator's definition."""

    inputs: dict[str, Any]
    attrs: dict[str, Any]
    outputs: dict[str, Shapes]
    targets: dict[str, str]  # tensor of the launch -> file that receives it
    initial: dict[
        str, HostTensor
    ]  # what outputs hold before the launch, where somebody filled them


def bind(operator: Operator, arguments: Sequence[Description], scratch: Path) -> BoundCall:
    """Match `arguments` to the operator: an output named like an input is that input, in place."""
    input_names = {parameter.name for parameter in operator.inputs}
    outputs = [p for p in operator.outputs if p.name not in input_names]
    expected = len(operator.inputs) + len(operator.attrs) + len(outputs)
    if len(arguments) != expected:
        raise UsageError(
            f"{operator.type} takes {len(operator.inputs)} inputs, {len(operator.attrs)} "
            f"attributes and {len(outputs)} outputs; the call passes {len(arguments)} arguments"
        )
    arguments = _in_order(arguments, len(operator.inputs), len(operator.attrs))
    rest = iter(arguments)
    bound = BoundCall({}, {}, {}, {}, {})
    in_place = {p.name for p in operator.outputs or operator.inputs} & input_names
    types = _types(operator, arguments)
    for parameter in operator.inputs:
        described = next(rest)
        bound.inputs[parameter.name] = _input(parameter, described, scratch, types)
        if parameter.name in in_place:
            bound.targets.update(_files(parameter.name, described))
    for attribute in operator.attrs:
        bound.attrs[attribute.name] = _plain(next(rest))
    for parameter in outputs:
        described = next(rest)
        if described["kind"] != "none":
            bound.outputs[parameter.name] = _shapes(described)
            bound.targets.update(_files(parameter.name, described))
            bound.initial.update(_contents(parameter.name, described, scratch))
    return bound


def perform(
    source: OperatorSource,
    arguments: Sequence[Description],
    scratch: Path,
    mode: Mode,
    limits: Limits | None = None,
    timed: bool = False,
) -> tuple[RunResult, list[str]]:
    """Run the call; returns its result and the names of the files that now hold outputs.

    With `timed` the result has the time too, modelled without data.
    """
    call = bind(source.operator, arguments, scratch)
    result = source.launch(
        call.inputs, call.attrs, call.outputs, initial=call.initial, mode=mode, limits=limits
    )
    if timed and result.error is None:
        modelled = source.launch(
            call.inputs, call.attrs, call.outputs, initial=call.initial, mode="time", limits=limits
        )
        result = replace(result, timing=modelled.timing, timing_note=modelled.timing_note)
    written = []
    for name, file in call.targets.items():
        if name in result.tensors:
            (scratch / file).write_bytes(result.tensors[name].to_bytes())
            written.append(file)
    return result, written


def _in_order(arguments: Sequence[Description], inputs: int, attrs: int) -> list[Description]:
    """Hand-written call layers put a tensor they write first, attributes after it."""
    if not any(_is_tensor(argument) for argument in arguments[inputs : inputs + attrs]):
        return list(arguments)
    tensors = [argument for argument in arguments if _is_tensor(argument)]
    plain = [argument for argument in arguments if not _is_tensor(argument)]
    return [*tensors[:inputs], *plain, *tensors[inputs:]]


def _is_tensor(described: Description) -> bool:
    if described["kind"] == "list":
        return any(_is_tensor(item) for item in described["items"])
    return bool(described["kind"] == "tensor")


def _types(operator: Operator, arguments: Sequence[Description]) -> dict[str, str]:
    """The operator's element types that go with the tensors of the call."""
    inputs = _tensor_types(operator.inputs, arguments)
    if len(inputs) == len(operator.inputs):
        return operator.combination(inputs)
    # Host scalars have no type of their own: what they are written to tells it.
    names = {parameter.name for parameter in operator.inputs}
    outputs = [parameter for parameter in operator.outputs if parameter.name not in names]
    written = _tensor_types(outputs, arguments[len(arguments) - len(outputs) :])
    return operator.combination(inputs, written)


def _tensor_types(
    parameters: Sequence[Parameter], arguments: Sequence[Description]
) -> dict[str, str]:
    given = {}
    for parameter, described in zip(parameters, arguments, strict=False):
        first = described["items"][:1] if described["kind"] == "list" else [described]
        if first and first[0]["kind"] == "tensor":
            given[parameter.name] = host_name(find(first[0]["dtype"]))
    return given


def _input(
    parameter: Parameter, described: Description, scratch: Path, types: dict[str, str]
) -> Any:
    kind = described["kind"]
    if kind == "none":
        return None
    if kind == "tensor":
        return _content(described, scratch)
    wanted = types.get(parameter.name, parameter.dtypes[0])
    if kind == "list":
        items = described["items"]
        if items and items[0]["kind"] == "scalar":
            return HostTensor.of([item["value"] for item in items], wanted)
        return [_input(parameter, item, scratch, types) for item in items]
    # A host scalar where the operator declares a tensor: a tensor of one element.
    return HostTensor.of([described["value"]], wanted)


def _content(described: Description, scratch: Path) -> HostTensor:
    raw = (scratch / Path(described["file"]).name).read_bytes()
    return HostTensor.from_bytes(raw, described["shape"], described["dtype"])


def _contents(name: str, described: Description, scratch: Path) -> dict[str, HostTensor]:
    """The values of filled output tensors by their names in the launch."""
    if described["kind"] == "list":
        named = {f"{name}[{i}]": item for i, item in enumerate(described["items"])}
    else:
        named = {name: described}
    return {key: _content(item, scratch) for key, item in named.items() if item["filled"]}


def _plain(described: Description) -> Any:
    if described["kind"] == "list":
        return [_plain(item) for item in described["items"]]
    return described.get("value")


def _shapes(described: Description) -> Shapes:
    if described["kind"] == "list":
        return [(item["shape"], item["dtype"]) for item in described["items"]]
    return described["shape"], described["dtype"]


def _files(name: str, described: Description) -> dict[str, str]:
    if described["kind"] == "list":
        return {f"{name}[{i}]": item["file"] for i, item in enumerate(described["items"])}
    return {name: described["file"]} if described["kind"] == "tensor" else {}
