# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: lists in lists of tensors and other things, as flat tensors and a form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Slot:
    """Where a tensor stands."""

    number: int


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors, in order."""
    found: list[torch.Tensor] = []
    _walk(value, found.append)
    return found


def slots(shape: Any) -> int:
    """How many tensors a form takes."""
    if isinstance(shape, Slot):
        return 1
    return sum(slots(item) for item in _items(shape))


def form(value: Any) -> Any:
    """The same nesting with a `Slot` in the place of each tensor."""
    count = iter(range(1 << 30))
    return _mapped(value, lambda _: Slot(next(count)))


def filled(shape: Any, given: Iterator[Any]) -> Any:
    """The nesting of a form with tensors in its slots."""
    if isinstance(shape, Slot):
        return next(given)
    return _rebuilt(shape, [filled(item, given) for item in _items(shape)])


def like(value: Any, given: Iterator[Any]) -> Any:
    """The nesting of `value` with other tensors."""
    return filled(form(value), given)


def copied(value: Any) -> Any:
    """The same with tensors of their own: references may write into their arguments."""
    return _mapped(value, lambda tensor: tensor.clone())


def signature(value: Any, *, ranks: bool) -> Any:
    """What two values have in common that differ in contents only; with `ranks` in extents too."""

    def named(tensor: torch.Tensor) -> str:
        extents = tensor.dim() if ranks else tuple(tensor.shape)
        return f"tensor {tensor.dtype} {extents}"

    return repr(_mapped(value, named))


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _rebuilt(value: Any, items: list[Any]) -> Any:
    if isinstance(value, dict):
        return dict(zip(value, items, strict=True))
    if isinstance(value, list):
        return items
    if isinstance(value, tuple):
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def _mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return _rebuilt(value, [_mapped(item, change) for item in _items(value)])


def _walk(value: Any, seen: Callable[[torch.Tensor], None]) -> None:
    if isinstance(value, torch.Tensor):
        seen(value)
    for item in [] if isinstance(value, torch.Tensor) else _items(value):
        _walk(item, seen)
