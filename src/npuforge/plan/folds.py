# SPDX-License-Identifier: Apache-2.0
"""Kernels that fold more than a tile holds.

A core owns a piece of the result and passes over the data it follows from. Sums, products, largest
and smallest are kept element by element in a tile of accumulators, and folded once at the end; the
sum of exponentials and the squares around the mean are kept as running states that every tile is
merged into. What is computed from the fold along the same line follows in a second loop, which
finds the line in the cache. With too little to do in parallel, a piece is cut into parts, and each
part writes its state for a second launch to merge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from npuforge.plan.itemcode import ItemCode
from npuforge.plan.launch import KernelName, Launch
from npuforge.plan.nest import Access, Axis, Item, Nest, needed
from npuforge.plan.room import Fit
from npuforge.plan.scope import Scope, decoded, product_text, sum_text
from npuforge.plan.tilecode import Block, Buffer, Class, Frame, Instr, Reg, allocate, bytes_of
from npuforge.plan.tiles import Choice
from npuforge.plan.values import Tensor, fold_label
from npuforge.spec.size import product

# Below every float that is not minus infinity: exp(x - LOWEST) of minus infinity is zero, not nan.
LOWEST = "-3.4028234663852886e+38"
_NEUTRAL = {"sum": "0.0", "prod": "1.0", "max": "-tl.inf", "min": "tl.inf"}
_JOIN = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
# Folds whose state holds another fold of the same values. The mean that squares are kept with is
# not a sum: with infinities among the values it is no number, where the sum is infinite.
_COMES_WITH = {"sumexp": "max"}
_FAR = "3.0e38"  # no place: larger than every index


@dataclass(frozen=True)
class Parts:
    """A fold cut into `count` parts; `states` are the tensors of each store's states."""

    count: int
    states: Sequence[Sequence[Tensor]]


@dataclass
class _State:
    """Registers of one fold, alive over the whole pass."""

    item: Item
    regs: list[Reg] = field(default_factory=list)
    host: Item | None = None  # the fold whose state this one is read from


def folded(nest: Nest, kernel: KernelName, why: str, choice: Choice, parts: Parts | None) -> Launch:
    """The launch that computes the stores of a nest whose items fold one set of axes."""
    return _Folded(nest, kernel, why, choice, parts).launch()


def can_pass_twice(nest: Nest, room: int) -> bool:
    """Whether a core can fold a line and then go over it again: it must own whole lines."""
    plan = _Geometry(nest, room)
    along = plan.col in plan.folds and plan.row is None
    folds = [item for item in nest.items if item.kind == "fold"]
    nested = any(arg.kind == "fold" for fold in folds for arg in needed(fold.args))
    return along and not nested and all(fold.op not in ("argmax", "argmin") for fold in folds)


def state_count(kind: str) -> int:
    """How many tensors hold the state of a fold between launches."""
    return {"argmax": 2, "argmin": 2, "sumexp": 2, "squares": 3}.get(kind, 1)


