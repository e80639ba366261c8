# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: runs a captured module on every case and leaves tensors as raw files.

For case `i`, `case<i>.json` comes last and names the files: the tensors before the call in the
order of the graph's sources, the results after it in the order of the graph's results, each result
also as computed in double precision where the module allows it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from npuforge.generate import inputs as making
from npuforge.spec.capture_worker import Captured, put, reason

_MOST_STATE = 8_000_000  # elements of parameters beyond which they are not copied about
_MOST_NAN = 0.1
_HUGE = 1e30

_VALUES: dict[str, Callable[[Sequence[Any]], list[Any]]] = {
    "own": list,
    "signed": making.signed,
    "large": making.large,
    "special": making.special,
}


def serve(captured: Captured, question: dict[str, Any], folder: Path) -> None:
    """Answer all cases of the question, in order, with files in `folder`."""
    answerer = Answerer(captured, question["sources"], question["results"])
    if question.get("given") is not None:
        put(folder / "given.json", {"sources": _whole_numbers(answerer, question["given"], folder)})
    left: dict[int, Any] = {}  # parameters stay as they are from case to case: written once
    for number, case in enumerate(question["cases"]):
        try:
            answer = answerer.answer(case)
        except Exception as error:  # sizes or values that the module refuses
            put(folder / f"case{number}.json", {"error": reason(error)})
            continue
        described: dict[str, Any] = {"message": answer.pop("message")}
        for kind, tensors in answer.items():
            described[kind] = []
            for place, tensor in enumerate(tensors):
                shared = answerer.shares(tensor)
                entry = left.get(id(tensor)) if shared else None
                if entry is None:
                    entry = _left(folder, f"case{number}.{kind}{place}.bin", tensor)
                if shared:
                    left[id(tensor)] = entry
                described[kind].append(entry)
        put(folder / f"case{number}.json", described)


def _whole_numbers(answerer: Answerer, option: dict[str, Any], folder: Path) -> list[Any]:
    """The module's own inputs at these sizes, those of whole numbers; the others are None."""
    shapes = answerer.shapes(option)
    try:
        inputs, _ = answerer.maker.make(shapes, {}, 0)
    except Exception:  # without them the time is that of zeros, and says so
        return []
    found: list[Any] = []
    for number, source in enumerate(answerer.sources):
        place = source["position"]
        tensor = inputs[place] if place is not None else None
        whole = tensor is not None and tensor.dtype in (torch.int64, torch.int32)
        found.append(_left(folder, f"given{number}.bin", tensor) if whole else None)
    return found


def _left(folder: Path, name: str, tensor: Any) -> dict[str, Any] | None:
    if tensor is None:
        return None
    plain = as_pairs(tensor.detach()).contiguous()
    plain.reshape(-1).view(torch.uint8).numpy().tofile(folder / name)
    dtype = str(plain.dtype).removeprefix("torch.")
    return {"file": name, "shape": list(plain.shape), "dtype": dtype}


