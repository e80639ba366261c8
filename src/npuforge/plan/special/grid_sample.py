# SPDX-License-Identifier: Apache-2.0
"""Images sampled at places that a grid gives.

For a chunk of places the four neighbours and their weights are found once and serve all channels.
The rows of the source between the highest and the lowest of them are loaded, channel by channel,
and gathered from. Where so many rows do not fit, they are worked on in bands: neighbours outside a
band count as zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.lines import Lines

_MOST_POINTS = 640
_POINT_BYTES = 112  # what a place takes in tables
_BAND = 1024  # elements of a band, unless a row is longer
_MOST_WIDTH = 4096
_SPARE = 12288

_PARAMETERS = (
    "tiles", "per_core", "chunks", "parts", "part", "channels", "points", "total", "height",
    "width", "room", "band",
)  # fmt: skip


@writes("grid_sample")
def grid_sample(job: Job) -> list[Launch]:
    (x, grid), (y,) = job.args, job.results
    data = job.special.data
    p = f"{job.name}_"
    images, channels, height, width = x.shape
    lines = Lines()
    lines.add(
        f"{p}images = {images}",
        f"{p}channels = {channels}",
        f"{p}height = {height}",
        f"{p}width = {width}",
        f"{p}total = {y.shape[2]} * ({y.shape[3]})",
        f'tl.require({p}width <= {_MOST_WIDTH}, "a row of the image must fit")',
        f"{p}points = min({_MOST_POINTS}, tl.align_up({p}total, 8))",
        f"{p}chunks = tl.cdiv({p}total, {p}points)",
        "# Channels are shared out where there are few chunks of places.",
        f"{p}parts = min({p}channels, tl.cdiv(4 * tl.num_cores(), {p}images * {p}chunks))",
        f"{p}part = tl.cdiv({p}channels, {p}parts)",
        f"{p}parts = tl.cdiv({p}channels, {p}part)",
        f"{p}band = tl.align_up(max({_BAND}, {p}width), 8)",
        f"# {_POINT_BYTES} bytes for a place; the rest holds rows of the source, twice.",
        f"{p}free = tl.ub_bytes() - {_SPARE} - 8 * {p}band - {_POINT_BYTES} * {p}points",
        f"{p}room = tl.align_down(min({p}height * {p}width + 7, {p}free // 8), 8)",
        f"{p}tiles = {p}images * {p}chunks * {p}parts",
        f"{p}cores = max(1, min(tl.num_cores(), {p}tiles))",
        f"{p}per_core = tl.cdiv({p}tiles, {p}cores)",
    )
    arguments = ", ".join([x.name, grid.name, y.name, *(p + name for name in _PARAMETERS)])
    lines.add(f"{job.name}[{p}cores]({arguments})")
    sampling = _Sampling(job.name, data["mode"] == "nearest", data["padding"], data["align"])
    return [Launch(sampling.text(), lines.found)]


@dataclass(frozen=True)
class _Sampling:
    name: str
    nearest: bool
    padding: str
    align: bool

    @property
    def corners(self) -> list[tuple[int, int]]:
        """Neighbours of a place: row, column."""
        return [(0, 0)] if self.nearest else [(0, 0), (0, 1), (1, 0), (1, 1)]

    def text(self) -> str:
        lines = Lines()
        names = ", ".join(("x", "grid", "y", *_PARAMETERS))
        with lines.block(f"def {self.name}({names})"):
            self.buffers(lines)
            lines.add("first = tl.program_id(0) * per_core", "count = min(per_core, tiles - first)")
            with lines.compute():
                lines.add("tl.iota(even, 0, 2)", "tl.add(odd, even, 1)")
            with lines.block("for t in range(count)"):
                self.chunk(lines)
        return lines.text()

    def buffers(self, lines: Lines) -> None:
        sides = 1 if self.nearest else 2
        floats = ["at_x", "at_y", "value", "side", "result"]
        for axis in ("x", "y"):
            for place in range(sides):
                floats += [f"{axis}{place}", f"{axis}{place}_in"]
                floats += [] if self.nearest else [f"{axis}{place}_weight"]
        for name in floats:
            lines.add(f"{name} = tl.alloc_ub(points, dtype=tl.float32)")
        lines.add("sum = tl.alloc_ub(points, dtype=tl.float32, buffers=1)")
        lines.add("pairs = tl.alloc_ub(2 * points, dtype=tl.float32, buffers=1)")
        for name in ("even", "odd"):
            lines.add(f"{name} = tl.alloc_ub(points, dtype=tl.int32)")
        for row, column in self.corners:
            lines.add(f"index{row}{column} = tl.alloc_ub(points, dtype=tl.int32)")
        lines.add(
            "highest = tl.alloc_ub(8, dtype=tl.float32)",
            "lowest = tl.alloc_ub(8, dtype=tl.float32)",
            # Behind the rows stands a zero, for neighbours outside the image.
            "rows = tl.alloc_ub(room + 8, dtype=tl.float32)",
            "some = tl.alloc_ub(band + 8, dtype=tl.float32)",
            "odd_ones = tl.alloc_mask(points)",
        )

    # ---- places ---------------------------------------------------------------------------------
    def chunk(self, lines: Lines) -> None:
        lines.add(
            "image = (first + t) // parts // chunks",
            "start = (first + t) // parts % chunks * points",
            "lower = (first + t) % parts * part",
            "upper = min(lower + part, channels)",
            "n = min(points, total - start)",
        )
        with lines.copyin():
            lines.add("tl.load(grid + (image * total + start) * 2, pairs[: 2 * n])")
        last = 0 if self.nearest else 1
        with lines.compute():
            lines.add("tl.gather(at_x[:n], pairs[: 2 * n], even[:n])")
            lines.add("tl.gather(at_y[:n], pairs[: 2 * n], odd[:n])")
            self.neighbours(lines, "x", "width")
            self.neighbours(lines, "y", "height")
            lines.add(
                "tl.reduce_min(highest[:1], y0[:n])",
                f"tl.reduce_max(lowest[:1], y{last}[:n])",
                "top_row = tl.extract_scalar(highest, 0)",
                "last_row = tl.extract_scalar(lowest, 0)",
                "top = int(top_row)",
                "held = int(last_row) - top + 1",
            )
        with lines.block("if held * width <= room"):
            self.at_once(lines)
        with lines.block("else"):
            self.in_bands(lines)

    def neighbours(self, lines: Lines, axis: str, extent: str) -> None:
        """Coordinates in the image, the neighbours below and above, and their weights."""
        at, low = f"at_{axis}[:n]", f"{axis}0[:n]"
        span = f"0.5 * float({extent} - 1)" if self.align else f"0.5 * float({extent})"
        centre = f"0.5 * float({extent} - 1)"
        if self.padding == "zeros" and not self.nearest:
            self.between(lines, axis, span, centre)
            self.inside(lines, f"{axis}0", extent)
            self.inside(lines, f"{axis}1", extent)
            return
        lines.add(f"tl.mul({at}, {at}, {span})", f"tl.add({at}, {at}, {centre})")
        if self.padding == "reflection":
            self.reflect(lines, axis, extent)
        if self.padding != "zeros":
            self.numbers_only(lines, at, "0.0")
            lines.add(
                f"tl.maximum({at}, {at}, 0.0)",
                f"tl.minimum({at}, {at}, float({extent} - 1))",
            )
        if self.nearest:
            lines.add(f"tl.round({low}, {at})")
            self.inside(lines, f"{axis}0", extent)
            return
        weight, other = f"{axis}0_weight[:n]", f"{axis}1_weight[:n]"
        lines.add(
            f"tl.floor({low}, {at})",
            f"tl.sub({other}, {at}, {low})",
            f"tl.sub({weight}, 1.0, {other})",
            f"tl.add({axis}1[:n], {low}, 1.0)",
        )
        self.inside(lines, f"{axis}0", extent)
        self.inside(lines, f"{axis}1", extent)

    def between(self, lines: Lines, axis: str, span: str, centre: str) -> None:
        """Neighbours and weights where nothing keeps places in the image.

        A coordinate of some hundreds would leave its fraction few digits. So the number of the grid
        is split in two halves of twelve bits, whose products with the span are exact, and the
        fraction is what they have beyond the neighbour. Weights of places that are no numbers are
        none either, as in PyTorch.
        """
        at, low, high = f"at_{axis}[:n]", f"{axis}0[:n]", f"{axis}1[:n]"
        weight, other = f"{axis}0_weight[:n]", f"{axis}1_weight[:n]"
        lines.add(
            f"tl.mul({low}, {at}, {2**12 + 1}.0)",
            f"tl.sub({other}, {low}, {at})",
            f"tl.sub({other}, {low}, {other})",
            f"tl.sub({at}, {at}, {other})",
            f"tl.mul({other}, {other}, {span})",
            f"tl.mul({at}, {at}, {span})",
            f"tl.add({low}, {other}, {at})",
            f"tl.add({low}, {low}, {centre})",
            f"tl.floor({low}, {low})",
            f"tl.sub({weight}, {low}, {centre})",
            f"tl.sub({other}, {other}, {weight})",
            f"tl.add({other}, {other}, {at})",
            f"tl.sub({weight}, 1.0, {other})",
        )
        self.numbers_only(lines, low, "-2.0")
        lines.add(f"tl.add({high}, {low}, 1.0)")

    def numbers_only(self, lines: Lines, view: str, instead: str) -> None:
        lines.add(
            f"tl.is_nan(odd_ones[:n], {view})",
            f"tl.select({view}, odd_ones[:n], {instead}, {view})",
        )

    def inside(self, lines: Lines, name: str, extent: str) -> None:
        """`name`_in one inside the image and zero outside; `name` moved inside."""
        place, held = f"{name}[:n]", f"{name}_in[:n]"
        lines.add(
            f"tl.maximum({place}, {place}, -2.0)",
            f"tl.minimum({place}, {place}, float({extent} + 1))",
            f"tl.sub({held}, float({extent}), {place})",
            f"tl.add(value[:n], {place}, 1.0)",
            f"tl.minimum({held}, {held}, value[:n])",
            f"tl.maximum({held}, {held}, 0.0)",
            f"tl.minimum({held}, {held}, 1.0)",
            f"tl.maximum({place}, {place}, 0.0)",
            f"tl.minimum({place}, {place}, float({extent} - 1))",
        )

    def reflect(self, lines: Lines, axis: str, extent: str) -> None:
        """Back and forth between the borders, pixels' centres or their edges."""
        at, turns, odd = f"at_{axis}[:n]", f"{axis}0[:n]", f"{axis}0_in[:n]"
        span = f"float(max(1, {extent} - 1))" if self.align else f"float({extent})"
        shift = "0.0" if self.align else "0.5"
        lines.add(
            f"tl.add({at}, {at}, {shift})",
            f"tl.abs({at}, {at})",
            f"tl.mul({turns}, {at}, 1.0 / {span})",
            f"tl.floor({turns}, {turns})",
            f"tl.axpy({at}, {turns}, -{span})",
            f"tl.mul({odd}, {turns}, 0.5)",
            f"tl.floor({odd}, {odd})",
            f"tl.axpy({turns}, {odd}, -2.0)",
            # extra + odd * (span - 2 * extra)
            f"tl.mul({odd}, {at}, -2.0)",
            f"tl.add({odd}, {odd}, {span})",
            f"tl.mul_add({at}, {odd}, {turns})",
            f"tl.sub({at}, {at}, {shift})",
        )

    # ---- channels -------------------------------------------------------------------------------
    def at_once(self, lines: Lines) -> None:
        with lines.compute():
            for row, column in self.corners:
                lines.add(
                    f"tl.sub(value[:n], y{row}[:n], float(top))",
                    f"tl.mul(side[:n], y{row}_in[:n], x{column}_in[:n])",
                )
                self.place(lines, row, column, "room")
        with lines.block("for c in range(lower, upper)"):
            lines.add("plane = image * channels + c")
            with lines.copyin():
                lines.add(
                    "tl.load(x + (plane * height + top) * width, rows[: held * width], again=True)"
                )
            with lines.compute():
                lines.add("tl.fill(rows[room : room + 8], 0.0)")
                self.mix(lines, "rows[: room + 8]", "result")
            with lines.copyout():
                lines.add("tl.store(y + plane * total + start, result[:n])")

    def in_bands(self, lines: Lines) -> None:
        lines.add("tall = band // width")
        with lines.block("for c in range(lower, upper)"):
            lines.add("plane = image * channels + c")
            with lines.compute():
                lines.add("tl.fill(sum[:n], 0.0)")
            with lines.block("for b in range(tl.cdiv(held, tall))"):
                lines.add("begin = top + b * tall", "here = min(tall, top + held - begin)")
                with lines.copyin():
                    lines.add(
                        "tl.load(x + (plane * height + begin) * width, some[: here * width], "
                        "again=True)"
                    )
                with lines.compute():
                    lines.add("tl.fill(some[band : band + 8], 0.0)")
                    for row, column in self.corners:
                        self.in_band(lines, row, column)
                    self.mix(lines, "some[: band + 8]", "at_x")
                    lines.add("tl.add(sum[:n], sum[:n], at_x[:n])")
            with lines.copyout():
                lines.add("tl.store(y + plane * total + start, sum[:n])")

    def in_band(self, lines: Lines, row: int, column: int) -> None:
        """Rows outside the band are taken for rows outside the image."""
        lines.add(
            f"tl.sub(side[:n], y{row}[:n], float(begin - 1))",
            f"tl.sub(value[:n], float(begin + here), y{row}[:n])",
            "tl.minimum(side[:n], side[:n], value[:n])",
            "tl.maximum(side[:n], side[:n], 0.0)",
            "tl.minimum(side[:n], side[:n], 1.0)",
            f"tl.mul(side[:n], side[:n], y{row}_in[:n])",
            f"tl.mul(side[:n], side[:n], x{column}_in[:n])",
            f"tl.sub(value[:n], y{row}[:n], float(begin))",
        )
        self.place(lines, row, column, "band")

    def place(self, lines: Lines, row: int, column: int, zero: str) -> None:
        """Where the neighbour stands: `value` rows down where `side` is one, else at the zero."""
        lines.add(
            "tl.mul(value[:n], value[:n], float(width))",
            f"tl.add(value[:n], value[:n], x{column}[:n])",
            f"tl.sub(value[:n], value[:n], float({zero}))",
            "tl.mul(value[:n], value[:n], side[:n])",
            f"tl.add(value[:n], value[:n], float({zero}))",
            f'tl.cast(index{row}{column}[:n], value[:n], round="rint")',
        )

    def mix(self, lines: Lines, source: str, result: str) -> None:
        """The weighted sum of the neighbours."""
        if self.nearest:
            lines.add(f"tl.gather({result}[:n], {source}, index00[:n])")
            return
        for row, target in enumerate((result, "side")):
            for column, into in enumerate((target, "value")):
                lines.add(
                    f"tl.gather({into}[:n], {source}, index{row}{column}[:n])",
                    f"tl.mul({into}[:n], {into}[:n], x{column}_weight[:n])",
                )
            lines.add(
                f"tl.add({target}[:n], {target}[:n], value[:n])",
                f"tl.mul({target}[:n], {target}[:n], y{row}_weight[:n])",
            )
        lines.add(f"tl.add({result}[:n], {result}[:n], side[:n])")
