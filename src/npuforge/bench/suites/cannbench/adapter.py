# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: CANN Bench's references (`golden.py`), as tables of cases want them.

A reference is planned as it is written, for inputs of the case's own types, with one change: the
chip has no double precision, so that what a reference widens to it is widened to float32 instead.
Judging is not concerned by that: there the reference runs once more as it is, on inputs in double
precision.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from npuforge.bench.suites.cannbench import gate, inputs, pointing


def open_task(place: str) -> Task:
    """The operator whose folder `place` is."""
    file = Path(place) / "golden.py"
    spec = importlib.util.spec_from_file_location("golden", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Task(module)


class Task:
    """See `npuforge.bench.tables`."""

    def __init__(self, golden: Any) -> None:
        self.golden = golden
        self._exact: tuple[dict[str, Any], Any] | None = None  # of the arguments made last

    def init(self, row: dict[str, Any]) -> list[Any]:
        return [_values(row["attributes"])]

    def model(self, row: dict[str, Any], _init: list[Any]) -> Callable[..., Any]:
        reference = self._function(row, "")

        def on_device(*arguments: Any) -> Any:
            if any(t.dtype == torch.float64 for t in _tensors(list(arguments))):
                exact = self._called(reference, row, arguments)
                self._exact = (row, exact)
                return exact
            with _NoDoubles():
                return self._called(reference, row, arguments)

        return on_device

    def arguments(self, row: dict[str, Any]) -> list[Any]:
        """What the reference's tensor parameters get, in their order."""
        self._exact = None
        if hasattr(self.golden, "get_output"):
            raise ValueError("the task transforms results before they are compared (get_output)")
        prepare = getattr(self.golden, "get_input", None)
        if torch.get_default_device().type == "meta" and prepare is None:
            return self._ordered(row, inputs.without_data(row["shapes"], row["dtypes"]))
        with torch.device("cpu"):
            ranges = _values(row["ranges"])
            made = inputs.make(row["shapes"], row["dtypes"], ranges, row["seed"])
            found = self._prepared(prepare, row, made) if prepare else self._ordered(row, made)
        if torch.get_default_device().type == "meta":
            return [_on_meta(value) for value in found]
        return found

    def check(
        self, row: dict[str, Any], arguments: list[Any], _wanted: Any, given: Any
    ) -> tuple[bool, str, dict[str, float | None]]:
        """The published gate, output by output."""
        goldens, results = _flat(self._oracle(row, arguments)), _flat(given)
        if len(results) != len(goldens):
            return False, f"{len(results)} results instead of {len(goldens)}", _figures(1.0)
        natives = _Natives(lambda: self._native(row, arguments), len(goldens))
        judged = [
            self._judged(row, number, *pair, natives)
            for number, pair in enumerate(zip(results, goldens, strict=True))
        ]
        failed = next((one for one in judged if not one.passed), None)
        if failed is not None:
            return False, failed.message, _figures(float(failed.structural), judged)
        names = self._tensor_names(row)
        found = dict(zip(names, arguments, strict=False))
        attributes = _values(row["attributes"])
        said = pointing.problem(row["outputs"], found, attributes, results)
        return said is None, said or "", _figures(0.0, judged)

    def _judged(
        self, row: dict[str, Any], number: int, given: Any, golden: Any, natives: _Natives
    ) -> gate.Judged:
        outputs = row["outputs"]
        name = outputs[number]["name"] if number < len(outputs) else f"result {number}"
        if given is None or golden is None:
            same = given is None and golden is None
            return gate.Judged(same, f"{name} is missing", structural=True)
        if number < len(outputs) and not outputs[number]["compare"]:
            return gate.Judged(True)
        found = gate.judge(given, golden, partial(natives.result, number), row["thresholds"])
        return found if found.passed else _named(found, name)

    def _oracle(self, row: dict[str, Any], arguments: list[Any]) -> Any:
        """The reference in double precision, which may be known already."""
        oracle = self._function(row, "_oracle")
        if oracle is self._function(row, "") and self._exact is not None:
            known, exact = self._exact
            if known is row:
                return exact
        with torch.no_grad():
            return self._called(oracle, row, [_doubled(value) for value in arguments])

    def _native(self, row: dict[str, Any], arguments: list[Any]) -> Any:
        """The reference in the precision of the results; None where it does not run so."""
        try:
            with torch.no_grad():
                return self._called(self._function(row, "_bench"), row, arguments)
        except Exception:  # no half precision on this machine, say: bounds then hold as they are
            return None

    def _function(self, row: dict[str, Any], role: str) -> Callable[..., Any]:
        """The reference, or its variant for a role where there is one."""
        name = row["function"]
        found = getattr(self.golden, f"{name}{role}", None) or getattr(self.golden, name, None)
        if not callable(found):
            raise AttributeError(f"golden.py has no function {name}")
        reference: Callable[..., Any] = found
        return reference

    def _parameters(self, row: dict[str, Any]) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self._function(row, "")).parameters)

    def _tensor_names(self, row: dict[str, Any]) -> list[str]:
        found = self._parameters(row).items()
        return [name for name, parameter in found if "Tensor" in _annotation(parameter)]

    def _ordered(self, row: dict[str, Any], made: list[Any]) -> list[Any]:
        """Inputs by the reference's tensor parameters; a list is spread over single ones."""
        shapes = row["shapes"]
        first: list[Any] = shapes[0] or []
        wrapped = len(shapes) == 1 and first and not isinstance(first[0], int)
        count = len(first) if wrapped else len(shapes)
        left = list(made)
        found: list[Any] = []
        for name in self._tensor_names(row)[:count]:
            if not left:
                break
            value: Any = left.pop(0)
            text = _annotation(self._parameters(row)[name])
            single = "List[" not in text
            required = self._parameters(row)[name].default is inspect.Parameter.empty
            if isinstance(value, list) and single and required and "Optional" not in text:
                value, left = next(iter(value), None), value[1:] + left
            elif not single and not isinstance(value, list):
                value = [value]
            found.append(value)
        return found

    def _prepared(self, prepare: Any, row: dict[str, Any], made: list[Any]) -> list[Any]:
        """Inputs as the task's own `get_input` changes them."""
        attributes = _values(row["attributes"])
        given = {
            name: made[place] if place < len(made) else None
            for place, name in enumerate(row["inputs"])
        }
        given = {**attributes, **given}
        given.setdefault("skip2_exist", attributes.get("skip2_exist", True))
        return list(prepare(**given))

    def _called(self, function: Any, row: dict[str, Any], arguments: Any) -> Any:
        attributes = _values(row["attributes"])
        prepared = hasattr(self.golden, "get_input")
        given = dict(zip(self._tensor_names(row), arguments, strict=False))
        for name, parameter in inspect.signature(function).parameters.items():
            if "Tensor" in _annotation(parameter):
                if prepared:
                    given.setdefault(name, None)
            elif name in attributes:
                value = attributes[name]
                given[name] = value if prepared else _number(value)
        return function(**given)


