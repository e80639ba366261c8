# SPDX-License-Identifier: Apache-2.0
"""Items of a nest as instructions on tiles.

Arithmetic is in float32 for every floating type, in int32 for whole numbers, and truth values are
masks. Values that a whole tile shares are computed once for the tile, not for each element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from npuforge.plan.arith import is_float
from npuforge.plan.nest import Access, Axis, Item
from npuforge.plan.plan import PlanError
from npuforge.plan.scope import Scope, product_text, sum_text
from npuforge.plan.tilecode import WIDTH, Block, Class, Instr, Reg
from npuforge.spec.size import Size

Kind = Literal["float32", "int32", "mask"]
Operand = Reg | str  # a register, or the text of a scalar

_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "max": "maximum",
    "min": "minimum",
}
_TILES = {"pow": "pow", "floor_mod": "floor_mod"}
_BITS = ("bit_and", "bit_or")
_LOW = 12  # bits of the lower part of a whole number that floats are to hold
_WHOLE_DIVISION = {"floor_div": "floor", "trunc_div": "trunc"}
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_LOGIC = {"and": "mask_and", "or": "mask_or"}


class SteppedError(PlanError):
    """A tile whose neighbours are apart in memory: what is read so has to be brought together
    first."""

    def __init__(self, access: Access) -> None:
        super().__init__(f"reading {access.tensor.name} in steps is not planned")
        self.tensor = access.tensor.memory


def kind_of(dtype: str) -> Kind:
    if is_float(dtype):
        return "float32"
    return "mask" if dtype == "bool" else "int32"


@dataclass
class ItemCode:
    """Writes items for one tile. `row` and `col` are the axes of the tile.

    `base` has the text of the index at which the tile begins, for every axis of the nest. `block`
    is where instructions go; `kept` marks what is written before the loop and read in it.
    """

    scope: Scope
    row: Axis | None
    col: Axis | None
    base: Mapping[Axis, str]
    block: Block
    kept: bool = False
    before: ItemCode | None = None  # the code that ran before the loop
    done: dict[int, Operand] = field(default_factory=dict)
    written: set[Reg] = field(default_factory=set)
    _scalars: dict[int, str] = field(default_factory=dict)
    _wide: dict[tuple[int, str], Reg] = field(default_factory=dict)
    _count: int = 0

    def cls(self, item: Item) -> Class:
        down, along = self.row in item.axes, self.col in item.axes
        if self.row is None:
            return "full" if along else "one"
        if down and along:
            return "full"
        return "col" if down else "row" if along else "one"

    # Operands

    def operand(self, item: Item, kind: Kind) -> Operand:
        """The item as a register or scalar of a kind."""
        if item.kind == "constant":
            return self.literal(item, kind)
        if self.before is not None and id(item) in self.before.done:
            return self.before.operand(item, kind)
        return self.converted(self.write(item), kind)

    def literal(self, item: Item, kind: Kind) -> str:
        number = item.number
        if isinstance(number, Size):
            text = self.scope.size(number)
            return f"float({text})" if kind == "float32" else text
        assert number is not None
        if kind == "int32" and float(number).is_integer():
            return str(int(number))
        return _float(float(number))

    def scalar(self, operand: Operand) -> str:
        """A single number as a scalar."""
        if isinstance(operand, str):
            return operand
        if self.before is not None and operand in self.before.written:
            return self.before.scalar(operand)
        if id(operand) not in self._scalars:
            name = self._name("s")
            source: tuple[tuple[Reg, Class] | str, ...] = ((operand, "one"),)
            text = f"{name} = tl.extract_scalar({{0}}, 0)"
            self.block.compute.append(Instr(text, (), source))
            self._scalars[id(operand)] = name
        return self._scalars[id(operand)]

    def converted(self, operand: Operand, kind: Kind) -> Operand:
        if isinstance(operand, str) or operand.dtype == kind:
            return operand
        key = (id(operand), kind)
        if key not in self._wide:
            self._wide[key] = made = self._convert(operand, kind)
            made.label = made.label or operand.label
        return self._wide[key]

    def _convert(self, reg: Reg, kind: Kind) -> Reg:
        if kind == "mask":
            if reg.dtype in ("bool", "uint8"):
                return self.emit("tl.mask_from_bool({d}, {0})", reg.cls, "mask", reg)
            plain = self.converted(reg, "float32" if is_float(reg.dtype) else "int32")
            zero = "0.0" if is_float(reg.dtype) else "0"
            return self.emit('tl.compare({d}, {0}, {1}, "ne")', reg.cls, "mask", plain, zero)
        if reg.dtype == "mask":
            ones = ("1.0", "0.0") if kind == "float32" else ("1", "0")
            return self.emit("tl.select({d}, {0}, {1}, {2})", reg.cls, kind, reg, *ones)
        mode = ', round="trunc"' if is_float(reg.dtype) and kind == "int32" else ""
        return self.emit(f"tl.cast({{d}}, {{0}}{mode})", reg.cls, kind, reg, over=False)

    def widened(self, operand: Operand, cls: Class, kind: Kind) -> Reg:
        """A register of exactly this class: repeated where the operand is smaller."""
        if isinstance(operand, Reg) and operand.cls == cls:
            return operand
        if isinstance(operand, Reg) and operand.dtype == "mask":
            wide = self.widened(self.converted(operand, "float32"), cls, "float32")
            return self.emit('tl.compare({d}, {0}, {1}, "ne")', cls, "mask", wide, "0.0")
        if isinstance(operand, str) or operand.cls == "one":
            number = self.scalar(operand)
            if kind == "mask":
                number = f"(1.0 if {number} else 0.0)" if not _is_number(number) else number
                filled = self.emit("tl.fill({d}, {0})", cls, "float32", number)
                return self.emit('tl.compare({d}, {0}, {1}, "ne")', cls, "mask", filled, "0.0")
            return self.emit("tl.fill({d}, {0})", cls, kind, number)
        if kind == "int32":
            # Repetition exists for floats; whole numbers go through them as bits of equal size do
            # not: an addition to zeros repeats and stays exact.
            zeros = self.emit("tl.fill({d}, {0})", cls, "int32", "0")
            return self.emit("tl.add({d}, {0}, {1})", cls, "int32", zeros, operand)
        return self.emit("tl.broadcast({d}, {0})", cls, kind, operand, over=False)

    def emit(self, text: str, cls: Class, dtype: str, *operands: Operand, over: bool = True) -> Reg:
        """One instruction with a new register as its result, before the loop where it can be."""
        registers = [operand for operand in operands if isinstance(operand, Reg)]
        early = self.before if registers and cls != "full" and _plain(operands) else None
        if early is not None and all(reg in early.written for reg in registers):
            return early.emit(text, cls, dtype, *operands, over=over)
        dst = Reg(cls, dtype, kept=self.kept)
        self.written.add(dst)
        self.block.compute.append(self.instr(text, dst, *operands, over=over))
        return dst

    def instr(self, text: str, dst: Reg, *operands: Operand, over: bool = True) -> Instr:
        srcs: list[tuple[Reg, Class] | str] = []
        for operand in operands:
            if isinstance(operand, Reg) and operand.cls == "one" and dst.cls != "one":
                srcs.append(self.scalar(operand))
            else:
                srcs.append(operand if isinstance(operand, str) else (operand, dst.cls))
        return Instr(text, (dst,), tuple(srcs), over)

    def _name(self, base: str) -> str:
        self._count += 1
        mark = "k" if self.kept else ""
        return f"{base}{mark}{self._count}"

    # Items

    def write(self, item: Item) -> Operand:
        """Write the item and what it needs; the register or scalar it ends up in."""
        if id(item) in self.done:
            return self.done[id(item)]
        match item.kind:
            case "load":
                found: Operand = self._load(item)
            case "iota":
                found = self._iota(item)
            case "constant":
                return self.literal(item, kind_of(item.dtype))
            case "map":
                found = self._map(item)
            case "fold":
                found = self._fold(item)
            case _:
                raise AssertionError(item)
        if isinstance(found, Reg) and not found.label:
            found.label = item.label
        self.done[id(item)] = found
        return found

    def address(self, access: Access, *, inside: bool = True) -> str:
        """Where the tile begins in a tensor."""
        terms = [self.scope.size(access.offset)]
        for axis, stride in access.strides.items():
            if inside or axis not in (self.row, self.col):
                base = self.base.get(axis, "0")
                terms.append(product_text(base, self.scope.size(stride)) if base != "0" else "0")
        pointer = self.scope.pointer(access.tensor)
        place = sum_text(*terms)
        return pointer if place == "0" else f"{pointer} + {place}"

    def _load(self, item: Item) -> Operand:
        access = item.access
        assert access is not None
        cls = self.cls(item)
        reg = Reg(cls, item.dtype, "in", kept=self.kept, label=access.tensor.name)
        self.written.add(reg)
        down = access.strides.get(self.row) if self.row is not None else None
        along = access.strides.get(self.col) if self.col is not None else None
        one = Size.of(1)
        text = f"tl.load({self.address(access)}, {{d}}"
        if cls == "full" and self.row is not None:
            assert down is not None
            if along != one:
                return self._load_turned(item, access)
            text += f", stride={self.scope.size(down)}"
        elif cls == "full" and along == Size.of(-1):
            return self._load_backwards(item, access)
        elif (cls == "full" and along != one) or (cls == "col" and down != one):
            return self._load_apart(item, access, cls)
        elif cls == "row" and along != one:
            raise SteppedError(access)
        self.block.copyin.append(Instr(text + ")", (reg,)))
        return reg

    def _load_turned(self, item: Item, access: Access) -> Reg:
        """A tile that lies turned in memory: read as it lies, then transposed."""
        assert self.row is not None
        assert self.col is not None
        along = access.strides[self.col]
        if access.strides.get(self.row) != Size.of(1):
            raise SteppedError(access)
        lying = Reg("turned", item.dtype, "in", kept=self.kept)
        text = f"tl.load({self.address(access)}, {{d}}, stride={self.scope.size(along)})"
        self.block.copyin.append(Instr(text, (lying,)))
        if WIDTH[item.dtype] in (2, 4) and item.dtype != "bfloat16":
            return self.emit("tl.transpose({d}, {0})", "full", item.dtype, lying, over=False)
        wide = self.emit("tl.cast({d}, {0})", "turned", kind_of(item.dtype), lying, over=False)
        return self.emit("tl.transpose({d}, {0})", "full", wide.dtype, wide, over=False)

    def _load_apart(self, item: Item, access: Access, cls: Class) -> Reg:
        """Numbers from places apart: rows of one element each, folded to a vector."""
        axis = self.row if cls == "col" else self.col
        assert axis is not None
        step = access.strides[axis]
        if item.dtype == "bool" or (step.known is not None and step.known < 0):
            raise PlanError(f"reading {access.tensor.name} in steps of {step} is not planned")
        thin = Reg("thin", item.dtype, "in", kept=self.kept)
        text = f"tl.load({self.address(access)}, {{d}}, stride={self.scope.size(step)})"
        self.block.copyin.append(Instr(text, (thin,)))
        wide = self.converted(thin, kind_of(item.dtype))
        assert isinstance(wide, Reg)
        fold = "tl.reduce_sum({d}, {0}, axis=1)"
        if is_float(item.dtype):
            return self.emit(fold, cls, "float32", wide, over=False)
        # Rows are folded as floats, which hold 24 bits: whole numbers go in two parts.
        high = self.emit("tl.shift_right({d}, {0}, {1})", "thin", "int32", wide, str(_LOW))
        taken = self.emit("tl.mul({d}, {0}, {1})", "thin", "int32", high, str(1 << _LOW))
        low = self.emit("tl.sub({d}, {0}, {1})", "thin", "int32", wide, taken)
        parts = [self._convert(part, "float32") for part in (high, low)]
        folded = [self.emit(fold, cls, "float32", part, over=False) for part in parts]
        above, below = (self._convert(part, "int32") for part in folded)
        lifted = self.emit("tl.mul({d}, {0}, {1})", cls, "int32", above, str(1 << _LOW))
        return self.emit("tl.add({d}, {0}, {1})", cls, "int32", lifted, below)

    def _load_backwards(self, item: Item, access: Access) -> Operand:
        """A line that is read from its end: loaded as it lies, then reversed."""
        assert self.col is not None
        lying = Reg("full", item.dtype, "in", kept=self.kept)
        # The last element of the tile is the first in memory.
        text = f"tl.load({self.address(access)} - (m - 1), {{d}})"
        self.block.copyin.append(Instr(text, (lying,)))
        wide = self.converted(lying, "float32" if is_float(item.dtype) else "int32")
        assert isinstance(wide, Reg)
        return self.emit("tl.reverse({d}, {0})", "full", wide.dtype, wide, over=False)

    def _iota(self, item: Item) -> Operand:
        (axis,) = item.axes
        kind = kind_of(item.dtype)
        base = self.base.get(axis, "0")
        cls = self.cls(item)
        if cls == "one":
            return f"float({base})" if kind == "float32" else base
        start = f"float({base})" if kind == "float32" else base
        step = "1.0" if kind == "float32" else "1"
        return self.emit(f"tl.iota({{d}}, {start}, {step})", cls, kind)

    def _map(self, item: Item) -> Operand:
        cls = self.cls(item)
        kind = kind_of(item.dtype)
        op = item.op
        if op == "copy":
            return self.operand(item.args[0], kind)
        if op == "cast":
            return self._cast(item, cls, kind)
        if op in _COMPARE:
            return self._compare(item, cls)
        if op in ("and", "or", "not"):
            return self._logic(item, cls)
        if op in ("isnan", "isinf"):
            arg = self.widened(self.operand(item.args[0], "float32"), cls, "float32")
            name = "is_nan" if op == "isnan" else "is_inf"
            return self.emit(f"tl.{name}({{d}}, {{0}})", cls, "mask", arg, over=False)
        if op == "where":
            return self._where(item, cls, kind)
        if kind == "mask":
            kind = "float32"
        if op in _BINARY:
            return self._binary(item, cls, kind)
        if op in _TILES or op in _WHOLE_DIVISION:
            return self._tiles(item, cls, kind)
        if op == "leaky_relu":
            x = self.widened(self.operand(item.args[0], kind), cls, kind)
            slope = self.scalar(self.operand(item.args[1], kind))
            return self.emit("tl.leaky_relu({d}, {0}, {1})", cls, kind, x, slope)
        if op in _BITS:
            a, b = (self.widened(self.operand(arg, "int32"), cls, "int32") for arg in item.args)
            return self.emit(f"tl.{op}({{d}}, {{0}}, {{1}})", cls, "int32", a, b)
        if op == "shift_right":
            x = self.widened(self.operand(item.args[0], "int32"), cls, "int32")
            bits = self.literal(item.args[1], "int32")
            return self.emit("tl.shift_right({d}, {0}, {1})", cls, "int32", x, bits)
        x = self.widened(self.operand(item.args[0], kind), cls, kind)
        return self._unary(op, cls, kind, x)

    def _unary(self, op: str, cls: Class, kind: Kind, x: Reg) -> Reg:
        if kind == "int32":
            if op == "abs":
                negative = self.emit("tl.neg({d}, {0})", cls, kind, x)
                return self.emit("tl.maximum({d}, {0}, {1})", cls, kind, x, negative)
            if op in ("floor", "ceil", "round", "trunc"):
                return x
            if op not in ("neg", "relu"):
                raise PlanError(f"{op} of whole numbers is not planned")
        return self.emit(f"tl.{op}({{d}}, {{0}})", cls, kind, x)

    def _cast(self, item: Item, cls: Class, kind: Kind) -> Operand:
        source = item.args[0]
        own = self.operand(source, kind_of(source.dtype))
        if isinstance(own, str):
            return own if kind_of(source.dtype) == kind else self.widened(own, cls, kind)
        if _narrowed(source) and is_float(item.dtype):
            # There and back: arithmetic is in float32 all along, but this asks for the rounding.
            short = self.emit(
                'tl.cast({d}, {0}, round="rint")', own.cls, source.dtype, own, over=False
            )
            return self.converted(short, kind)
        return self.converted(own, kind)

    def _compare(self, item: Item, cls: Class) -> Reg:
        left, right = item.args
        op = item.op
        kinds = {kind_of(arg.dtype) for arg in (left, right) if arg.kind != "constant"}
        if kinds == {"mask"}:
            if op not in ("eq", "ne"):
                raise PlanError(f"{op} of truth values is not planned")
            return self._differ(item, cls, equal=op == "eq")
        kind: Kind = "int32" if kinds == {"int32"} and _whole_constants(item) else "float32"
        if left.kind == "constant":
            left, right, op = right, left, _SWAPPED[op]
        a = self.widened(self.operand(left, kind), cls, kind)
        b = self.operand(right, kind)
        if isinstance(b, Reg) and b.cls not in (cls, "one"):
            b = self.widened(b, cls, kind)
        return self.emit(f'tl.compare({{d}}, {{0}}, {{1}}, "{op}")', cls, "mask", a, b, over=False)

    def _differ(self, item: Item, cls: Class, *, equal: bool) -> Reg:
        a, b = (self.widened(self.operand(arg, "mask"), cls, "mask") for arg in item.args)
        either = self.emit("tl.mask_or({d}, {0}, {1})", cls, "mask", a, b, over=False)
        both = self.emit("tl.mask_and({d}, {0}, {1})", cls, "mask", a, b, over=False)
        not_both = self.emit("tl.mask_not({d}, {0})", cls, "mask", both, over=False)
        found = self.emit("tl.mask_and({d}, {0}, {1})", cls, "mask", either, not_both, over=False)
        return (
            self.emit("tl.mask_not({d}, {0})", cls, "mask", found, over=False) if equal else found
        )

    def _logic(self, item: Item, cls: Class) -> Reg:
        args = [self.widened(self.operand(arg, "mask"), cls, "mask") for arg in item.args]
        if item.op == "not":
            return self.emit("tl.mask_not({d}, {0})", cls, "mask", args[0], over=False)
        name = _LOGIC[item.op]
        return self.emit(f"tl.{name}({{d}}, {{0}}, {{1}})", cls, "mask", *args, over=False)

    def _where(self, item: Item, cls: Class, kind: Kind) -> Reg:
        condition, *chosen = item.args
        mask = self.widened(self.operand(condition, "mask"), cls, "mask")
        if kind == "mask":
            return self._where_mask(mask, chosen, cls)
        sides: list[Operand] = []
        for arg in chosen:
            side = self.operand(arg, kind)
            if isinstance(side, Reg) and side.cls != "one":
                side = self.widened(side, cls, kind)
            sides.append(side)
        return self.emit("tl.select({d}, {0}, {1}, {2})", cls, kind, mask, *sides, over=False)

    def _where_mask(self, mask: Reg, chosen: list[Item], cls: Class) -> Reg:
        a, b = (self.widened(self.operand(arg, "mask"), cls, "mask") for arg in chosen)
        yes = self.emit("tl.mask_and({d}, {0}, {1})", cls, "mask", mask, a, over=False)
        other = self.emit("tl.mask_not({d}, {0})", cls, "mask", mask, over=False)
        no = self.emit("tl.mask_and({d}, {0}, {1})", cls, "mask", other, b, over=False)
        return self.emit("tl.mask_or({d}, {0}, {1})", cls, "mask", yes, no, over=False)

    def _binary(self, item: Item, cls: Class, kind: Kind) -> Reg:
        op = item.op
        a, b = (self.operand(arg, kind) for arg in item.args)
        if op == "div" and kind == "int32":
            raise PlanError("division of whole numbers is not planned")
        same = [x for x in (a, b) if isinstance(x, Reg) and x.cls == cls]
        if not same:
            a = self.widened(a, cls, kind)
        return self.emit(f"tl.{_BINARY[op]}({{d}}, {{0}}, {{1}})", cls, kind, a, b)

    def _tiles(self, item: Item, cls: Class, kind: Kind) -> Reg:
        if kind == "int32":
            if item.op == "floor_mod":
                return self._whole_remainder(item, cls)
            if item.op in _WHOLE_DIVISION:
                return self._whole_quotient(item, cls, _WHOLE_DIVISION[item.op])[2]
            raise PlanError(f"{item.op} of whole numbers is not planned")
        a, b = (self.widened(self.operand(arg, kind), cls, kind) for arg in item.args)
        name = _TILES[item.op]
        return self.emit(f"tl.{name}({{d}}, {{0}}, {{1}})", cls, kind, a, b, over=False)

    def _whole_quotient(self, item: Item, cls: Class, mode: str) -> tuple[Reg, Reg, Reg]:
        """Whole numbers divided through float32, exact below 2 to the 24th: a, b and a / b."""
        a, b = (self.widened(self.operand(arg, "int32"), cls, "int32") for arg in item.args)
        real = [self._convert(reg, "float32") for reg in (a, b)]
        quotient = self.emit("tl.div({d}, {0}, {1})", cls, "float32", *real)
        rounded = self.emit(f"tl.{mode}({{d}}, {{0}})", cls, "float32", quotient)
        return a, b, self._convert(rounded, "int32")

    def _whole_remainder(self, item: Item, cls: Class) -> Reg:
        a, b, times = self._whole_quotient(item, cls, "floor")
        product = self.emit("tl.mul({d}, {0}, {1})", cls, "int32", times, b)
        rest = self.emit("tl.sub({d}, {0}, {1})", cls, "int32", a, product)
        divisor = item.args[1].number
        if not isinstance(divisor, int | float) or divisor <= 0:
            return rest
        # Larger numbers may be off by one step of a positive divisor.
        low = self.emit('tl.compare({d}, {0}, {1}, "lt")', cls, "mask", rest, "0", over=False)
        lifted = self.emit("tl.add({d}, {0}, {1})", cls, "int32", rest, b, over=False)
        select = "tl.select({d}, {0}, {1}, {2})"
        rest = self.emit(select, cls, "int32", low, lifted, rest, over=False)
        high = self.emit('tl.compare({d}, {0}, {1}, "ge")', cls, "mask", rest, b, over=False)
        lowered = self.emit("tl.sub({d}, {0}, {1})", cls, "int32", rest, b, over=False)
        return self.emit(select, cls, "int32", high, lowered, rest, over=False)

    def _fold(self, item: Item) -> Reg:
        """A fold of axes that the tile covers whole."""
        arg = item.args[0]
        folded = set(item.folds)
        kind: Kind = "float32"
        source = self.operand(arg, kind)
        wanted = self._folded_class(arg, folded)
        full = self.widened(source, wanted, kind)
        cls = self.cls(item)
        axis = ""
        if wanted == "full" and self.row is not None and folded != {self.row, self.col}:
            axis = f", axis={0 if self.row in folded else 1}"
        if item.op in ("argmax", "argmin"):
            return self._fold_place(item, full, cls, axis)
        return self.emit(f"tl.reduce_{item.op}({{d}}, {{0}}{axis})", cls, kind, full, over=False)

    def _folded_class(self, arg: Item, folded: set[int]) -> Class:
        if self.row is None:
            return "full"
        if self.cls(arg) in ("row", "col") and arg.axes >= folded:
            return self.cls(arg)  # the same for all lines of the tile: folded once
        both = folded == {self.row, self.col}
        return "full" if both or folded <= {self.row} or folded <= {self.col} else "one"

    def _fold_place(self, item: Item, full: Reg, cls: Class, axis: str) -> Reg:
        if axis != ", axis=1":
            raise PlanError(f"{item.op} along this axis is not planned within a tile")
        values = Reg(cls, "float32", kept=self.kept)
        places = Reg(cls, "int32", kept=self.kept)
        text = f"tl.{item.op}({{d}}, {{d1}}, {{0}})"
        self.block.compute.append(Instr(text, (values, places), ((full, "full"),), over=False))
        return places

    # Results

    def store(self, item: Item, access: Access) -> None:
        """Bring the item into the tensor's type and write it."""
        cls = self.cls_of_axes(set(access.strides))
        dtype = access.tensor.dtype
        reg = self.outgoing(item, cls, dtype)
        down = access.strides.get(self.row) if self.row is not None else None
        text = f"tl.store({self.address(access)}, {{0}}"
        if cls == "full" and self.row is not None:
            assert down is not None
            text += f", stride={self.scope.size(down)}"
        along = access.strides.get(self.col) if self.col is not None else None
        if cls in ("full", "row") and along != Size.of(1):
            raise PlanError(f"writing {access.tensor.name} in steps of {along} is not planned")
        if cls == "col" and down != Size.of(1):
            raise PlanError(f"writing {access.tensor.name} in steps of {down} is not planned")
        self.block.copyout.append(Instr(text + ")", (), ((reg, reg.cls),)))

    def cls_of_axes(self, axes: set[int]) -> Class:
        return self.cls(Item("constant", "", "float32", axes))

    def outgoing(self, item: Item, cls: Class, dtype: str) -> Reg:
        """A register of the tensor's type that only this store reads."""
        kind = kind_of(dtype)
        value = self.widened(self.operand(item, kind), cls, kind)
        if dtype == kind and not value.kept:
            if value.role == "work":
                value.role = "out"  # computed where it leaves from
            if value.role == "out" or not self.block.compute:
                return value
        dst = Reg(cls, dtype, "out")
        if dtype == "bool":
            text = "tl.bool_from_mask({d}, {0})"
        elif dtype == kind:
            text = "tl.copy({d}, {0})"
        else:
            mode = ', round="rint"' if is_float(dtype) else ""
            text = f"tl.cast({{d}}, {{0}}{mode})"
        self.block.compute.append(self.instr(text, dst, value, over=False))
        return dst


def _narrowed(item: Item) -> bool:
    """Whether it is a float cast to a shorter one."""
    return item.op == "cast" and WIDTH[item.dtype] == 2 and item.args[0].dtype == "float32"


def _plain(operands: tuple[Operand, ...]) -> bool:
    """Whether scalars among the operands are numbers: other scalars may change in the loop."""
    return all(isinstance(operand, Reg) or _is_number(operand) for operand in operands)


def _whole_constants(item: Item) -> bool:
    numbers = (arg.number for arg in item.args if arg.kind == "constant")
    return all(not isinstance(number, float) or number.is_integer() for number in numbers)


def _float(number: float) -> str:
    if math.isnan(number):
        return "tl.nan"
    if math.isinf(number):
        return "tl.inf" if number > 0 else "-tl.inf"
    return repr(number)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
