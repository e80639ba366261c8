# SPDX-License-Identifier: Apache-2.0
"""Kernels that meet every element once: tiles are read, computed on and written.

Five shapes of tile:

* `flat`: a line of the last axis, the others are loops;
* `rows`: whole rows of the last axis, several at once; reductions along the row happen in the tile;
* `line`: the whole last axis, one line at a time; reductions fold the line;
* `columns`: the whole second-last axis, a piece of the last; reductions run down the tile;
* `turned`: pieces of both, for tensors that lie turned in memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from npuforge.plan.itemcode import ItemCode
from npuforge.plan.launch import KernelName, Launch
from npuforge.plan.nest import Axis, Item, Nest, needed
from npuforge.plan.room import Fit
from npuforge.plan.scope import Scope, decoded, product_text
from npuforge.plan.tilecode import Block, Buffer, Frame, allocate, bytes_of
from npuforge.spec.size import product

TileShape = Literal["flat", "line", "rows", "columns", "turned"]

# Columns of a turned tile; its rows are as many as fit.
_TURNED = 128
_LEAST = {"flat": 64, "line": 1, "rows": 1, "columns": 64, "turned": 16}  # what a tile has of them


@dataclass(frozen=True, slots=True)
class Choice:
    """What may be tuned: `rounds` is how many tiles a core should have at least, so that transfers
    overlap with work; `least` how many elements are worth a core. `fits` says what tiles take,
    `room` how many bytes of unified buffer planning counts on: what is left is for helpers."""

    rounds: int = 2
    least: int = 1024
    fits: Mapping[str, Fit] = field(default_factory=dict)
    room: int = 150 * 1024


def tiled(nest: Nest, shape: TileShape, kernel: KernelName, why: str, choice: Choice) -> Launch:
    """The launch that computes the nest's stores in tiles of this shape."""
    return _Tiled(nest, shape, kernel, why, choice).launch()


