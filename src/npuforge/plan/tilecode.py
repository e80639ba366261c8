# SPDX-License-Identifier: Apache-2.0
"""Straight-line tile code: registers with a class of shape each, and buffers shared between them.

A register lives in one tile of the loop: `full` has rows and columns, `row` is a vector along the
columns, `col` one number for each row, `one` a single number; `turned` is a tile whose columns lie
as rows, `thin` rows of a single element. Instructions are written for
registers first; `allocate` then gives registers that are never alive together the same buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from npuforge.plan.plan import PlanError

Class = Literal["full", "row", "col", "one", "turned", "thin"]
Role = Literal["in", "out", "work"]

WIDTH = {
    "float32": 4,
    "int32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "bool": 1,
    "mask": 0.125,
}
WIDTH |= {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "uint32": 4, "uint64": 8}


@dataclass(eq=False)
class Reg:
    """A value in unified buffer. `kept` registers outlive a round of the loop; `label` is the
    graph's name for the value."""

    cls: Class
    dtype: str
    role: Role = "work"
    kept: bool = False
    name: str = ""
    hint: str = ""
    label: str = ""


@dataclass(eq=False)
class Instr:
    """A line of a block: `text` with `{d}` for the result and `{0}`, `{1}`... for operands.

    An operand is a register with the class it is read as, or the text of a scalar. `over` says
    whether the result may take the place of an operand.
    """

    text: str
    dst: tuple[Reg, ...] = ()
    srcs: tuple[tuple[Reg, Class] | str, ...] = ()
    over: bool = True

    @property
    def registers(self) -> list[Reg]:
        return [src[0] for src in self.srcs if not isinstance(src, str)]


@dataclass(frozen=True)
class Frame:
    """The tile: texts of its extents. `rows` is empty for tiles of one dimension.

    `*_view` are what is valid in this round (`:n`, or `:` for all), `rows` and `cols` the extents
    of the buffers.
    """

    rows: str
    cols: str
    row_view: str
    col_view: str

    def shape(self, cls: Class) -> str:
        match cls:
            case "full":
                return f"({self.rows}, {self.cols})" if self.rows else self.cols
            case "row":
                return self.cols
            case "col":
                return self.rows
            case "turned":
                return f"({self.cols}, {self.rows})"
            case "thin":
                return f"({self.rows or self.cols}, 1)"
            case "one":
                return "8"

    def view(self, reg: Reg, used_as: Class) -> str:
        """The register's valid part, repeated where it is read as a larger class."""
        match reg.cls:
            case "full" if self.rows:
                return f"{reg.name}[{self.row_view}, {self.col_view}]"
            case "turned":
                return f"{reg.name}[{self.col_view}, {self.row_view}]"
            case "thin":
                return f"{reg.name}[{self.row_view or self.col_view}, :]"
            case "full" | "row":
                return f"{reg.name}[{self.col_view}]"
            case "col" if used_as == "full":
                return f"{reg.name}[{self.row_view}, None]"
            case "col":
                return f"{reg.name}[{self.row_view}]"
            case "one":
                return f"{reg.name}[:1]"
        raise AssertionError(reg)


@dataclass
class Block:
    """Instructions of one place in the kernel: before the loop, in it, after it."""

    copyin: list[Instr] = field(default_factory=list)
    compute: list[Instr] = field(default_factory=list)
    copyout: list[Instr] = field(default_factory=list)

    def lines(self, frame: Frame) -> list[str]:
        found: list[str] = []
        for name in ("copyin", "compute", "copyout"):
            body: list[Instr] = getattr(self, name)
            if body:
                found.append(f"with tl.{name}():")
                found += [f"    {render(instr, frame)}{_remark(instr)}" for instr in body]
        return found


def render(instr: Instr, frame: Frame) -> str:
    largest = instr.dst[0].cls if instr.dst else "one"
    operands = [src if isinstance(src, str) else frame.view(src[0], src[1]) for src in instr.srcs]
    results = {"d": frame.view(instr.dst[0], largest)} if instr.dst else {}
    for index, reg in enumerate(instr.dst[1:], 1):
        results[f"d{index}"] = frame.view(reg, reg.cls)
    return instr.text.format(*operands, **results)


def _remark(instr: Instr) -> str:
    """Which value of the graph is computed."""
    made = instr.dst[0] if instr.dst else None
    return f"  # {made.label}" if made is not None and made.label and made.role != "in" else ""


@dataclass
class Buffer:
    """A place in unified buffer and the rounds of instructions it is taken for."""

    name: str
    cls: Class
    dtype: str
    role: Role
    kept: bool
    over: bool  # whether its own value may be written over an operand that ends there
    blocks: list[int]
    taken: list[tuple[int, int]] = field(default_factory=list)

    copies: int = 1

    def declaration(self, frame: Frame) -> str:
        shape = frame.shape(self.cls)
        if self.dtype == "mask":
            return f"{self.name} = tl.alloc_mask({shape})"
        once = ", buffers=1" if self.role != "work" and self.copies == 1 else ""
        return f"{self.name} = tl.alloc_ub({shape}, dtype=tl.{self.dtype}{once})"


