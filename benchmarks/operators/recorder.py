# SPDX-License-Identifier: Apache-2.0
"""Record what a model calls: every module and every function of its package, with its arguments."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch
from benchmarks.operators.facts import NoFactError, fact, path_of
from benchmarks.operators.row import Call, Input, Operator, title
from benchmarks.operators.structure import Dispatched, Frame
from torch.utils._pytree import tree_leaves

_MOST_INPUTS = 12
_FLOATS = ("float32", "float16", "bfloat16")
_INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")


# The arguments of modules, of each recorder that keeps them at this moment.
_MAKERS: list[dict[int, tuple[torch.nn.Module, Any, Any]]] = []


def _new(made: type[torch.nn.Module], *args: Any, **kwargs: Any) -> torch.nn.Module:
    """Make a module and keep its arguments, where they are wanted."""
    module: torch.nn.Module = object.__new__(made)
    for kept in _MAKERS:
        kept[id(module)] = (module, args, kwargs)
    return module


# For good: a class whose `__new__` is deleted again refuses arguments.
torch.nn.Module.__new__ = _new  # type: ignore[assignment, method-assign]


class Drawn:
    """What was called: an operator to be named, and its structure."""

    def __init__(self, operator: Operator, frame: Frame) -> None:
        self.operator = operator
        self.frame = frame


class Inputs:
    """The tensors of one call, numbered as they are met."""

    def __init__(self, values: str = "normal") -> None:
        self.tensors: list[torch.Tensor] = []
        self.names: list[str] = []
        self.values = values
        self.path = "x"

    def number(self, tensor: torch.Tensor) -> int:
        """Return the tensor's index."""
        for index, known in enumerate(self.tensors):
            if known is tensor:
                return index
        if isinstance(tensor, torch.nn.Parameter):
            raise NoFactError("a parameter among the arguments")
        self.tensors.append(tensor)
        base = self.path if self.path.isidentifier() else "x"
        name = base if base not in self.names else f"{base}_{len(self.names)}"
        self.names.append(name)
        return len(self.tensors) - 1

    def listed(self) -> list[Input]:
        """Return the inputs as facts."""
        made = []
        for name, tensor in zip(self.names, self.tensors, strict=True):
            dtype = str(tensor.dtype).removeprefix("torch.")
            if dtype in _FLOATS:
                values = self.values
            elif dtype in _INTEGERS:
                bits = dtype == "bool" or "mask" in name
                values = "bits" if bits else "below 0"  # the bound is sought later
            else:
                raise NoFactError(dtype)
            made.append(Input(name, list(tensor.shape), dtype, values))
        if not 0 < len(made) <= _MOST_INPUTS:
            raise NoFactError("no tensors, or too many")
        return made


def call_facts(names: list[str], args: Any, kwargs: Any, inputs: Inputs) -> Call:
    """Return the facts of a call; `names` are those of its positional parameters."""
    listed = []
    for index, item in enumerate(args):
        inputs.path = names[index] if index < len(names) else f"x{index}"
        listed.append(fact(item, inputs.number))
    named = {}
    for key, item in kwargs.items():
        inputs.path = key
        named[key] = fact(item, inputs.number)
    return Call(listed, named)


def positional(function: Callable[..., Any]) -> list[str]:
    """Return the names of positional parameters."""
    code = getattr(function, "__code__", None)
    return list(code.co_varnames[: code.co_argcount]) if code is not None else []


class Recorder:
    """Operators that are called while it is open."""

    def __init__(self, package: str, version: str) -> None:
        self.package = package
        self.version = version
        self.source = ""
        self.dtype = "float32"
        self.log = Dispatched()
        self.drawn: dict[str, Drawn] = {}
        self._made: dict[int, tuple[torch.nn.Module, Any, Any]] = {}

    @contextmanager
    def making(self) -> Iterator[None]:
        """Keep the arguments that modules are made with."""

        _MAKERS.append(self._made)
        try:
            yield
        finally:
            _MAKERS.pop()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Record calls of modules, and of functions of the package's modules."""
        usual = torch.nn.Module.__call__
        recorder = self

        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            names = positional(type(module).forward)[1:]
            return recorder._called(functools.partial(usual, module), module, names, args, kwargs)

        torch.nn.Module.__call__ = call  # type: ignore[assignment, method-assign]
        replaced = self._replace_functions()
        try:
            with self.log:
                yield
        finally:
            torch.nn.Module.__call__ = usual  # type: ignore[method-assign]
            for owner, name, function in replaced:
                owner[name] = function
            self._made.clear()

    def _replace_functions(self) -> list[tuple[dict[str, Any], str, FunctionType]]:
        replaced = []
        for name in sorted(sys.modules):
            if not name.startswith(f"{self.package}.") or sys.modules[name] is None:
                continue
            owner = vars(sys.modules[name])
            for key, function in list(owner.items()):
                ours = getattr(function, "__module__", None) or ""
                if type(function) is not FunctionType or key.startswith("__"):
                    continue
                if ours.startswith(f"{self.package}."):
                    owner[key] = self._recorded(function)
                    replaced.append((owner, key, function))
        return replaced

    def _recorded(self, function: FunctionType) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not any(isinstance(one, torch.Tensor) for one in tree_leaves((args, kwargs))):
                return function(*args, **kwargs)
            return self._called(function, function, positional(function), args, kwargs)

        return call

    def _called(
        self, function: Callable[..., Any], what: Any, names: list[str], args: Any, kwargs: Any
    ) -> Any:
        operator: Operator | None = None
        try:
            operator = self._operator(what, names, args, kwargs)
        except (NoFactError, AttributeError, KeyError):
            pass
        frame = Frame()
        self.log.frames.append(frame)
        try:
            result = function(*args, **kwargs)
        finally:
            self.log.frames.pop()
        if operator is not None and frame.refusal is None and plain_result(result):
            self.drawn.setdefault(operator.name, Drawn(operator, frame))
        return result

    def _operator(self, what: Any, names: list[str], args: Any, kwargs: Any) -> Operator:
        init = None
        if isinstance(what, torch.nn.Module):
            _, made_with, named_with = self._made[id(what)]
            fields = {key: fact(item) for key, item in named_with.items() if key != "device"}
            init = Call([fact(item) for item in made_with], fields)
        target = path_of(type(what) if init is not None else what)
        inputs = Inputs()
        call = call_facts(names, args, kwargs, inputs)
        listed = inputs.listed()
        package, version = self.package, self.version
        if target.startswith("torch."):
            package, version = "torch", torch.__version__.partition("+")[0]
        return Operator(
            name=title(target, listed, self.dtype),
            package=package,
            version=version,
            kind="module" if init is not None else "function",
            target=target,
            init=init,
            call=call,
            inputs=listed,
            dtype=self.dtype,
            drawn_from=self.source,
        )


def plain_result(result: Any) -> bool:
    """Tell whether a result is a tensor, or a list or tuple of tensors."""
    if type(result) in (list, tuple):
        return bool(result) and all(isinstance(item, torch.Tensor) for item in result)
    return isinstance(result, torch.Tensor)
