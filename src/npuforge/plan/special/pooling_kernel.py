# SPDX-License-Identifier: Apache-2.0
"""The kernel of a pooling operation."""

from __future__ import annotations

from npuforge.plan.special.folding import Axis
from npuforge.plan.special.lines import Lines
from npuforge.plan.special.pooling_tiles import Pool

PARAMETERS = (
    "tiles", "per_core", "chunks", "cols", "span", "units", "group", "lanes", "rows_out", "spaced",
    "blocks", "depth", "out_depth", "height", "out_height", "width", "out_width",
)  # fmt: skip


def parameters(pool: Pool) -> tuple[str, ...]:
    """What the kernel takes beside the two tensors."""
    unused: set[str] = set()
    if pool.flat:
        unused |= {"rows_out", "spaced", "blocks", "height", "out_height"}
    if pool.depth.trivial:
        unused |= {"depth", "out_depth"}
    return tuple(name for name in PARAMETERS if name not in unused)


def kernel_text(pool: Pool) -> str:
    """The text of the kernel, less its decorator."""
    return _Kernel(pool).text()


class _Kernel:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.lines = Lines()

    def text(self) -> str:
        lines = self.lines
        names = ", ".join(("x", "y", *parameters(self.pool)))
        with lines.block(f"def {self.pool.name}({names})"):
            self.buffers()
            lines.add("first = tl.program_id(0) * per_core", "count = min(per_core, tiles - first)")
            self.prepare()
            with lines.block("for t in range(count)"):
                self.tile()
        return lines.text()

    # ---- memory ---------------------------------------------------------------------------------
    def buffers(self) -> None:
        pool = self.pool
        loaded = "group" if pool.flat else f"group * {self.unit_rows()}"
        self.allocate("loaded", f"{loaded}, span", pool.x.dtype)
        if not pool.direct:
            if pool.x.dtype != "float32" and pool.taps > 1:
                self.allocate("wide", f"{loaded}, span")
            self.allocate("rows", f"{self.gathered_rows()}, span")
        for name in pool.row_folding.spare:
            self.allocate(name, f"lanes + {pool.height.reach}, span")
        margin = pool.width.padding + pool.width.overhang
        turned = f"span + {margin}" if margin else "span"
        self.allocate("turned", f"{turned}, lanes")
        for name in pool.column_folding.spare:
            self.allocate(name, f"{turned if pool.dense else 'cols'}, lanes")
        self.allocate("best" if pool.op == "maximum" else "sums", "lanes, cols")
        if pool.y.dtype != "float32":
            self.allocate("result", "lanes, cols", pool.y.dtype)
        for axis, length, name in ((pool.width, "cols", "col"), (pool.height, "lanes", "row")):
            if pool.varies(axis):
                self.allocate(f"{name}_share", length)
                self.allocate(f"{name}_end", length)

    def allocate(self, name: str, shape: str, dtype: str = "float32") -> None:
        shape = f"({shape})" if "," in shape else shape
        self.lines.add(f"{name} = tl.alloc_ub({shape}, dtype=tl.{dtype})")

    def unit_rows(self) -> str:
        """Rows that a load brings for a unit."""
        height = self.pool.height
        if self.pool.by_tap:
            return "rows_out"
        return f"((rows_out - 1) * {height.stride} + {height.reach})"

    def place_of_unit(self) -> str:
        """The first row of unit u in the tile of gathered rows."""
        return _times("u * spaced", 1 if self.pool.by_tap else self.pool.height.stride)

    def gathered_rows(self) -> str:
        height = self.pool.height
        if self.pool.flat:
            return "group"
        if self.pool.by_tap:
            return "group * spaced"
        return f"group * spaced * {height.stride} + {height.reach}"

    def prepare(self) -> None:
        """What stays: borders of the turned tile, and a value for lanes that nobody asks for."""
        pool, lines = self.pool, self.lines
        with lines.compute():
            lines.add(f"tl.fill(turned, {pool.neutral})")
            if not pool.direct:
                lines.add(f"tl.fill(rows, {pool.neutral})")

    # ---- one tile -------------------------------------------------------------------------------
    def tile(self) -> None:
        pool, lines = self.pool, self.lines
        width = pool.width
        lines.add(
            "left = (first + t) % chunks * cols",
            "n = min(cols, out_width - left)",
            f"edge = {_minus(_times('left', width.stride), width.padding)}",
            "start = max(0, min(edge, width - span))",
            f"at = {_plus('edge - start', width.padding)}",
            "unit = (first + t) // chunks * group",
            "held = min(group, units - unit)",
        )
        if pool.flat:
            lines.add("lanes_used = held")
        elif pool.direct:
            lines.add("lanes_used = min(rows_out, out_height - unit % blocks * rows_out)")
        else:
            lines.add("lanes_used = held * spaced")
        if pool.taps > 1:
            with lines.block(f"for tap in range({pool.taps})"):
                self.load()
        else:
            self.load()
        with lines.compute():
            self.shares_along_depth()
            lines.add(*pool.row_folding.lines)
            turned = f"turned[{width.padding} : {width.padding} + span, :lanes_used]"
            lines.add(f"tl.transpose({turned}, {pool.row_folding.result.format(':')})")
            lines.add(*pool.column_folding.lines)
            self.divide(pool.column_folding.result.format(":"))
            folded = "best" if pool.op == "maximum" else "sums"
            back = pool.column_folding.result.format(":lanes_used")
            lines.add(f"tl.transpose({folded}[:lanes_used, :n], {back})")
            if pool.y.dtype != "float32":
                rounding = ', round="rint"'
                lines.add(f"tl.cast(result[:lanes_used, :n], {folded}[:lanes_used, :n]{rounding})")
                folded = "result"
        with lines.copyout():
            self.store(folded)

    def load(self) -> None:
        pool, lines = self.pool, self.lines
        if pool.flat:
            with lines.copyin():
                lines.add("tl.load(x + unit * width + start, loaded[:held, :], stride=width)")
            if not pool.direct:
                with lines.compute():
                    lines.add(f"tl.{self.taking()}(rows[:held, :], loaded[:held, :])")
            return
        step = pool.height.stride if pool.by_tap else 1
        overlap = ", again=True" if self.overlaps() else ""
        with lines.copyin(), lines.block("for u in range(held)"):
            self.place()
            stride = _times("width", step)
            lines.add(
                f"tl.load(x + (slice * height + row) * width + start, "
                f"loaded[u * {self.unit_rows()} : u * {self.unit_rows()} + taken, :], "
                f"stride={stride}{overlap})"
            )
        if not pool.direct:
            with lines.compute():
                self.gather()

    def overlaps(self) -> bool:
        """Are rows loaded for more than one block of results?"""
        return any(axis.reach > axis.stride for axis in (self.pool.depth, self.pool.height))

    def taking(self) -> str:
        return "copy" if self.pool.x.dtype == "float32" else "cast"

    def place(self) -> None:
        """Where the rows of unit u come from (`row` of `slice`), how many, how far down they go."""
        pool, lines = self.pool, self.lines
        height, depth = pool.height, pool.depth
        lines.add("block = (unit + u) % blocks", "slice = (unit + u) // blocks")
        rows = "min(rows_out, out_height - block * rows_out)"
        top = _minus(_times("block * rows_out", height.stride), height.padding)
        if pool.by_tap:
            tap = f"tap % {height.kernel}" if pool.depth.kernel > 1 else "tap"
            lines.add(f"top = {top} + {_times(tap, height.dilation)}")
            lines.add(f"skip = max(0, ({height.stride - 1} - top) // {height.stride})")
            last = f"(height - 1 - top) // {height.stride} + 1"
            lines.add(f"taken = max(0, min({rows}, {last}) - skip)")
            lines.add(f"row = top + {_times('skip', height.stride)}")
        else:
            lines.add(f"top = {top}", "skip = max(0, -top)", "row = top + skip")
            reach = f"({rows} - 1) * {height.stride} + {height.reach}"
            lines.add(f"taken = max(0, min({reach}, height - top) - skip)")
        if not depth.trivial:
            tap = f"tap // {height.kernel}" if pool.by_tap and height.kernel > 1 else "tap"
            if pool.depth.kernel == 1:
                tap = "0"
            place = _minus(_times("slice % out_depth", depth.stride), depth.padding)
            lines.add(f"level = {place} + {_times(tap, depth.dilation)}")
            if depth.clipped:
                lines.add("taken = taken if 0 <= level and level < depth else 0")
            lines.add("slice = slice // out_depth * depth + level")

    def gather(self) -> None:
        """Loaded rows into their places, with neutral rows where there are none."""
        pool, lines = self.pool, self.lines
        several = pool.taps > 1
        clipped = pool.depth.clipped or pool.height.clipped
        if several and clipped:
            with lines.block("if tap == 0"):
                lines.add(f"tl.fill(rows, {pool.neutral})")
        with lines.block("for u in range(held)"):
            self.place()
            source = f"[u * {self.unit_rows()} : u * {self.unit_rows()} + taken, :]"
            lines.add(f"base = {self.place_of_unit()} + skip")
            target = "rows[base : base + taken, :]"
            take = f"tl.{self.taking()}({target}, loaded{source})"
            if not several:
                if pool.height.clipped:
                    self.borders()
                lines.add(take)
                return
            combine = [f"tl.{pool.op}({target}, {target}, loaded{source})"]
            if pool.x.dtype != "float32":
                wide = f"tl.cast(wide{source}, loaded{source})"
                combine = [wide, f"tl.{pool.op}({target}, {target}, wide{source})"]
            if clipped:
                with lines.block("if taken > 0"):
                    lines.add(*combine)
                return
            with lines.block("if tap == 0"):
                lines.add(take)
            with lines.block("else"):
                lines.add(*combine)

    def borders(self) -> None:
        """Rows of the unit's place above and below what was loaded."""
        pool, lines = self.pool, self.lines
        lines.add("top = base - skip", "below = base + taken", f"end = top + {self.unit_rows()}")
        with lines.block("if skip > 0"):
            lines.add(f"tl.fill(rows[top : top + skip, :], {pool.neutral})")
        with lines.block("if below < end"):
            lines.add(f"tl.fill(rows[below : below + (end - below), :], {pool.neutral})")

    # ---- averages -------------------------------------------------------------------------------
    def shares_along_depth(self) -> None:
        pool, lines = self.pool, self.lines
        depth = pool.depth
        if not pool.varies(depth):
            return
        with lines.block("for u in range(held)"):
            place = _minus(_times("(unit + u) // blocks % out_depth", depth.stride), depth.padding)
            lines.add(f"level = {place}", f"base = {self.place_of_unit()}")
            lines.add(f"taps = {_count(depth, 'level', 'depth', pool.include)}")
            view = f"rows[base : base + {self.unit_rows()}, :]"
            lines.add(f"tl.mul({view}, {view}, 1.0 / float(taps))")

    def divide(self, result: str) -> None:
        pool, lines = self.pool, self.lines
        if pool.op == "maximum":
            return
        fixed = 1
        for axis in pool.axes:
            if not pool.varies(axis):
                fixed *= axis.kernel
        divisor = pool.divisor if pool.divisor is not None else fixed
        if divisor != 1:
            lines.add(f"tl.mul({result}, {result}, {1.0 / divisor!r})")
        if pool.varies(pool.width):
            lines.add(f"tl.iota(col_share, float(edge), {float(pool.width.stride)})")
            self.share("col", pool.width, "width")
            lines.add(f"tl.mul({result}, {result}, col_share[:n, None])")
        if pool.varies(pool.height):
            height = pool.height
            top = _minus(_times("unit % blocks * rows_out", height.stride), height.padding)
            lines.add(
                "tl.iota(row_share, 0.5, 1.0)",
                "tl.mul(row_end, row_share, 1.0 / float(spaced))",
                "tl.floor(row_end, row_end)",
                "tl.mul(row_end, row_end, float(spaced))",
                "tl.sub(row_share, row_share, row_end)",
                "tl.sub(row_share, row_share, 0.5)",
                f"tl.mul(row_share, row_share, {float(height.stride)})",
                f"tl.add(row_share, row_share, float({top}))",
            )
            self.share("row", height, "height")
            lines.add(f"tl.mul({result}, {result}, row_share)")

    def share(self, name: str, axis: Axis, extent: str) -> None:
        """From where windows begin to one over the number of their elements that count."""
        share, end = f"{name}_share", f"{name}_end"
        border = _plus(extent, axis.padding) if self.pool.include else extent
        self.lines.add(
            f"tl.add({end}, {share}, {float(axis.kernel)})",
            f"tl.minimum({end}, {end}, float({border}))",
        )
        if not self.pool.include:
            self.lines.add(f"tl.maximum({share}, {share}, 0.0)")
        self.lines.add(
            f"tl.sub({share}, {end}, {share})",
            f"tl.maximum({share}, {share}, 1.0)",
            f"tl.div({share}, 1.0, {share})",
        )

    # ---- results --------------------------------------------------------------------------------
    def store(self, folded: str) -> None:
        lines, dtype = self.lines, self.pool.y.dtype
        if self.pool.flat:
            place = "y + unit * out_width + left"
            lines.store_rows(place, folded, ":held", "n", "out_width", dtype)
            return
        with lines.block("for u in range(held)"):
            lines.add(
                "block = (unit + u) % blocks",
                "row = (unit + u) // blocks * out_height + block * rows_out",
                "rows_here = min(rows_out, out_height - block * rows_out)",
            )
            rows = "u * spaced : u * spaced + rows_here"
            place = "y + row * out_width + left"
            lines.store_rows(place, folded, rows, "n", "out_width", dtype)


def _count(axis: Axis, first: str, extent: str, include: bool) -> str:
    last = f"{first} + {axis.kernel}"
    if include:
        return f"min({last}, {_plus(extent, axis.padding)}) - {first}"
    return f"min({last}, {extent}) - max({first}, 0)"


def _times(text: str, number: int) -> str:
    return text if number == 1 else f"{text} * {number}"


def _plus(text: str, number: int) -> str:
    return text if number == 0 else f"{text} + {number}"


def _minus(text: str, number: int) -> str:
    return text if number == 0 else f"{text} - {number}"
