# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: a module's own inputs, in other sizes.

`get_inputs` decides what inputs look like (uniform, normal, indices below a bound, masks), so it is
run as it is while the calls that make tensors (`torch.rand`, `torch.randint`, ...) get other
shapes. A first run without data tells which call ends up in which input.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

Shape = tuple[int, ...]

# Where the shape stands among the arguments of each call that makes a tensor.
_BY_SHAPE = {"rand", "randn", "ones", "zeros", "empty"}
_SHAPE_PLACE = {"full": 0, "normal": 2}
_BY_COUNT = {"arange", "randperm"}
_RESHAPING = {"expand", "reshape", "view", "broadcast_to", "repeat"}
_MOST_EXAMPLE = 16_000_000
# Large numbers are positive: a sum in which they cancel has no right value in single precision.
_EDGES = (0.0, -0.0, 1e-40, -1e-30, 1e-8, 88.0, -104.0, -300.0, 1e4, 65504.0, 1e6)
_SPECIAL = (float("inf"), -float("inf"), float("nan"))
_MOST_SPECIAL = 12


@dataclass
class _Call:
    """A call that made a tensor, and the inputs that came of it."""

    shape: Shape
    inputs: list[int] = field(default_factory=list)


@dataclass
class Example:
    """What the recording run found: shapes by position, the calls in order, and the inputs whose
    gradients the module may ask for."""

    shapes: dict[int, Shape]
    calls: list[_Call]
    differentiated: set[int]


