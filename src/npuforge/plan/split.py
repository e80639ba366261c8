# SPDX-License-Identifier: Apache-2.0
"""More tensors than the queues of a core hold at once: roots in groups, and values in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from npuforge.plan.nest import Nest, needed
from npuforge.plan.operands import Root
from npuforge.plan.tilecode import QUEUED
from npuforge.plan.values import Map, Reduce, Tensor, Value, tensor_of

# As many as are there twice, so that transfers overlap with work.
_COMFORTABLE = QUEUED // 2


def too_many(nest: Nest) -> bool:
    """Whether one kernel cannot load or store all that the nest does."""
    return len(nest.stores) > QUEUED or sum(item.kind == "load" for item in nest.items) > QUEUED


def in_groups(roots: Sequence[Root], nest: Nest) -> list[list[Root]]:
    """Roots in order, as many together as a kernel comfortably moves; one alone may be too many."""
    found: list[list[Root]] = []
    reads: set[int] = set()
    for root in roots:
        own = _loads(nest, [root[0]])
        room = found and len(found[-1]) < _COMFORTABLE and len(reads | own) <= _COMFORTABLE
        if room:
            found[-1].append(root)
            reads |= own
        else:
            found.append([root])
            reads = own
    return found


def largest_piece(value: Value, nest: Nest) -> Value | None:
    """A part of the value that reads as much as one kernel can: it is computed first."""
    best: tuple[int, Value | None] = (1, None)
    for part in _parts(value):
        count = len(_loads(nest, [part]))
        if best[0] < count <= QUEUED:
            best = (count, part)
    return best[1]


def stored_parts(values: Sequence[Value]) -> dict[int, Tensor]:
    """Return the tensors of parts that some operation has stored, by the parts' ids, innermost
    first: a part is computed once for all that read it."""
    found: dict[int, Tensor] = {}
    for value in values:
        for part in _parts(value):
            tensor = tensor_of(part)
            if tensor is not None and all(part is not other for other in values):
                found.setdefault(id(part), tensor)
    return dict(reversed(found.items()))


def _loads(nest: Nest, values: Iterable[Value]) -> set[int]:
    ids = {key for value in values for key in nest.of_value.get(id(value), ())}
    items = needed(item for item in nest.items if id(item) in ids)
    return {id(item) for item in items if item.kind == "load"}


def _parts(value: Value) -> Iterator[Value]:
    """The value and what it is made of, outermost first, each once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop(0)
        if id(part) in seen:
            continue
        seen.add(id(part))
        match part:
            case Map():
                yield part
                waiting += part.args
            case Reduce():
                waiting.append(part.arg)
