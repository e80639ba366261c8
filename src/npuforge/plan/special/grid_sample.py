# SPDX-License-Identifier: Apache-2.0
"""Images sampled at places that a grid gives.

For a chunk of places the four neighbours and their weights are found once and serve all channels.
The rows of the source between the highest and the lowest of them are loaded, channel by channel,
and gathered from. Where so many rows do not fit, they are worked on in bands: weights of neighbours
outside a band count as zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.special.lines import Lines

_MOST_POINTS = 768
_POINT_BYTES = 96  # what a place takes in tables
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
        f"{p}band = max({_BAND}, {p}width)",
        f"# {_POINT_BYTES} bytes for a place; the rest holds rows of the source, twice.",
        f"{p}free = tl.ub_bytes() - {_SPARE} - 8 * {p}band - {_POINT_BYTES} * {p}points",
        f"{p}room = min({p}height * {p}width, {p}free // 8)",
        f"{p}tiles = {p}images * {p}chunks * {p}parts",
        f"{p}cores = max(1, min(tl.num_cores(), {p}tiles))",
        f"{p}per_core = tl.cdiv({p}tiles, {p}cores)",
    )
    arguments = ", ".join([x.name, grid.name, y.name, *(p + name for name in _PARAMETERS)])
    lines.add(f"{job.name}[{p}cores]({arguments})")
    sizes = [images, channels, height, width, y.shape[2], y.shape[3]]
    sampling = _Sampling(job.name, data["mode"] == "nearest", data["padding"], data["align"])
    return [Launch(sampling.text(), lines.found, sizes)]


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
                floats += [f"{axis}{place}", f"{axis}{place}_weight"]
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
            "rows = tl.alloc_ub(room, dtype=tl.float32)",
            "some = tl.alloc_ub(band, dtype=tl.float32)",
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
        weight = f"{axis}0_weight[:n]"
        lines.add(f"tl.add({at}, {at}, 1.0)")
        if self.align:
            lines.add(f"tl.mul({at}, {at}, 0.5 * float({extent} - 1))")
        else:
            lines.add(f"tl.mul({at}, {at}, float({extent}))", f"tl.sub({at}, {at}, 1.0)")
            lines.add(f"tl.mul({at}, {at}, 0.5)")
        if self.padding == "reflection":
            self.reflect(lines, axis, extent)
        low_end, high_end = ("-2.0", f"float({extent} + 1)")
        if self.padding != "zeros":
            low_end, high_end = "0.0", f"float({extent} - 1)"
        lines.add(f"tl.maximum({at}, {at}, {low_end})", f"tl.minimum({at}, {at}, {high_end})")
        if self.nearest:
            lines.add(f"tl.round({low}, {at})")
            self.inside(lines, low, weight, extent)
        else:
            high, other = f"{axis}1[:n]", f"{axis}1_weight[:n]"
            lines.add(
                f"tl.floor({low}, {at})",
                f"tl.add({high}, {low}, 1.0)",
                f"tl.sub({at}, {at}, {low})",
            )
            self.inside(lines, low, weight, extent)
            self.inside(lines, high, other, extent)
            lines.add(
                f"tl.mul({other}, {other}, {at})",
                f"tl.sub({at}, 1.0, {at})",
                f"tl.mul({weight}, {weight}, {at})",
            )

    def inside(self, lines: Lines, place: str, weight: str, extent: str) -> None:
        """`weight` one inside the image and zero outside; `place` moved inside."""
        lines.add(
            f"tl.sub({weight}, float({extent}), {place})",
            f"tl.add(value[:n], {place}, 1.0)",
            f"tl.minimum({weight}, {weight}, value[:n])",
            f"tl.maximum({weight}, {weight}, 0.0)",
            f"tl.minimum({weight}, {weight}, 1.0)",
            f"tl.maximum({place}, {place}, 0.0)",
            f"tl.minimum({place}, {place}, float({extent} - 1))",
        )

    def reflect(self, lines: Lines, axis: str, extent: str) -> None:
        """Back and forth between the borders, pixels' centres or their edges."""
        at, turns, odd = f"at_{axis}[:n]", f"{axis}0[:n]", f"{axis}0_weight[:n]"
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
                    "tl.mul(value[:n], value[:n], float(width))",
                    f"tl.add(value[:n], value[:n], x{column}[:n])",
                    f'tl.cast(index{row}{column}[:n], value[:n], round="rint")',
                )
        with lines.block("for c in range(lower, upper)"):
            lines.add("plane = image * channels + c")
            with lines.copyin():
                lines.add(
                    "tl.load(x + (plane * height + top) * width, rows[: held * width], again=True)"
                )
            with lines.compute():
                source = "rows[: held * width]"
                for row in sorted({row for row, _ in self.corners}):
                    target = "result" if row == 0 else "side"
                    columns = [column for r, column in self.corners if r == row]
                    for column in columns:
                        into = target if column == 0 else "value"
                        lines.add(
                            f"tl.gather({into}[:n], {source}, index{row}{column}[:n])",
                            f"tl.mul({into}[:n], {into}[:n], x{column}_weight[:n])",
                        )
                    if len(columns) > 1:
                        lines.add(f"tl.add({target}[:n], {target}[:n], value[:n])")
                    lines.add(f"tl.mul({target}[:n], {target}[:n], y{row}_weight[:n])")
                if not self.nearest:
                    lines.add("tl.add(result[:n], result[:n], side[:n])")
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
                    for row, column in self.corners:
                        self.band_corner(lines, row, column)
            with lines.copyout():
                lines.add("tl.store(y + plane * total + start, sum[:n])")

    def band_corner(self, lines: Lines, row: int, column: int) -> None:
        lines.add(
            # One where the row is in the band, zero elsewhere.
            f"tl.sub(side[:n], y{row}[:n], float(begin - 1))",
            f"tl.sub(value[:n], float(begin + here), y{row}[:n])",
            "tl.minimum(side[:n], side[:n], value[:n])",
            "tl.maximum(side[:n], side[:n], 0.0)",
            "tl.minimum(side[:n], side[:n], 1.0)",
            f"tl.mul(side[:n], side[:n], y{row}_weight[:n])",
            f"tl.mul(side[:n], side[:n], x{column}_weight[:n])",
            f"tl.sub(value[:n], y{row}[:n], float(begin))",
            "tl.maximum(value[:n], value[:n], 0.0)",
            "tl.minimum(value[:n], value[:n], float(here - 1))",
            "tl.mul(value[:n], value[:n], float(width))",
            f"tl.add(value[:n], value[:n], x{column}[:n])",
            'tl.cast(index00[:n], value[:n], round="rint")',
            "tl.gather(value[:n], some[: here * width], index00[:n])",
            "tl.mul_add(sum[:n], value[:n], side[:n])",
        )
