# SPDX-License-Identifier: Apache-2.0
"""Windows along the rows of a tile, as few whole-tile operations as there can be."""

from __future__ import annotations

from dataclasses import dataclass, field

from npuforge.spec.size import Size


@dataclass(frozen=True)
class Axis:
    """One axis of a sliding window."""

    extent: Size
    results: Size
    kernel: int
    stride: int
    padding: int
    dilation: int
    ceil: bool

    @property
    def reach(self) -> int:
        """Elements from the first to the last of a window."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def clipped(self) -> bool:
        """May a window leave the tensor?"""
        return self.padding > 0 or self.ceil

    @property
    def trivial(self) -> bool:
        return self.kernel == self.stride == 1 and self.padding == 0

    @property
    def overhang(self) -> int:
        """How far the last window may reach beyond the end."""
        return self.padding + (self.stride - 1 if self.ceil else 0)


@dataclass(frozen=True)
class Folding:
    """Windows over the rows of `source`: `count` of them, from row `at` on, as text.

    `lines` compute them with the buffers `spare`; `result` is the view that holds them, {0} its
    columns. Windows are folded one element after another, or (dense) by doubling: fewer
    operations, on the rows between the strides too.
    """

    lines: list[str]
    result: str
    spare: list[str] = field(default_factory=list)


def doubling_steps(op: str, kernel: int) -> int | None:
    """Operations that fold every window by doubling; sums only reach powers of two."""
    power = kernel & (kernel - 1) == 0
    return (kernel - 1).bit_length() if kernel > 2 and (power or op == "maximum") else None


def fold(
    op: str, source: str, names: tuple[str, str], axis: Axis, at: str, count: str, *, dense: bool
) -> Folding:
    """The windows of `axis` over rows of `source`."""
    step = axis.stride
    if axis.kernel == 1:
        return Folding([], _stepped(source, at, count, step))
    if not dense:
        return _sparse(op, source, names[0], axis, at, count)
    lines: list[str] = []
    held, place, folded, used = source, at, 1, 0
    while folded < axis.kernel:
        more = min(folded, axis.kernel - folded)
        target = names[used % 2]
        left = (axis.kernel - folded - more) * axis.dilation
        rows = _plus(f"({count} - 1) * {step}" if step > 1 else count, left + (step > 1))
        views = [
            f"{target}[:{rows}, :]",
            _cut(held, place, rows),
            _cut(held, _plus(place, more * axis.dilation), rows),
        ]
        lines.append(f"tl.{op}({', '.join(views)})")
        held, place, folded, used = target, "0", folded + more, used + 1
    return Folding(lines, _stepped(held, "0", count, step), list(names[: min(used, 2)]))


def _sparse(op: str, source: str, target: str, axis: Axis, at: str, count: str) -> Folding:
    lines = []
    for tap in range(1, axis.kernel):
        first = (
            _stepped(source, at, count, axis.stride) if tap == 1 else f"{target}[:{count}, {{0}}]"
        )
        second = _stepped(source, _plus(at, tap * axis.dilation), count, axis.stride)
        result = f"{target}[:{count}, :]"
        lines.append(f"tl.{op}({result}, {first.format(':')}, {second.format(':')})")
    return Folding(lines, f"{target}[:{count}, {{0}}]", [target])


def _plus(text: str, number: int) -> str:
    return text if number == 0 else str(number) if text == "0" else f"{text} + {number}"


def _cut(buffer: str, at: str, rows: str) -> str:
    return f"{buffer}[:{rows}, :]" if at == "0" else f"{buffer}[{at} : {at} + ({rows}), :]"


def _stepped(buffer: str, at: str, count: str, step: int) -> str:
    if step > 1:
        stop = f"{count} * {step}" if at == "0" else f"{at} + {count} * {step}"
        return f"{buffer}[{at} : {stop} : {step}, {{0}}]"
    return f"{buffer}[:{count}, {{0}}]" if at == "0" else f"{buffer}[{at} : {at} + {count}, {{0}}]"
