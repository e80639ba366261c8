# SPDX-License-Identifier: Apache-2.0
"""Operator calls as binding code makes them: one flat list of inputs, attributes, outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from npuforge.dtypes import HostTensor, find
from npuforge.errors import UsageError
from npuforge.sandbox import Limits
from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.sandbox.tensor_files import read_tensor
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.host import Operator, Parameter
from npuforge.twin.sources.operator import OperatorSource, host_name
from npuforge.twin.torchbind.requests import (
    MOST_CALL_BYTES,
    Argument,
    List,
    Nothing,
    Plain,
    Request,
    Row,
    Scalar,
    Special,
    Tensor,
    number_of,
)

Shapes = tuple[Sequence[int], str] | list[tuple[Sequence[int], str]]
_Item = Argument | Row


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor of the call: its header, its place among the call's tensors, its contents."""

    header: Tensor
    place: int
    content: HostTensor


@dataclass(frozen=True, slots=True)
class BoundCall:
    """The flat argument list taken apart by the operator's definition.

    `targets` are the places of tensors in the call by their names in the launch; `initial` is what
    outputs hold before the launch, where somebody filled them.
    """

    inputs: dict[str, Any]
    attrs: dict[str, Any]
    outputs: dict[str, Shapes]
    targets: dict[str, int]
    initial: dict[str, HostTensor]


def read_inputs(request: Request, folder: SharedFolder) -> dict[int, Given]:
    """Return the call's tensors by the identity of their headers."""
    return {
        id(header): Given(
            header, place, read_tensor(folder, f"in{place}.bin", header, MOST_CALL_BYTES)
        )
        for place, header in enumerate(request.tensors())
    }


def bind(
    operator: Operator, arguments: Sequence[Argument], tensors: Mapping[int, Given]
) -> BoundCall:
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
        argument = next(rest)
        wanted = types.get(parameter.name) or (parameter.dtypes or ("float32",))[0]
        bound.inputs[parameter.name] = _input(argument, tensors, wanted)
        if parameter.name in in_place:
            given = _given(parameter.name, argument, tensors)
            bound.targets.update({name: one.place for name, one in given.items()})
    for attribute in operator.attrs:
        bound.attrs[attribute.name] = _plain(next(rest))
    for parameter in outputs:
        argument = next(rest)
        if not isinstance(argument, Nothing):
            bound.outputs[parameter.name] = _shapes(parameter, argument)
            given = _given(parameter.name, argument, tensors)
            bound.targets.update({name: one.place for name, one in given.items()})
            filled = {name: one.content for name, one in given.items() if one.header.filled}
            bound.initial.update(filled)
    return bound


def perform(
    source: OperatorSource,
    request: Request,
    folder: SharedFolder,
    mode: Mode,
    limits: Limits | None = None,
    timed: bool = False,
) -> tuple[RunResult, list[int]]:
    """Run the call; returns its result and the places of the tensors that were written.

    With `timed` the result has the time too, modelled without data.
    """
    call = bind(source.operator, request.arguments, read_inputs(request, folder))
    result = source.launch(
        call.inputs, call.attrs, call.outputs, initial=call.initial, mode=mode, limits=limits
    )
    if timed and result.error is None:
        modelled = source.launch(
            call.inputs, call.attrs, call.outputs, initial=call.initial, mode="time", limits=limits
        )
        result = replace(result, timing=modelled.timing, timing_note=modelled.timing_note)
    written = []
    for name, place in call.targets.items():
        if name in result.tensors:
            folder.write(f"out{place}.bin", result.tensors[name].to_bytes())
            written.append(place)
    return result, written


def _in_order(arguments: Sequence[Argument], inputs: int, attrs: int) -> list[Argument]:
    """Hand-written call layers put a tensor they write first, attributes after it."""
    if not any(_is_tensor(argument) for argument in arguments[inputs : inputs + attrs]):
        return list(arguments)
    tensors = [argument for argument in arguments if _is_tensor(argument)]
    plain = [argument for argument in arguments if not _is_tensor(argument)]
    return [*tensors[:inputs], *plain, *tensors[inputs:]]


def _is_tensor(argument: _Item) -> bool:
    if isinstance(argument, List):
        return any(isinstance(item, Tensor) for item in argument.items)
    return isinstance(argument, Tensor)


def _types(operator: Operator, arguments: Sequence[Argument]) -> dict[str, str]:
    """The operator's element types that go with the tensors of the call."""
    inputs = _tensor_types(operator.inputs, arguments)
    if len(inputs) == len(operator.inputs):
        return operator.combination(inputs)
    # Host scalars have no type of their own: what they are written to tells it.
    names = {parameter.name for parameter in operator.inputs}
    outputs = [parameter for parameter in operator.outputs if parameter.name not in names]
    written = _tensor_types(outputs, arguments[len(arguments) - len(outputs) :])
    return operator.combination(inputs, written)


def _tensor_types(parameters: Sequence[Parameter], arguments: Sequence[Argument]) -> dict[str, str]:
    given = {}
    for parameter, argument in zip(parameters, arguments, strict=False):
        items = argument.items[:1] if isinstance(argument, List) else [argument]
        if items and isinstance(items[0], Tensor):
            given[parameter.name] = host_name(find(items[0].dtype))
    return given


def _input(argument: _Item, tensors: Mapping[int, Given], wanted: str) -> Any:
    if isinstance(argument, Nothing):
        return None
    if isinstance(argument, Tensor):
        return tensors[id(argument)].content
    if isinstance(argument, Scalar | Special):
        # A host scalar where the operator declares a tensor: a tensor of one element.
        return HostTensor.of([number_of(argument)], wanted)
    scalars = [item for item in argument.items if isinstance(item, Scalar | Special)]
    if scalars and len(scalars) == len(argument.items):
        return HostTensor.of([number_of(item) for item in scalars], wanted)
    return [_input(item, tensors, wanted) for item in argument.items]


def _plain(argument: _Item) -> Any:
    """An attribute: numbers, texts and lists of them."""
    if isinstance(argument, Scalar | Special):
        return number_of(argument)
    if isinstance(argument, List | Row):
        items: Sequence[Tensor | Plain] = argument.items
        return [_plain(item) for item in items]
    return None


def _shapes(parameter: Parameter, argument: Argument) -> Shapes:
    if isinstance(argument, Tensor):
        return argument.shape, argument.dtype
    items = argument.items if isinstance(argument, List) else []
    tensors = [item for item in items if isinstance(item, Tensor)]
    if not tensors or len(tensors) < len(items):
        raise UsageError(f"the output {parameter.name} is no tensor in this call")
    return [(item.shape, item.dtype) for item in tensors]


def _given(name: str, argument: Argument, tensors: Mapping[int, Given]) -> dict[str, Given]:
    """The tensors of an argument by their names in the launch."""
    if isinstance(argument, List):
        return {
            f"{name}[{number}]": tensors[id(item)]
            for number, item in enumerate(argument.items)
            if isinstance(item, Tensor)
        }
    return {name: tensors[id(argument)]} if isinstance(argument, Tensor) else {}