def as_pairs(tensor: Any) -> Any:
    """A tensor as kernels see it: complex numbers are pairs of real ones."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


class Answerer:
    """The module, its parameters as it initialises them, and how to run it on a case."""

    def __init__(self, captured: Captured, sources: list[Any], results: list[Any]) -> None:
        self.sources = sources
        self.results = results
        self.constants: dict[str, Any] = captured.program.constants
        module = captured.module
        making.seed(0)
        self.model = module.Model(*getattr(module, "get_init_inputs", list)())
        self.maker = making.InputMaker(module.get_inputs)
        self.complex = {
            place
            for place, value in enumerate(captured.inputs)
            if isinstance(value, torch.Tensor) and value.is_complex()
        }
        self.state = {id(t) for t in (*self.model.parameters(), *self.model.buffers())}
        held = sum(t.numel() for t in (*self.model.parameters(), *self.model.buffers()))
        self.heavy = held > _MOST_STATE
        self.updated = any("state" in result for result in results)

    def shares(self, tensor: Any) -> bool:
        """Whether it is a parameter or buffer that no case changes."""
        return id(tensor) in self.state and not self.updated

    def shapes(self, option: dict[str, Any]) -> dict[int, tuple[int, ...]]:
        """Of the module's own inputs: a complex number is one element to it."""
        return {
            int(place): tuple(shape[:-1] if int(place) in self.complex else shape)
            for place, shape in option["shapes"].items()
        }

    def _copy(self, model: Any) -> Any:
        """A module that may be run and changed by it; a large one is copied only where it must."""
        return model if self.heavy and not self.updated else copy.deepcopy(model)

    def answer(self, case: dict[str, Any]) -> dict[str, Any]:
        """The first option that the module accepts."""
        for option in case["options"][:-1]:
            try:
                return self._answer(case, option)
            except Exception:  # these sizes do not go together
                continue
        return self._answer(case, case["options"][-1])

    def _answer(self, case: dict[str, Any], option: dict[str, Any]) -> dict[str, Any]:
        shapes = self.shapes(option)
        numbers = {int(old): new for old, new in option["numbers"].items()}
        inputs, note = self.maker.make(shapes, numbers, case["seed"])
        model = self.model
        if case["perturbed"] and not self.heavy:
            model = copy.deepcopy(model)
            perturb(model)
        try:
            ready, results = self._defined(model, inputs, case["values"])
        except (IndexError, RuntimeError):
            least = min((extent for shape in shapes.values() for extent in shape), default=1)
            inputs = making.indices_within(inputs, max(1, least))
            ready, results = self._defined(model, inputs, case["values"])
            note = note or "indices brought below the smallest extent"
        return {
            "sources": [self._source(model, ready, source) for source in self.sources],
            "results": results,
            "golden": self._golden(model, ready, results),
            "message": note,
        }

    def _defined(self, model: Any, inputs: list[Any], values: str) -> tuple[list[Any], list[Any]]:
        """Inputs and results; the module's own inputs where signed ones have no result, or one near
        the end of float32: PyTorch's double precision inside may have been beyond it on the way."""
        ready = _VALUES[values](inputs)
        results = self._run(self._copy(model), ready)
        if values == "signed" and (_has_nan(results) or _is_huge(results)):
            ready = inputs
            results = self._run(self._copy(model), ready)
        return ready, results

    def _run(self, model: Any, inputs: list[Any]) -> list[Any]:
        given = [_copied(value) for value in inputs]
        for place in self.maker.differentiated:
            given[place].requires_grad_()
        making.seed(0)
        with torch.no_grad():
            made = model(*given)
        outputs = [one.detach() for one in tree_leaves(made) if isinstance(one, torch.Tensor)]
        found: list[Any] = []
        for result in self.results:
            match result:
                case {"input": place}:
                    found.append(given[place].detach())
                case {"state": name}:
                    found.append(_state(model, name))
                case _:
                    found.append(outputs.pop(0))
        return found

    def _golden(self, model: Any, inputs: list[Any], results: list[Any]) -> list[Any]:
        """The results in double precision; None for each where the module does not run so."""
        if self.heavy:
            return [None] * len(results)
        try:
            wide = [
                value.double()
                if isinstance(value, torch.Tensor) and value.dtype.is_floating_point
                else value
                for value in inputs
            ]
            golden = self._run(copy.deepcopy(model).double(), wide)
        except Exception:  # a dtype fixed in its code
            return [None] * len(results)
        return [
            value if value.dtype == torch.float64 and value.shape == result.shape else None
            for value, result in zip(golden, results, strict=True)
        ]

    def _source(self, model: Any, inputs: list[Any], source: dict[str, Any]) -> Any:
        if source["position"] is not None:
            return inputs[source["position"]]
        value = _state(model, source["target"])
        if value is None:
            value = self.constants.get(source["target"])
        if value is None or value.device.type == "meta":
            raise ValueError(f"the value of {source['target']} is not known")
        return value


def _copied(value: Any) -> Any:
    """A tensor of its own with the same strides."""
    if not isinstance(value, torch.Tensor):
        return copy.deepcopy(value)
    return value.detach().clone()


def _state(model: Any, name: str) -> Any:
    value = model
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, torch.Tensor) else None


def _is_huge(results: list[Any]) -> bool:
    return any(
        value.is_floating_point() and bool((value[value.isfinite()].abs() > _HUGE).any())
        for value in results
        if isinstance(value, torch.Tensor)
    )


def _has_nan(results: Sequence[Any]) -> bool:
    floating = [r for r in results if r.dtype.is_floating_point and r.numel()]
    return any(bool(r.isnan().float().mean() > _MOST_NAN) for r in floating)


def perturb(model: Any) -> None:
    """Make parameters and buffers that are constant vary; what is positive stays so."""
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if not tensor.dtype.is_floating_point or tensor.numel() == 0:
                continue
            if bool((tensor == tensor.view(-1)[0]).all()):
                tensor += (torch.rand(tensor.shape) * 0.5).to(tensor.dtype)
