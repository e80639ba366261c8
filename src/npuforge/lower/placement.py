# SPDX-License-Identifier: Apache-2.0
"""Bank-conflict-free placement: where buffers start in the unified buffer.

Two operands of one instruction that start at the same place modulo 512 bytes hit the same bank
group in every repeat and halve its speed; 256 bytes apart they do not. Buffers are laid out in the
order of allocation, so the size of one decides where the next starts: sizes are rounded so that
operands of one instruction get different *halves*. Only the rounding differs, no space is moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from npuforge.tile.expr import Const, Expr, add, align_up
from npuforge.tile.ir import Kernel, Op, View, walk

_HALF = 256


@dataclass(frozen=True, slots=True)
class Slot:
    """A buffer in the order of allocation: bytes of one copy, rounded, and the number of copies."""

    name: str
    size: Expr
    copies: int


def place(
    kernel: Kernel, sizes: Sequence[tuple[str, Expr, int]], holder: Callable[[str], str]
) -> list[Slot]:
    """Round the sizes (name, bytes of a copy, copies) so that operands avoid each other's banks.

    `holder` names the buffer in whose memory another one lies.
    """
    halves = _halves(kernel, [name for name, _, _ in sizes], holder)
    slots: list[Slot] = []
    start = 0
    for index, (name, size, copies) in enumerate(sizes):
        following = sizes[index + 1][0] if index + 1 < len(sizes) else None
        wanted = start if following is None else halves.get(following, start)
        shift = _HALF if wanted != start else 0
        # All copies together move the next start by the shift, modulo 512.
        if shift % (32 * copies):
            shift, wanted = 0, start
        rounded = add(align_up(size, 2 * _HALF), Const(shift // copies))
        slots.append(Slot(name, rounded, copies))
        start = wanted
    return slots


def _halves(kernel: Kernel, order: list[str], holder: Callable[[str], str]) -> dict[str, int]:
    """0 or 1 for each buffer, so that operands read by one instruction differ where possible."""
    neighbours: dict[str, set[str]] = {name: set() for name in order}
    for statement in walk(kernel.body):
        if isinstance(statement, Op):
            read = {
                holder(operand.buffer.name)
                for operand in statement.ins
                if isinstance(operand, View) and not operand.buffer.is_mask
            }
            for name in read & neighbours.keys():
                neighbours[name] |= (read - {name}) & neighbours.keys()
    halves: dict[str, int] = {}
    for name in order:
        taken = [halves[other] for other in neighbours[name] if other in halves]
        halves[name] = 1 if taken.count(0) > taken.count(1) else 0
    return halves