def parallel_pieces(nest: Nest, room: int) -> int:
    """How many pieces of the result the example has to give to cores."""
    plan = _Geometry(nest, room)
    total = 1
    for axis in plan.kept_outer:
        total *= nest.extent(axis)
    if plan.row is not None and plan.row not in plan.folds:
        total *= nest.extent(plan.row)
    if plan.col is not None and plan.col not in plan.folds:
        total *= max(1, nest.extent(plan.col) // (512 if plan.row is None else 1 << 30))
    return total


# Bytes that planning counts on for an element of a row, where rows are folded several at once.
_WIDE = 150


class _Geometry:
    """Which axes a tile covers, and which are loops."""

    def __init__(self, nest: Nest, room: int) -> None:
        axes = nest.order()
        self.folds = nest.folded
        self.col: Axis | None = axes[-1] if axes else None
        wide = self.col is not None and nest.extent(self.col) > room // _WIDE
        self.row: Axis | None = axes[-2] if len(axes) > 1 and not wide else None
        outer = [axis for axis in axes if axis not in (self.row, self.col)]
        self.kept_outer = [axis for axis in outer if axis not in self.folds]
        self.folded_outer = [axis for axis in outer if axis in self.folds]


class _Folded:
    def __init__(
        self, nest: Nest, kernel: KernelName, why: str, choice: Choice, parts: Parts | None
    ) -> None:
        self.nest, self.why, self.choice, self.parts = nest, why, choice, parts
        self.name, self.prefix = kernel.name, kernel.prefix
        self.scope = Scope()
        geometry = _Geometry(nest, choice.room)
        self.row, self.col, self.folds = geometry.row, geometry.col, geometry.folds
        self.kept_outer, self.folded_outer = geometry.kept_outer, geometry.folded_outer
        self.moving = self.col if self.row is None else self.row  # the axis that tiles cut
        assert self.moving is not None
        self.base: dict[Axis, str] = {}
        for number, axis in enumerate(self.kept_outer):
            self.base[axis] = f"i{number}"
        for number, axis in enumerate(self.folded_outer):
            self.base[axis] = f"j{number}"
        self.base[self.moving] = "start"
        if self.row is not None and self.col is not None:
            self.base[self.col] = "0"
            self.scope.size(nest.sizes[self.row], "rows")
        if self.col is not None:
            self.scope.size(nest.sizes[self.col], "cols")
        self.start, self.body, self.end, self.second = Block(), Block(), Block(), Block()
        self.before = ItemCode(self.scope, self.row, self.col, self.base, Block(), kept=True)
        self.code = ItemCode(
            self.scope, self.row, self.col, self.base, self.body, before=self.before
        )
        self.twice = any(set(store.access.strides) & self.folds for store in nest.stores)
        self.after = ItemCode(
            self.scope,
            self.row,
            self.col,
            self.base,
            self.end,
            before=self.before,
            kept=self.twice,
        )
        self.again = ItemCode(
            self.scope, self.row, self.col, self.base, self.second, before=self.after
        )
        self.seen = False  # whether elements are counted

    @property
    def cut_folds(self) -> bool:
        """Whether tiles cut a folded axis, not one of the result."""
        return self.moving in self.folds

    def launch(self) -> Launch:
        items = needed(store.item for store in self.nest.stores)
        states = self._states([item for item in items if item.kind == "fold"])
        for index, state in enumerate(states):
            if self.parts is None:
                final = self._alike(self._final(state), self.after.cls(state.item))
                final.label = final.label or state.item.label
                self.after.done[id(state.item)] = final
                self.after.written.add(final)
            else:
                self._save(state, self.parts.states[index])
        if self.twice:
            for item in items:
                for arg in item.args if item.axes & self.folds and item.kind != "fold" else ():
                    if arg.kind != "constant" and not arg.axes & self.folds:
                        self.after.write(arg)
        if self.parts is None:
            for store in self.nest.stores:
                code = self.again if set(store.access.strides) & self.folds else self.after
                code.store(store.item, store.access)
        buffers = allocate([self.before.block, self.start, self.body, self.end, self.second])
        return self._text(buffers)

    # States

    def _states(self, folds: list[Item]) -> list[_State]:
        """A state for each fold; some come with the state of another."""
        hosts = {
            (_COMES_WITH[fold.op], id(fold.args[0])): fold
            for fold in folds
            if fold.op in _COMES_WITH
        }
        states: dict[int, _State] = {}
        for fold in folds:
            if (fold.op, id(fold.args[0])) not in hosts:
                states[id(fold)] = self._begin(fold)
                self._step(states[id(fold)])
        for fold in folds:
            host = hosts.get((fold.op, id(fold.args[0])))
            if host is not None:
                states[id(fold)] = _State(fold, states[id(host)].regs[:1], host)
        return [states[id(fold)] for fold in folds]

    def _kept_class(self) -> Class:
        """The class of one tile's fold: what the result keeps of a tile."""
        row = self.row is not None and self.row not in self.folds
        col = self.col is not None and self.col not in self.folds
        if self.row is None:
            return "full" if col else "one"
        return "full" if row and col else "col" if row else "row" if col else "one"

    def _new(self, cls: Class, dtype: str, value: str) -> Reg:
        reg = Reg(cls, dtype, kept=True)
        self.start.compute.append(Instr("tl.fill({d}, " + value + ")", (reg,)))
        return reg

    def _begin(self, item: Item) -> _State:
        """Registers that outlive the rounds."""
        state = self._neutral(item)
        for reg in state.regs:
            reg.label = fold_label(item.label)
        return state

    def _neutral(self, item: Item) -> _State:
        kind = item.op
        if kind in _NEUTRAL:
            return _State(item, [self._new("full", "float32", _NEUTRAL[kind])])
        if kind in ("argmax", "argmin"):
            worst = "-tl.inf" if kind == "argmax" else "tl.inf"
            best = self._new("full", "float32", worst)
            return _State(item, [best, self._new("full", "float32", "0.0")])
        cls = self._kept_class()
        if kind == "sumexp":
            peak = self._new(cls, "float32", LOWEST)
            return _State(item, [peak, self._new(cls, "float32", "0.0")])
        self.seen = True
        return _State(item, [self._new(cls, "float32", "0.0"), self._new(cls, "float32", "0.0")])

    def _do(self, text: str, dst: Reg, *operands: Reg | str, over: bool = True) -> None:
        self.body.compute.append(self.code.instr(text, dst, *operands, over=over))

    def _step(self, state: _State) -> None:
        """Merge one tile into the state."""
        item = state.item
        operand = self.code.operand(item.args[0], "float32")
        x = self.code.widened(operand, "full", "float32")
        if item.op in _JOIN:
            (acc,) = state.regs
            self._do(f"tl.{_JOIN[item.op]}({{d}}, {{0}}, {{1}})", acc, acc, x)
        elif item.op in ("argmax", "argmin"):
            self._step_place(state, x)
        elif item.op == "sumexp":
            self._step_sumexp(state, x)
        else:
            self._step_squares(state, x)

    def _reduction(self, kind: str) -> str:
        """The instruction that folds a tile along its folded axes."""
        axes = {"row": ", axis=0", "col": ", axis=1"}
        return f"tl.reduce_{kind}({{d}}, {{0}}{axes.get(self._kept_class(), '')})"

    def _fold_tile(self, kind: str, x: Reg) -> Reg:
        """A tile folded along its folded axes."""
        cls = self._kept_class()
        if cls == "full":
            return x
        return self.code.emit(self._reduction(kind), cls, "float32", x, over=False)

    def _step_place(self, state: _State, x: Reg) -> None:
        best, place = state.regs
        (axis,) = state.item.folds
        current: Reg | str
        if axis in (self.row, self.col):
            index = Item("iota", "", "float32", {axis})
            current = self.code.widened(self.code.write(index), "full", "float32")
        else:
            current = f"float({self.base[axis]})"
        better = "gt" if state.item.op == "argmax" else "lt"
        join = "maximum" if state.item.op == "argmax" else "minimum"
        mask = self.code.emit(
            f'tl.compare({{d}}, {{0}}, {{1}}, "{better}")', "full", "mask", x, best, over=False
        )
        self._do(f"tl.{join}({{d}}, {{0}}, {{1}})", best, best, x)
        self._do("tl.select({d}, {0}, {1}, {2})", place, mask, current, place, over=False)

    def _step_sumexp(self, state: _State, x: Reg) -> None:
        peak, total = state.regs
        cls, emit = peak.cls, self.code.emit
        tile_peak = self._fold_tile("max", x)
        higher = emit("tl.maximum({d}, {0}, {1})", cls, "float32", peak, tile_peak, over=False)
        shrink = emit("tl.sub({d}, {0}, {1})", cls, "float32", peak, higher)
        shrink = emit("tl.exp({d}, {0})", cls, "float32", shrink)
        self._do("tl.mul({d}, {0}, {1})", total, total, shrink)
        around = emit("tl.sub({d}, {0}, {1})", "full", "float32", x, higher)
        grown = emit("tl.exp({d}, {0})", "full", "float32", around)
        self._do("tl.add({d}, {0}, {1})", total, total, self._fold_tile("sum", grown))
        self._do("tl.copy({d}, {0})", peak, higher, over=False)

    def _step_squares(self, state: _State, x: Reg) -> None:
        middle, squares = state.regs
        cls, emit = middle.cls, self.code.emit
        tile_sum = self._fold_tile("sum", x)
        tile_mean = emit(
            "tl.mul({d}, {0}, {1})", cls, "float32", tile_sum, "1.0 / here", over=False
        )
        if cls == "full":
            inside: Reg | None = None
        else:
            around = emit("tl.sub({d}, {0}, {1})", "full", "float32", x, tile_mean)
            square = emit("tl.mul({d}, {0}, {1})", "full", "float32", around, around)
            inside = self._fold_tile("sum", square)
        step = emit("tl.sub({d}, {0}, {1})", cls, "float32", tile_mean, middle)
        part = emit("tl.mul({d}, {0}, {1})", cls, "float32", step, "here / seen", over=False)
        self._do("tl.add({d}, {0}, {1})", middle, middle, part)
        step = emit("tl.mul({d}, {0}, {1})", cls, "float32", step, step)
        step = emit("tl.mul({d}, {0}, {1})", cls, "float32", step, "(seen - here) * (here / seen)")
        self._do("tl.add({d}, {0}, {1})", squares, squares, step)
        if inside is not None:
            self._do("tl.add({d}, {0}, {1})", squares, squares, inside)

    def _final(self, state: _State) -> Reg:
        """The fold's value, from accumulators over a tile."""
        kind = state.item.op
        cls = self._kept_class()
        if kind in ("sumexp", "squares"):
            return state.regs[1]
        if state.host is not None:
            return state.regs[0]
        if kind in _JOIN:
            return self._collapse(kind, state.regs[0], cls)
        best, place = state.regs
        if cls == "full":
            return place
        top = self._collapse("max" if kind == "argmax" else "min", best, cls)
        spread = self.after.widened(top, "full", "float32")
        mask = self.after.emit(
            'tl.compare({d}, {0}, {1}, "eq")', "full", "mask", best, spread, over=False
        )
        kept = self.after.emit(
            "tl.select({d}, {0}, {1}, {2})", "full", "float32", mask, place, _FAR, over=False
        )
        return self._collapse("min", kept, cls)

    def _collapse(self, kind: str, acc: Reg, cls: Class) -> Reg:
        if cls == "full":
            return acc
        return self.after.emit(self._reduction(kind), cls, "float32", acc, over=False)

    def _alike(self, value: Reg, cls: Class) -> Reg:
        """A fold that does not vary over all that the tile keeps: any of its equal values."""
        if value.cls == cls:
            return value
        axes = {"row": ", axis=0", "col": ", axis=1"}
        axis = axes.get(cls, "") if value.cls == "full" and self.row is not None else ""
        text = f"tl.reduce_max({{d}}, {{0}}{axis})"
        return self.after.emit(text, cls, "float32", value, over=False)

    def _save(self, state: _State, tensors: Sequence[Tensor]) -> None:
        """Write the state of a part. The first tensor's stores say where."""
        values: list[Reg] = []
        cls = self._kept_class()
        kind = state.item.op
        if kind in ("argmax", "argmin"):
            top = self._collapse("max" if kind == "argmax" else "min", state.regs[0], cls)
            values = [top, self._final(state)]
        elif kind == "squares":
            count = Reg(cls, "float32")
            self.end.compute.append(Instr("tl.fill({d}, seen)", (count,)))
            values = [*state.regs, count]
        elif kind == "sumexp":
            values = list(state.regs)
        else:
            values = [self._final(state)]
            values[0].label = values[0].label or state.item.label
        where = next(store.access for store in self.nest.stores if store.item is state.item)
        for tensor, value in zip(tensors, values, strict=True):
            out = value
            if value.kept:
                out = Reg(cls, "float32")
                copied = self.after.instr("tl.copy({d}, {0})", out, value, over=False)
                self.end.compute.append(copied)
            out.role = "out"
            place = Access(tensor, where.offset, where.strides)
            count_text = self.scope.size(where.tensor.count)
            address = sum_text(self.after.address(place), product_text("part", count_text))
            text = f"tl.store({address}, {{0}}"
            if cls == "full" and self.row is not None:
                text += f", stride={self.scope.size(where.strides[self.row])}"
            self.end.copyout.append(Instr(text + ")", (), ((out, cls),)))

    # Text

    def _frames(self) -> tuple[Frame, Frame]:
        """The tile in a round, and at the end when accumulators are read as a whole."""
        if self.row is None:
            inside = Frame("", "tile", "", ":m")
            return inside, Frame("", "tile", "", ":" if self.cut_folds else ":m")
        assert self.col is not None
        cols = self.scope.size(self.nest.sizes[self.col], "cols")
        inside = Frame("tile", cols, ":n", ":")
        return inside, Frame("tile", cols, ":" if self.cut_folds else ":n", ":")

    def _text(self, buffers: list[Buffer]) -> Launch:
        inside, outside = self._frames()
        count = "n" if self.row is not None else "m"
        assert self.moving is not None
        extent = self.scope.size(
            self.nest.sizes[self.moving], "cols" if self.row is None else "rows"
        )
        tile = self._number("tile")
        tail = f"{count} = min({tile}, {extent} - start)"
        unit: list[str] = []
        rest = "u"
        if self.parts is not None:
            unit += [f"part = u % {self.parts.count}", f"q = u // {self.parts.count}"]
            rest = "q"
        if not self.cut_folds:
            rest = self._decode(unit, rest, tile, bool(self.kept_outer), tail)
        unit += self._decode_outer(rest, self.kept_outer, "i")
        step: list[str] = []
        rest = "f"
        if self.cut_folds:
            rest = self._decode(step, rest, tile, bool(self.folded_outer), tail)
        step += self._decode_outer(rest, self.folded_outer, "j")
        plain_step = list(step)
        if self.seen:
            unit.append("seen = 0.0")
            step += [f"here = float({self._elements(count)})", "seen += here"]
        rounds = self._number("rounds")
        span = f"range({rounds})"
        if self.parts is not None:
            share = self._number("share")
            unit += [f"from_ = part * {share}", f"to = min(from_ + {share}, {rounds})"]
            span = "range(from_, to)"
        body = [
            *unit,
            *self.start.lines(Frame(inside.rows, inside.cols, ":", ":")),
            f"for f in {span}:",
            *(f"    {line}" for line in [*step, *self.body.lines(inside)]),
            *self.end.lines(outside),
        ]
        if self.twice:
            body.append(f"for f in {span}:")
            body += [f"    {line}" for line in [*plain_step, *self.second.lines(inside)]]
        per_core, units = self._number("per_core"), self._number("units")
        lines = [
            *self.before.block.lines(Frame(inside.rows, inside.cols, ":", ":")),
            f"first = tl.program_id(0) * {per_core}",
            f"for u in range(first, min(first + {per_core}, {units})):",
            *(f"    {line}" for line in body),
        ]
        declared = [buffer.declaration(inside) for buffer in buffers]
        host = self._host(buffers)
        head = f"def {self.name}({', '.join(self.scope.parameters)}):"
        doc = [f"    # {line}" for line in self.why.splitlines()]
        text = [head, *doc, *(f"    {line}" for line in [*declared, *lines])]
        call = f"{self.name}[{self.prefix}_cores]({', '.join(self.scope.arguments)})"
        assert self.col is not None
        if self.row is None:
            return Launch("\n".join(text), [*host, call], self.name, least=64)
        whole = self.scope.size(self.nest.sizes[self.col])
        padded = -(-self.nest.extent(self.col) // 32) * 32
        return Launch("\n".join(text), [*host, call], self.name, whole, padded)

    def _elements(self, count: str) -> str:
        """Elements of a tile that one element of the result folds."""
        factors = [count] if self.cut_folds else []
        if self.row is not None and self.col in self.folds:
            assert self.col is not None
            factors.append(self.scope.size(self.nest.sizes[self.col], "cols"))
        return product_text(*factors) if factors else "1"

    def _decode(self, lines: list[str], rest: str, tile: str, more: bool, tail: str) -> str:
        if more:
            tiles = self._number("tiles")
            lines += [f"start = {rest} % {tiles} * {tile}", tail]
            return f"{rest} // {tiles}"
        lines += [f"start = {rest} * {tile}", tail]
        return rest

    def _decode_outer(self, rest: str, axes: list[Axis], base: str) -> list[str]:
        return decoded(self.scope, rest, [self.nest.sizes[axis] for axis in axes], base)

    def _number(self, what: str) -> str:
        return self.scope.number(what, f"{self.prefix}_{what}")

    def _places_fit(self) -> list[str]:
        """Places are counted in float32, which holds whole numbers up to 2 to the 24th."""
        axes = {i.folds[0] for i in self.nest.items if i.op in ("argmax", "argmin")}
        sizes = [self.nest.sizes[axis] for axis in sorted(axes)]
        return [
            f'tl.require({size} <= {1 << 24}, "places are counted up to 2 to the 24th")'
            for size in sizes
            if size.known is None or size.known > 1 << 24
        ]

    def _host(self, buffers: list[Buffer]) -> list[str]:
        p, choice = self.prefix, self.choice
        assert self.moving is not None
        assert self.col is not None
        moving = str(self.nest.sizes[self.moving])
        cols = str(self.nest.sizes[self.col])
        kept = str(product([self.nest.sizes[axis] for axis in self.kept_outer]))
        folded_count = str(product([self.nest.sizes[axis] for axis in self.folded_outer]))
        fit = choice.fits.get(self.name) or _estimate(buffers, two=self.row is not None)
        lines = [f"# {line}" for line in self.why.splitlines()]
        lines += self._places_fit()
        if self.row is None:
            lines += [
                f"# A tile takes {math.ceil(fit.row)} bytes an element.",
                f"{p}_fit = tl.align_down({fit.tiles_text('1')}, 64)",
            ]
            least, step = "64", "64"
        else:
            lines += [
                f"# A row takes {math.ceil(fit.each)} bytes an element.",
                f"{p}_fit = {fit.tiles_text(f'tl.align_up({cols}, 32)')}",
                f'tl.require({p}_fit >= 1, "a row must fit the unified buffer")',
            ]
            least, step = "1", "1"
        most = f"tl.align_up({moving}, {step})" if step != "1" else moving
        share = most
        if not self.cut_folds:
            wanted = f"tl.cdiv({product_text(moving, kept)}, {choice.rounds} * tl.num_cores())"
            share = f"tl.align_up({wanted}, {step})" if step != "1" else wanted
        if self.cut_folds and self.parts is not None:  # every part gets a tile
            wanted = f"tl.cdiv({product_text(moving, folded_count)}, {self.parts.count})"
            share = f"tl.align_up({wanted}, {step})" if step != "1" else wanted
        bounds = ", ".join(dict.fromkeys([f"{p}_fit", most, share]))
        lines.append(f"{p}_tile = max({least}, min({bounds}))")
        tiles = f"tl.cdiv({moving}, {p}_tile)"
        uses_tiles = bool(self.folded_outer) if self.cut_folds else bool(self.kept_outer)
        if uses_tiles:
            lines.append(f"{p}_tiles = {tiles}")
            tiles = f"{p}_tiles"
        if self.cut_folds:
            units, rounds = kept, product_text(tiles, folded_count)
        else:
            units, rounds = product_text(tiles, kept), folded_count
        lines.append(f"{p}_rounds = {rounds}")
        if self.parts is not None:
            lines.append(f"{p}_share = tl.cdiv({p}_rounds, {self.parts.count})")
            units = product_text(units, str(self.parts.count))
        lines += [
            f"{p}_units = {units}",
            f"{p}_cores = max(1, min(tl.num_cores(), {p}_units))",
            f"{p}_per_core = tl.cdiv({p}_units, {p}_cores)",
        ]
        return lines


def _estimate(buffers: list[Buffer], *, two: bool) -> Fit:
    full, row, col = (bytes_of(buffers, cls) for cls in ("full", "row", "col"))
    return Fit(full + 4, col + 300, row, 8192) if two else Fit(row=full + 8, fixed=8192)
