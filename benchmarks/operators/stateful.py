# SPDX-License-Identifier: Apache-2.0
"""Draw what keeps a state: steps of optimizers and of diffusion schedulers."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import torch
from benchmarks.operators.examination import examine
from benchmarks.operators.facts import NoFactError, fact, path_of
from benchmarks.operators.recorder import Drawn, Inputs
from benchmarks.operators.row import Call, Input, Operator, title

_WARM = 3  # steps before the one that is drawn


def draw_optimizers(settings: dict[str, Any], version: str) -> Iterator[Drawn]:
    """Yield a later step of each optimizer that takes a weight and its gradient."""
    for made in _classes(settings, torch.optim.Optimizer):
        for shape in settings["shapes"]:
            try:
                operator = _optimizer(made, shape, settings, version)
            except Exception as error:  # it needs more than a weight and a gradient
                print(f"{made.__name__}: {error}"[:120], file=sys.stderr)
                continue
            drawn = examine(operator)
            if drawn is not None:
                yield drawn


def draw_schedulers(settings: dict[str, Any], version: str) -> Iterator[Drawn]:
    """Yield a step of each scheduler."""
    for made in _classes(settings, object):
        if not hasattr(made, "set_timesteps"):
            continue
        for shape in settings["shapes"]:
            listed = [Input("noise", shape, "float32", "normal"),
                      Input("sample", shape, "float32", "normal")]  # fmt: skip
            operator = Operator(
                name=title(path_of(made), listed, "float32"),
                package=settings["package"],
                version=version,
                kind="scheduler",
                target=path_of(made),
                init=Call(),
                call=Call([{"tensor": 0}, {"tensor": 1}]),
                inputs=listed,
                dtype="float32",
                drawn_from=settings["path"],
            )
            drawn = examine(operator)
            if drawn is not None:
                yield drawn


def _classes(settings: dict[str, Any], base: type) -> Iterator[type]:
    module = importlib.import_module(settings["path"])
    for name in sorted(dir(module)):
        member = getattr(module, name)
        if not inspect.isclass(member) or not issubclass(member, base) or name.startswith("_"):
            continue
        if member is not base and member.__module__.startswith(settings["path"]):
            yield member


def _optimizer(made: type, shape: list[int], settings: dict[str, Any], version: str) -> Operator:
    weight = torch.randn(64, 64)
    kwargs = settings.get("fill", {})
    optimizer = made([weight], **kwargs)
    for _ in range(_WARM):
        weight.grad = torch.randn(64, 64)
        optimizer.step()
    inputs, state = [Input("weight", shape, "float32", "normal"),
                     Input("gradient", shape, "float32", "normal")], {}  # fmt: skip
    for key, value in optimizer.state[weight].items():
        if isinstance(value, torch.Tensor) and value.dim():
            if value.shape != weight.shape:
                raise NoFactError(f"a state of {list(value.shape)}")
            values = "unit" if bool((value >= 0).all()) else "normal"
            state[key] = {"tensor": len(inputs)}
            inputs.append(Input(key, shape, "float32", values))
        elif isinstance(value, torch.Tensor):
            state[key] = {"number": value.item()}
        else:
            state[key] = fact(value, Inputs().number)
    target = path_of(made)
    return Operator(
        name=title(target, inputs, "float32"),
        package=settings["package"],
        version=version,
        kind="optimizer",
        target=target,
        init=Call([], kwargs),
        call=Call([{"dict": state}]),
        inputs=inputs,
        dtype="float32",
        drawn_from=settings["path"],
    )
