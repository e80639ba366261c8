# SPDX-License-Identifier: Apache-2.0
"""Draw from public namespaces: every function and class that takes the namespace's usual inputs."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Collection, Iterator
from typing import Any

import torch
from benchmarks.operators.examination import examine
from benchmarks.operators.facts import NoFactError, fact, path_of
from benchmarks.operators.recorder import Drawn
from benchmarks.operators.row import Call, Input, Kind, Operator, title

_REQUIRED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def draw_namespace(settings: dict[str, Any], version: str) -> Iterator[Drawn]:
    """Yield the operators of one namespace, each with the first list of inputs that it takes."""
    path = settings["path"]
    module = importlib.import_module(path)
    for name in sorted(settings.get("only", dir(module))):
        member = getattr(module, name, None)
        kind = _kind(member)
        wanted = settings.get("kinds", ["function", "module"])
        if name.startswith("_") or kind not in wanted or name in settings.get("without", ()):
            continue
        home = getattr(member, "__module__", "")
        if not home.startswith(path.partition(".")[0]):
            continue
        print(f"\r{path} {name:50}", end="", file=sys.stderr)
        for inputs in settings["inputs"]:
            operator = _operator(member, kind, inputs, settings, version)
            drawn = examine(operator) if operator is not None else None
            if drawn is not None:
                yield drawn
                break
    print(file=sys.stderr)


def _kind(member: Any) -> Kind | None:
    if inspect.isfunction(member):
        return "function"
    if not inspect.isclass(member) or inspect.isabstract(member):
        return None
    if issubclass(member, torch.nn.Module):
        return "module"
    if issubclass(member, torch.optim.Optimizer):
        return "optimizer"
    if hasattr(member, "set_timesteps"):
        return "scheduler"
    return "callable" if "__call__" in vars(member) else None


def _operator(
    member: Any, kind: Kind, inputs: list[dict[str, Any]], settings: dict[str, Any], version: str
) -> Operator | None:
    listed = [
        Input(one["name"], one["shape"], one["dtype"], one.get("values", "normal"))
        for one in inputs
    ]
    fill = {key: fact(value) if type(value) is not dict else value
            for key, value in settings.get("fill", {}).items()}  # fmt: skip
    tensors = list(range(len(listed)))
    init = None
    try:
        target = path_of(member)
        if kind in ("module", "callable"):
            init = _filled(member.__init__, fill, None)
            called = member.forward if kind == "module" else member.__call__
            call = _filled(called, fill, tensors, settings.get("takes", []))
        else:
            call = _filled(member, fill, tensors, settings.get("takes", []))
    except (NoFactError, TypeError, ValueError):
        return None
    dtype = next((one.dtype for one in listed if "float" in one.dtype), "float32")
    return Operator(
        name=title(target, listed, dtype),
        package=settings["package"],
        version=version,
        kind=kind,
        target=target,
        init=init,
        call=call,
        inputs=listed,
        dtype="float32",
        drawn_from=settings["path"],
    )


def _filled(
    function: Any, fill: dict[str, Any], tensors: list[int] | None, takes: Collection[str] = ()
) -> Call:
    """Return a call with each required parameter, and with those that it `takes`.

    All `tensors` are used, in their order; None stands for a call without any.
    """
    parameters = list(inspect.signature(function).parameters.items())
    parameters = parameters[1:] if parameters[:1] and parameters[0][0] == "self" else parameters
    waiting = list(tensors or [])
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL and waiting and not args:
            args.extend({"tensor": index} for index in waiting)
            waiting = []
        if parameter.kind not in (*_REQUIRED, inspect.Parameter.KEYWORD_ONLY):
            continue
        required = parameter.default is inspect.Parameter.empty or name in takes
        if name in fill and (required or tensors is None):
            kwargs[name] = fill[name]
        elif required and waiting and not kwargs:
            args.append({"tensor": waiting.pop(0)})
        elif required and waiting:
            kwargs[name] = {"tensor": waiting.pop(0)}
        elif required:
            raise NoFactError(name)
    if waiting:
        raise NoFactError("inputs that nothing takes")
    return Call(args, kwargs)
