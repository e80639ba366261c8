# SPDX-License-Identifier: Apache-2.0
"""What kernels that follow indices share: element sizes, grids, indices as 32-bit numbers."""

from __future__ import annotations

from collections.abc import Sequence

from npuforge.plan.plan import PlanError
from npuforge.plan.values import Tensor
from npuforge.spec.size import Size

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2}
INDEX_TYPES = ("int64", "int32")


def element_bytes(tensor: Tensor) -> int:
    return _BYTES.get(tensor.dtype, 1)


def index_buffers(index: Tensor, extent: str) -> list[str]:
    """Buffers for `extent` indices as they lie in memory, and as 32-bit numbers `places`."""
    if index.dtype not in INDEX_TYPES:
        raise PlanError(f"indices of type {index.dtype} are not planned")
    return [
        f"given = tl.alloc_ub({extent}, dtype=tl.{index.dtype})",
        f"places = tl.alloc_ub({extent}, dtype=tl.int32)",
        f"signs = tl.alloc_ub({extent}, dtype=tl.int32)",
    ]


def index_lines(index: Tensor, count: str, wraps: str | None) -> list[str]:
    """`places` from `given`; with `wraps` a negative index counts from that end."""
    convert = "cast" if index.dtype == "int64" else "copy"
    lines = [f"tl.{convert}(places[:{count}], given[:{count}])"]
    if wraps is not None:
        lines += [
            "# The sign bit spread over the number is -1 where it is negative.",
            f"tl.shift_right(signs[:{count}], places[:{count}], 31)",
            f"tl.mul(signs[:{count}], signs[:{count}], {wraps})",
            f"tl.sub(places[:{count}], places[:{count}], signs[:{count}])",
        ]
    return lines


def text(head: str, lines: Sequence[str | tuple[int, Sequence[str]]]) -> str:
    """A function: its head and lines; a pair is a block of lines with more indentation."""
    found = [head]
    for line in lines:
        if isinstance(line, tuple):
            found += [" " * line[0] + inner for inner in line[1]]
        else:
            found.append(line)
    return "\n".join(line.rstrip() for line in found) + "\n"


Pairs = Sequence[tuple[Size, Size]]


def merged(pairs: Pairs) -> list[tuple[Size, Size]]:
    """Axes of two tensors put together where both have the same extent after the first."""
    found: list[tuple[Size, Size]] = []
    for own, other in pairs:
        if found and own == other:
            found[-1] = (found[-1][0] * own, found[-1][1] * other)
        else:
            found.append((own, other))
    return found


def row_names(stem: str, pairs: Pairs) -> dict[str, Size]:
    """Names of kernel parameters for the extents after the first, and what they are."""
    found: dict[str, Size] = {}
    for axis, (own, other) in enumerate(pairs[1:], 1):
        found |= {f"{stem}_from{axis}": own, f"{stem}_to{axis}": other}
    return found


def row_number(stem: str, pairs: Pairs, row: str) -> str:
    """The row of the other tensor with the same coordinates as `row` of this one."""
    text_ = row
    for axis in range(1, len(pairs)):
        behind = " * ".join(f"{stem}_from{later}" for later in range(axis + 1, len(pairs)))
        place = f"{row} // ({behind})" if behind else row
        before = " * ".join(f"{stem}_from{later}" for later in range(axis, len(pairs)))
        outer = f"{row} // ({before})" if axis == 1 else f"({text_})"
        text_ = f"{outer} * {stem}_to{axis} + {place} % {stem}_from{axis}"
    return text_