class _Natives:
    """Results of the reference in its own precision, computed when the first is asked for."""

    def __init__(self, compute: Callable[[], Any], count: int) -> None:
        self._compute = compute
        self._count = count
        self._found: list[Any] | None = None

    def result(self, number: int) -> torch.Tensor | None:
        """None where the reference does not run so."""
        if self._found is None:
            found = _flat(self._compute())
            self._found = found if len(found) == self._count else [None] * self._count
        value: torch.Tensor | None = self._found[number]
        return value


class _NoDoubles(TorchFunctionMode):
    """Double precision asked for becomes single."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.double:
            return args[0].float()
        changed = [torch.float32 if value is torch.float64 else value for value in args]
        named = {
            key: torch.float32 if value is torch.float64 else value
            for key, value in (kwargs or {}).items()
        }
        return func(*changed, **named)


def _annotation(parameter: inspect.Parameter) -> str:
    kind = parameter.annotation
    return "" if kind is inspect.Parameter.empty else str(kind)


def _values(plain: Any) -> Any:
    """Numbers that JSON lacks, back from their wrapping."""
    if isinstance(plain, dict):
        if list(plain) == ["float"]:
            return float(plain["float"])
        return {key: _values(item) for key, item in plain.items()}
    if isinstance(plain, list):
        return [_values(item) for item in plain]
    return plain


def _number(value: Any) -> Any:
    """A number written as text is one to the suite."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


def _mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return [_mapped(item, change) for item in value] if isinstance(value, list | tuple) else value


def _doubled(value: Any) -> Any:
    return _mapped(value, lambda t: t.double() if t.is_floating_point() else t.clone())


def _on_meta(value: Any) -> Any:
    return _mapped(value, lambda t: t.to("meta"))


def _flat(value: Any) -> list[Any]:
    """All results; what is no tensor holds its place."""
    if isinstance(value, torch.Tensor):
        return [value]
    if not isinstance(value, list | tuple):
        return []
    found: list[Any] = []
    for item in value:
        found += _flat(item) if isinstance(item, list | tuple | torch.Tensor) else [None]
    return found


def _named(found: gate.Judged, name: str) -> gate.Judged:
    said = f"{name}: {found.message}"
    return gate.Judged(False, said, found.structural, found.mean, found.largest)


def _figures(structural: float, judged: Any = ()) -> dict[str, float | None]:
    means = [one.mean for one in judged if one.mean is not None]
    largest = [one.largest for one in judged if one.largest is not None]
    return {
        "structural": structural,
        "mean_error": max(means) if means else None,
        "largest_error": max(largest) if largest else None,
    }