class _Recorder(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[_Call] = []
        self.origins: dict[int, set[int]] = {}
        self.kept: list[Any] = []  # an id stays one tensor's own while the tensor lives

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        made = [value for value in tree_leaves(result) if isinstance(value, torch.Tensor)]
        origins: set[int] = set()
        if _makes(func):
            origins = {len(self.calls)}
            self.calls.append(_Call(tuple(made[0].shape)))
        for value in tree_leaves((args, kwargs)):
            if isinstance(value, torch.Tensor):
                origins |= self.origins.get(id(value), set())
        for value in made:
            self.origins[id(value)] = self.origins.get(id(value), set()) | origins
            self.kept.append(value)
        return result


class _Substitute(TorchFunctionMode):
    def __init__(
        self, example: Example, shapes: Mapping[int, Shape], numbers: Mapping[int, int]
    ) -> None:
        super().__init__()
        self.example = example
        self.shapes = shapes
        self.numbers = numbers
        self.next = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if _makes(func):
            call = self.example.calls[self.next] if self.next < len(self.example.calls) else None
            self.next += 1
            if call is not None:
                args, kwargs = _with_shape(func.__name__, args, kwargs, self._shape(call))
                args, kwargs = self._with_bounds(func.__name__, args, kwargs)
        elif getattr(func, "__name__", "") in _RESHAPING:
            args = (args[0], *(self._mapped(value) for value in args[1:]))
        return func(*args, **kwargs)

    def _shape(self, call: _Call) -> Shape:
        for position in call.inputs:
            if self.example.shapes[position] == call.shape:
                return self.shapes[position]
        near: dict[int, int] = {}
        for position in call.inputs:
            pairs = zip(self.example.shapes[position], self.shapes[position], strict=True)
            near = {**dict(pairs), **near}
        return tuple(near.get(extent, self.numbers.get(extent, extent)) for extent in call.shape)

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(self._mapped(item) for item in value)
        return self.numbers.get(value, value) if type(value) is int else value

    def _with_bounds(self, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Indices below an extent stay below it; where extents grew they still are."""
        if name != "randint":
            return args, kwargs
        args = tuple(self._bound(value) for value in args)
        return args, {key: self._bound(value) for key, value in kwargs.items()}

    def _bound(self, value: Any) -> Any:
        return min(value, self.numbers.get(value, value)) if type(value) is int else value


def _makes(func: Any) -> bool:
    name = getattr(func, "__name__", "")
    known = name in _BY_SHAPE or name in _SHAPE_PLACE or name in _BY_COUNT or name == "randint"
    return known and func is getattr(torch, name, None)


def _with_shape(name: str, args: Any, kwargs: Any, shape: Shape) -> tuple[Any, Any]:
    """The call's arguments with another shape in the place of its own."""
    if "size" in kwargs:
        return args, {**kwargs, "size": shape}
    if name in _BY_SHAPE:
        return (shape,), kwargs
    if name in _BY_COUNT:
        if name == "randperm" or len(args) == 1:
            return (shape[0], *args[1:]), kwargs
        start, step = args[0], args[2] if len(args) > 2 else 1
        return (start, start + shape[0] * step, *args[2:]), kwargs
    if name == "randint":
        return tuple(shape if isinstance(v, list | tuple) else v for v in args), kwargs
    place = _SHAPE_PLACE[name]
    return (*args[:place], shape, *args[place + 1 :]), kwargs


def recorded(get_inputs: Callable[[], Sequence[Any]]) -> Example | None:
    """Run it without data; None where it does not run so."""
    recorder = _Recorder()
    try:
        with torch.device("meta"), recorder:
            inputs = list(get_inputs())
    except Exception:  # it looks at its data
        return None
    shapes: dict[int, Shape] = {}
    differentiated: set[int] = set()
    for position, value in enumerate(inputs):
        if isinstance(value, torch.Tensor):
            shapes[position] = tuple(value.shape)
            differentiated |= {position} if value.requires_grad else set()
            for number in recorder.origins.get(id(value), ()):
                recorder.calls[number].inputs.append(position)
    return Example(shapes, recorder.calls, differentiated)


def seed(number: int) -> None:
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


class InputMaker:
    """Makes the inputs of a case; `note` says where they are not the module's own."""

    def __init__(self, get_inputs: Callable[[], Sequence[Any]]) -> None:
        self.get_inputs = get_inputs
        self.example = recorded(get_inputs)
        self._sample: list[Any] | None = None

    @property
    def differentiated(self) -> set[int]:
        """Inputs whose gradients the module may ask for."""
        return self.example.differentiated if self.example is not None else set()

    def make(
        self, shapes: Mapping[int, Shape], numbers: Mapping[int, int], number: int
    ) -> tuple[list[Any], str | None]:
        """Inputs with these shapes by position; `numbers` are extents that change."""
        seed(number)
        return self.draw(shapes, numbers)

    def draw(
        self, shapes: Mapping[int, Shape], numbers: Mapping[int, int]
    ) -> tuple[list[Any], str | None]:
        """The same with whatever random numbers come next."""
        if self.example is None or self.example.shapes == dict(shapes):
            inputs = list(self.get_inputs())
        else:
            try:
                with _Substitute(self.example, shapes, numbers):
                    inputs = list(self.get_inputs())
            except Exception:  # what it computes does not fit other shapes
                inputs = []
        if _fits(inputs, shapes):
            return inputs, None
        return self._invented(shapes), "inputs invented: get_inputs cannot make these shapes"

    def _invented(self, shapes: Mapping[int, Shape]) -> list[Any]:
        if self._sample is None:
            count = (
                sum(int(np.prod(s)) for s in self.example.shapes.values()) if self.example else 0
            )
            small = count <= _MOST_EXAMPLE
            with torch.device("cpu" if small else "meta"):
                self._sample = list(self.get_inputs())
        least = min((extent for shape in shapes.values() for extent in shape), default=1)
        return [
            _alike(value, shapes[position], least) if position in shapes else value
            for position, value in enumerate(self._sample)
        ]


def _fits(inputs: Sequence[Any], shapes: Mapping[int, Shape]) -> bool:
    return bool(inputs) and all(
        position < len(inputs)
        and isinstance(inputs[position], torch.Tensor)
        and tuple(inputs[position].shape) == shape
        and inputs[position].device.type == "cpu"
        for position, shape in shapes.items()
    )


def _alike(value: Any, shape: Shape, least: int) -> Any:
    if value.dtype == torch.bool:
        return torch.rand(shape) < 0.5
    if value.is_complex():
        return torch.randn(shape, dtype=value.dtype)
    if not value.dtype.is_floating_point:
        return torch.randint(0, max(1, least), shape, dtype=value.dtype)
    mean, spread = 0.0, 1.0
    if value.device.type == "cpu" and value.numel() > 1:
        mean, spread = float(value.double().mean()), float(value.double().std())
    return (torch.randn(shape) * spread + mean).to(value.dtype)


def signed(inputs: Sequence[Any]) -> list[Any]:
    """Normal values around zero in the place of all floating ones."""
    return [
        (torch.randn(value.shape) * 2).to(value.dtype) if _floating(value) else value
        for value in inputs
    ]


def large(inputs: Sequence[Any]) -> list[Any]:
    """Zeros, tiny and large numbers in the place of some."""
    return [_sprinkled(v, _EDGES, v.numel() // 8 + 1) if _floating(v) else v for v in inputs]


def special(inputs: Sequence[Any]) -> list[Any]:
    """Infinities and NaN in the place of a few."""
    return [
        _sprinkled(v, _SPECIAL, min(_MOST_SPECIAL, v.numel() // 16 + 1)) if _floating(v) else v
        for v in inputs
    ]


def _floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point and value.numel() > 0


def _sprinkled(value: Any, numbers: Sequence[float], count: int) -> Any:
    flat = value.clone(memory_format=torch.contiguous_format).view(-1)
    places = torch.randint(0, flat.numel(), (count,))
    picked = torch.randint(0, len(numbers), (count,))
    most = torch.finfo(value.dtype).max / 4
    within = [number if not most < abs(number) < math.inf else most / 4 for number in numbers]
    flat[places] = torch.tensor(within, dtype=torch.float64)[picked].to(value.dtype)
    return flat.view(value.shape)


def indices_within(inputs: Sequence[Any], limit: int) -> list[Any]:
    """Integers brought below `limit`."""
    return [
        value % limit
        if isinstance(value, torch.Tensor)
        and value.dtype != torch.bool
        and not value.dtype.is_floating_point
        else value
        for value in inputs
    ]