class _Tiled:
    def __init__(
        self, nest: Nest, shape: TileShape, kernel: KernelName, why: str, choice: Choice
    ) -> None:
        self.nest, self.shape, self.why, self.choice = nest, shape, why, choice
        self.name, self.prefix = kernel.name, kernel.prefix
        self.scope = Scope()
        axes = nest.order()
        self.col: Axis | None = axes[-1] if axes else None
        self.row: Axis | None = axes[-2] if shape in ("rows", "columns", "turned") else None
        self.outer = [axis for axis in axes if axis not in (self.row, self.col)]
        covered = {"flat": None, "line": self.col, "rows": self.col, "columns": self.row}.get(shape)
        self.whole = set() if covered is None else {covered}
        if self.col is not None:
            self.scope.size(nest.sizes[self.col], "cols")
        if self.row is not None:
            self.scope.size(nest.sizes[self.row], "rows")

    def launch(self) -> Launch:
        frame, base = self._frame()
        before, body = Block(), Block()
        prologue = ItemCode(self.scope, self.row, self.col, base, before, kept=True)
        code = ItemCode(self.scope, self.row, self.col, base, body, before=prologue)
        loops = set(self.nest.sizes) - self.whole
        steady = self._steady(loops)
        for item in steady:
            prologue.write(item)
        for store in self.nest.stores:
            code.store(store.item, store.access)
        buffers = allocate([before, body])
        return self._text(frame, before, body, buffers)

    def _steady(self, loops: set[Axis]) -> list[Item]:
        """Largest items that no loop changes: they are computed before it."""
        if not loops:
            return []
        items = needed(store.item for store in self.nest.stores)
        steady = {id(item) for item in items if not item.axes & loops and item.kind != "constant"}
        used: dict[int, Item] = {}
        for item in items:
            if id(item) in steady:
                continue
            used |= {id(arg): arg for arg in item.args if id(arg) in steady}
        for store in self.nest.stores:
            if id(store.item) in steady:
                used[id(store.item)] = store.item
        return list(used.values())

    def _frame(self) -> tuple[Frame, dict[Axis, str]]:
        base = {axis: f"i{number}" for number, axis in enumerate(self.outer)}
        if self.col is None:
            return Frame("", "8", "", ":1"), base
        cols = self.scope.size(self.nest.sizes[self.col], "cols")
        if self.shape == "flat":
            base[self.col] = "start"
            return Frame("", "tile", "", ":m"), base
        if self.shape == "line":
            base[self.col] = "0"
            return Frame("", cols, "", ":"), base
        assert self.row is not None
        rows = self.scope.size(self.nest.sizes[self.row], "rows")
        if self.shape == "turned":
            base[self.row], base[self.col] = "start", "across"
            return Frame("tile", str(_TURNED), ":n", ":m"), base
        if self.shape == "rows":
            base[self.row], base[self.col] = "start", "0"
            return Frame("tile", cols, ":n", ":"), base
        base[self.row], base[self.col] = "0", "start"
        return Frame(rows, "tile", ":", ":m"), base

    # Text

    def _text(self, frame: Frame, before: Block, body: Block, buffers: list[Buffer]) -> Launch:
        if self.col is None or (self.shape == "line" and not self.outer):
            lines = [*before.lines(frame), *body.lines(frame)]
            host = self._host_start()
            cores = "1"
        else:
            lines = [*before.lines(frame), *self._loop(body.lines(frame))]
            host, cores = self._host(buffers)
        declared = [buffer.declaration(frame) for buffer in buffers]
        head = f"def {self.name}({', '.join(self.scope.parameters)}):"
        doc = [f"    # {line}" for line in self.why.splitlines()]
        text = [head, *doc, *(f"    {line}" for line in [*declared, *lines])]
        call = f"{self.name}[{cores}]({', '.join(self.scope.arguments)})"
        covered = next(iter(self.whole), None)
        whole = None if covered is None else self.scope.size(self.nest.sizes[covered])
        tuned = self.name if "tile" in self.scope.numbers else None
        span = 1 if covered is None else -(-self.nest.extent(covered) // 32) * 32
        return Launch("\n".join(text), [*host, call], tuned, whole, span, _LEAST[self.shape])

    def _loop(self, body: list[str]) -> list[str]:
        """The tiles of one core, in order."""
        assert self.col is not None
        if self.shape == "line":
            per_core, units = self._number("per_core"), self._number("units")
            inner = self._decode_outer("u")
            loop = f"for u in range(first, min(first + {per_core}, {units})):"
            head = [f"first = tl.program_id(0) * {per_core}", loop]
            return [*head, *(f"    {line}" for line in [*inner, *body])]
        moving = self.row if self.shape in ("rows", "turned") else self.col
        assert moving is not None
        extent = self.scope.size(self.nest.sizes[moving])
        count = "n" if self.shape in ("rows", "turned") else "m"
        per_core, tile = self._number("per_core"), self._number("tile")
        head = [f"first = tl.program_id(0) * {per_core}"]
        if not self.outer and self.shape == "flat":
            inner = [
                f"start = first + t * {tile}",
                f"{count} = min({tile}, last - start)",
            ]
            head.append(f"last = min(first + {per_core}, {extent})")
            loop = f"for t in range(tl.cdiv(last - first, {tile})):"
            return [*head, loop, *(f"    {line}" for line in [*inner, *body])]
        head.append(f"last = min(first + {per_core}, {self._number('units')})")
        inner = []
        if self.outer:
            tiles = self._number("tiles")
            inner += [f"start = u % {tiles} * {tile}"]
            inner += self._decode_outer(f"u // {tiles}")
        else:
            inner.append(f"start = u * {tile}")
        inner.append(f"{count} = min({tile}, {extent} - start)")
        if self.shape == "turned":
            cols = self.scope.size(self.nest.sizes[self.col])
            inner.append(f"for c in range(tl.cdiv({cols}, {_TURNED})):")
            across = [f"across = c * {_TURNED}", f"m = min({_TURNED}, {cols} - across)"]
            body = [f"    {line}" for line in [*across, *body]]
        loop = "for u in range(first, last):"
        return [*head, loop, *(f"    {line}" for line in [*inner, *body])]

    def _decode_outer(self, rest: str) -> list[str]:
        return decoded(self.scope, rest, [self.nest.sizes[axis] for axis in self.outer], "i")

    def _number(self, what: str) -> str:
        return self.scope.number(what, f"{self.prefix}_{what}")

    # Host

    def _host_start(self) -> list[str]:
        return [f"# {line}" for line in self.why.splitlines()]

    def _host(self, buffers: list[Buffer]) -> tuple[list[str], str]:
        p, choice = self.prefix, self.choice
        assert self.col is not None
        cols = str(self.nest.sizes[self.col])
        lines = self._host_start()
        cores = f"{p}_cores"
        fit = choice.fits.get(self.name) or _estimate(buffers, self.shape)
        outer = str(product([self.nest.sizes[axis] for axis in self.outer]))
        moving = cols
        if self.shape == "line":
            lines.append("# A line at a time: it must fit the unified buffer.")
        elif self.shape == "flat":
            lines.append(f"# A tile takes {math.ceil(fit.row)} bytes an element.")
            most = f"tl.align_down({fit.tiles_text('1')}, 64)"
            if not self.outer:
                # One line over all cores; shares end on 512 bytes.
                lines += [
                    f"{cores} = max(1, min(tl.num_cores(), tl.cdiv({cols}, {choice.least})))",
                    f"{p}_per_core = tl.align_up(tl.cdiv({cols}, {cores}), 128)",
                    f"{p}_share = tl.align_up(tl.cdiv({p}_per_core, {choice.rounds}), 64)",
                    f"{p}_tile = max(64, min({most}, {p}_share))",
                ]
                return lines, cores
            lines.append(f"{p}_tile = max(64, min({most}, tl.align_up({cols}, 64)))")
        elif self.shape == "turned":
            assert self.row is not None
            moving = str(self.nest.sizes[self.row])
            lines += [
                f"# A row of {_TURNED} columns takes {math.ceil(fit.row)} bytes.",
                f"{p}_fit = tl.align_down({fit.tiles_text('1')}, 16)",
                f"{p}_share = tl.align_up(tl.cdiv({product_text(outer, moving)}, "
                "tl.num_cores()), 16)",
                f"{p}_tile = max(16, min({p}_fit, {p}_share))",
            ]
        elif self.shape == "rows":
            assert self.row is not None
            moving = str(self.nest.sizes[self.row])
            lines += [
                f"{p}_width = tl.align_up({cols}, {_pitch(buffers)})",
                f"# A row takes {math.ceil(fit.each)} bytes an element "
                f"and {math.ceil(fit.row)} more.",
                f"{p}_fit = {fit.tiles_text(f'{p}_width')}",
                f'tl.require({p}_fit >= 1, "a row must fit the unified buffer")',
                f"{p}_share = tl.cdiv({product_text(outer, moving)}, "
                f"{choice.rounds} * tl.num_cores())",
                f"{p}_tile = max(1, min({p}_fit, {p}_share, {moving}))",
            ]
        else:
            assert self.row is not None
            rows = str(self.nest.sizes[self.row])
            lines += [
                f"# A column takes {math.ceil(fit.each)} bytes a row "
                f"and {math.ceil(fit.row)} more.",
                f"{p}_fit = tl.align_down({fit.tiles_text(rows)}, 64)",
                f'tl.require({p}_fit >= 64, "64 columns must fit the unified buffer")',
                f"{p}_share = tl.align_up(tl.cdiv({product_text(outer, cols)}, "
                f"{choice.rounds} * tl.num_cores()), 64)",
                f"{p}_tile = max(64, min({p}_fit, {p}_share, tl.align_up({cols}, 64)))",
            ]
        if self.shape == "line":
            lines.append(f"{p}_units = {outer}")
        elif self.outer:
            lines.append(f"{p}_tiles = tl.cdiv({moving}, {p}_tile)")
            lines.append(f"{p}_units = {product_text(f'{p}_tiles', outer)}")
        else:
            lines.append(f"{p}_units = tl.cdiv({moving}, {p}_tile)")
        lines += [
            f"{cores} = max(1, min(tl.num_cores(), {p}_units))",
            f"{p}_per_core = tl.cdiv({p}_units, {cores})",
        ]
        return lines, cores


def _estimate(buffers: list[Buffer], shape: TileShape) -> Fit:
    """Before the compiler was asked."""
    full, row, col = (bytes_of(buffers, cls) for cls in ("full", "row", "col"))
    if shape in ("flat", "line"):
        return Fit(row=full + 8, fixed=8192)
    if shape == "turned":
        tall = bytes_of(buffers, "turned")
        return Fit(row=(full + tall + 8) * _TURNED + col, fixed=8192 + row * _TURNED)
    if shape == "rows":
        return Fit(full + 4, col + 300, row, 8192)
    return Fit(full + 4, row, col, 8192)


def _pitch(buffers: list[Buffer]) -> int:
    """Elements that rows are padded to: 32 bytes of the narrowest type."""
    narrow = {"bool": 32, "uint8": 32, "int8": 32, "float16": 16, "bfloat16": 16, "int16": 16}
    found = [narrow.get(buffer.dtype, 8) for buffer in buffers if buffer.cls in ("full", "row")]
    return max(found, default=8)