_PREFIX = {"in": "in", "out": "out", "work": "t"}


def allocate(blocks: Sequence[Block]) -> list[Buffer]:
    """Give every register of the blocks a buffer; blocks come in the order they run."""
    first: dict[Reg, int] = {}
    last: dict[Reg, int] = {}
    defined_over: dict[Reg, bool] = {}
    instructions: list[Instr] = []
    block_of: list[int] = []
    for number, block in enumerate(blocks):
        instructions += [*block.copyin, *block.compute, *block.copyout]
        block_of += [number] * (len(instructions) - len(block_of))
    for index, instr in enumerate(instructions):
        for reg in instr.registers:
            last[reg] = index
            first.setdefault(reg, index)
        for reg in instr.dst:
            if reg not in first:
                first[reg] = index
                defined_over[reg] = instr.over
            last[reg] = max(last.get(reg, index), index)
    buffers: list[Buffer] = []
    counts: dict[str, int] = {}
    fixed = [reg for reg in first if reg.role != "work" or reg.kept]
    owners: dict[Reg, Buffer] = {}
    for reg in fixed:
        place = block_of[first[reg]]
        shared = _loaded_elsewhere(reg, buffers, place)
        over = defined_over.get(reg, False)
        owners[reg] = shared or _fresh(reg, buffers, counts, over, place)
    for reg, buffer in owners.items():
        begin = first[reg]
        if reg.kept:
            begin = 0
        elif reg.role == "in":  # from the start of its loop
            begin = block_of.index(block_of[first[reg]])
        end = len(instructions) if reg.kept or reg.role == "out" else last[reg]
        buffer.taken.append((begin, end))
        reg.name = buffer.name
    for reg, begin in first.items():
        if reg in owners:
            continue
        span = (begin, last[reg])
        found = next(
            (
                buffer
                for buffer in buffers
                if not buffer.kept
                and (buffer.role == "work" or block_of[begin] in buffer.blocks)
                and (buffer.cls, buffer.dtype) == (reg.cls, reg.dtype)
                and _fits(buffer, span, over=defined_over.get(reg, False))
            ),
            None,
        )
        if found is None:
            found = _fresh(reg, buffers, counts, over=False, block=block_of[begin])
        found.taken.append(span)
        reg.name = found.name
    _double(buffers)
    return buffers


# Tensors that the queues of one direction can hold at once.
QUEUED = 8
_SMALL: dict[Class, int] = {"full": 0, "turned": 0, "row": 1, "col": 1, "thin": 1, "one": 2}


def _double(buffers: list[Buffer]) -> None:
    """Buffers that are moved in a loop are there twice, the large ones first if not all can be."""
    for role in ("in", "out"):
        moved = [buffer for buffer in buffers if buffer.role == role]
        spare = QUEUED - len(moved)
        if spare < 0:
            raise PlanError(f"{len(moved)} tensors at once: the queues of a core hold {QUEUED}")
        for buffer in sorted(moved, key=lambda buffer: _SMALL[buffer.cls]):
            if spare and not buffer.kept:
                buffer.copies = 2
                spare -= 1


def _loaded_elsewhere(reg: Reg, buffers: list[Buffer], block: int) -> Buffer | None:
    """A buffer that another loop loads: loops run one after the other."""
    if reg.role != "in" or reg.kept:
        return None
    for buffer in buffers:
        same = (buffer.cls, buffer.dtype, buffer.role) == (reg.cls, reg.dtype, reg.role)
        if same and not buffer.kept and block not in buffer.blocks:
            buffer.blocks.append(block)
            return buffer
    return None


def _fits(buffer: Buffer, span: tuple[int, int], *, over: bool) -> bool:
    begin, end = span
    for left, right in buffer.taken:
        before = end < left or (end == left and buffer.role == "out" and buffer.over)
        after = begin > right or (begin == right and over)
        if not (before or after):
            return False
    return True


def _fresh(
    reg: Reg, buffers: list[Buffer], counts: dict[str, int], over: bool, block: int
) -> Buffer:
    base = reg.hint or ("mask" if reg.dtype == "mask" else _PREFIX[reg.role])
    counts[base] = counts.get(base, -1) + 1
    name = f"{base}{counts[base]}" if counts[base] or not reg.hint else base
    buffer = Buffer(name, reg.cls, reg.dtype, reg.role, reg.kept, over, [block])
    buffers.append(buffer)
    return buffer


def bytes_of(buffers: Sequence[Buffer], cls: Class) -> float:
    """Bytes that all buffers of a class take for one element."""
    return sum(WIDTH[buffer.dtype] * buffer.copies for buffer in buffers if buffer.cls == cls)
