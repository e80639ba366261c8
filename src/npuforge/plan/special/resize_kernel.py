# SPDX-License-Identifier: Apache-2.0
"""The kernel of a resize operation."""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.plan.special.lines import Lines
from npuforge.plan.special.resize_axis import Axis, Resize


def parameters(resize: Resize) -> list[str]:
    """What the kernel takes beside the two tensors."""
    names = ["tiles", "per_core", "groups", "chunks", "slices", "group", "strips", "cols", "blocks"]
    names += ["span_w", "span_h"] + ([] if resize.flat else ["rows_out"])
    for axis in (resize.depth, resize.height, resize.width):
        if axis.plain and axis.name != "w":
            continue
        names += [f"source_{axis.name}", f"results_{axis.name}", f"scale_{axis.name}"]
        if axis.kind == "antialias":
            names += [f"taps_{axis.name}", f"support_{axis.name}", f"narrow_{axis.name}"]
    return names


def kernel_text(resize: Resize) -> str:
    """The text of the kernel, less its decorator."""
    return _Kernel(resize).text()


class _Kernel:
    def __init__(self, resize: Resize) -> None:
        self.resize = resize
        self.lines = Lines()

    def text(self) -> str:
        resize, lines = self.resize, self.lines
        names = ", ".join(("x", "y", *parameters(resize)))
        with lines.block(f"def {resize.name}({names})"):
            self.buffers()
            lines.add(
                "first = tl.program_id(0) * per_core",
                "count = min(per_core, tiles - first)",
                "built = -1",
                "filled = 0",
            )
            if resize.flat or resize.width.kind == "antialias":
                with lines.compute():
                    lines.add("tl.fill(turned, 0.0)")
            with lines.block("for t in range(count)"):
                self.tile()
        return lines.text()

    # ---- memory ---------------------------------------------------------------------------------
    def buffers(self) -> None:
        resize = self.resize
        held = "group * span_h"
        if resize.height.kind == "antialias":
            held = "span_h + 1"  # with a row of zeros
        self.allocate("loaded", f"{held}, span_w", resize.x.dtype)
        if resize.widens:
            self.allocate("source", f"{held}, span_w")
            if resize.x.dtype != "float32" and not resize.depth.plain:
                self.allocate("mixed", "group * span_h, span_w")
        if not resize.flat:
            self.allocate("stretched", "strips * 8, blocks * 8")
            if resize.height.taps != 1:
                self.allocate("row_tap", "strips * 8, blocks * 8")
        turned = "blocks * 8 + 1" if resize.width.kind == "antialias" else "blocks * 8"
        self.allocate("turned", f"{turned}, strips * 8")
        self.allocate("spread", "cols, strips * 8")
        if resize.width.taps != 1:
            self.allocate("col_tap", "cols, strips * 8")
        self.allocate("result", "strips * 8, cols", "float32")
        if resize.y.dtype != "float32":
            self.allocate("narrow", "strips * 8, cols", resize.y.dtype)
        for axis in resize.gathered:
            length, entries = self.lengths(axis)
            taps = self.taps(axis)
            self.allocate(f"from_{axis.name}", f"{taps}, {entries}", "int32")
            if axis.taps != 1:
                self.allocate(f"weight_{axis.name}", f"{taps}, {length}")
                self.allocate(f"spare_{axis.name}", length)
            for name in ("place", "low"):
                self.allocate(f"{name}_{axis.name}", entries)
            self.allocate(f"row_{axis.name}", entries)
            if axis.kind == "antialias":
                self.allocate(f"end_{axis.name}", entries)
                self.allocate(f"choice_{axis.name}", entries)

    def allocate(self, name: str, shape: str, dtype: str = "float32") -> None:
        shape = f"({shape})" if "," in shape else shape
        self.lines.add(f"{name} = tl.alloc_ub({shape}, dtype=tl.{dtype})")

    def lengths(self, axis: Axis) -> tuple[str, str]:
        """Rows of the gathered tile, and its blocks."""
        if axis.name == "h":
            return "strips * 8", "strips * 8 * blocks"
        return "cols", "cols * strips"

    def taps(self, axis: Axis) -> str:
        return f"taps_{axis.name}" if axis.taps is None else str(axis.taps)

    # ---- one tile -------------------------------------------------------------------------------
    def tile(self) -> None:
        resize, lines = self.resize, self.lines
        lines.add(
            "region = (first + t) // groups",
            "slice = (first + t) % groups * group",
            "held = min(group, slices - slice)",
            "left = region % chunks * cols",
            "n = min(cols, results_w - left)",
        )
        self.origin(resize.width, "left", "span_w", "edge")
        if resize.flat:
            lines.add("rows = held")
        else:
            lines.add(
                "top = region // chunks * rows_out",
                "rows_here = min(rows_out, results_h - top)",
                "rows = rows_here if group == 1 else held * rows_out",
            )
            self.origin(resize.height, "top", "span_h", "upper")
        with lines.block("if region != built or held != filled"):
            lines.add("built = region", "filled = held")
            with lines.compute():
                for axis in resize.gathered:
                    self.table(axis)
        self.load()
        with lines.compute():
            self.stretch()
            lines.add("tl.transpose(result[:rows, :n], spread[:n, :rows])")
            stored = "result"
            if resize.y.dtype != "float32":
                lines.add('tl.cast(narrow[:rows, :n], result[:rows, :n], round="rint")')
                stored = "narrow"
        place = "slice" if resize.flat else "(slice * results_h + top)"
        with lines.copyout():
            place = f"y + {place} * results_w + left"
            lines.store_rows(place, stored, ":rows", "n", "results_w", resize.y.dtype)

    def origin(self, axis: Axis, result: str, span: str, target: str) -> None:
        """The first element of the source that the region needs, so that a whole span is there."""
        first = axis.first_text(result)
        self.lines.add(f"{target} = max(0, min({first} - 1, source_{axis.name} - {span}))")

    def table(self, axis: Axis) -> None:
        """Places of blocks and weights for the region."""
        lines, name = self.lines, axis.name
        rows, _ = self.lengths(axis)
        each = "blocks" if name == "h" else "strips"
        place, low, row = f"place_{name}", f"low_{name}", f"row_{name}"
        first, last = ("top", "rows_here") if name == "h" else ("left", "n")
        # Entry i is block i % each of row i // each; rows beyond the last repeat it.
        lines.add(
            f"tl.iota({row}, 0.5, 1.0)",
            f"tl.mul({place}, {row}, 1.0 / float({each}))",
            f"tl.floor({place}, {place})",
            f"tl.mul({low}, {place}, float({each}))",
            f"tl.sub({row}, {row}, {low})",
            f"tl.sub({row}, {row}, 0.5)",
        )
        if name == "h":  # rows of several planes: those of plane p lie p * span_h further down
            lines.add(
                f"tl.add({low}, {place}, 0.5)",
                f"tl.mul({low}, {low}, 1.0 / float(rows_out))",
                f"tl.floor({low}, {low})",
                f"tl.minimum({low}, {low}, float(held - 1))",
                f"tl.axpy({place}, {low}, -float(rows_out))",
                f"tl.axpy({row}, {low}, float(span_h * blocks))",
            )
        lines.add(
            f"tl.add({place}, {place}, float({first}))",
            f"tl.minimum({place}, {place}, float({first} + {last} - 1))",
        )
        axis.coordinates(lines, place, low)
        edge, empty = ("upper", "span_h") if name == "h" else ("edge", "blocks * 8")
        if axis.kind == "antialias":
            lines.add(
                f"tl.add(end_{name}, {place}, support_{name} + 0.5)",
                f"tl.floor(end_{name}, end_{name})",
                f"tl.minimum(end_{name}, end_{name}, float(source_{name}))",
            )
        for tap in self.each_tap(axis):
            axis.element(lines, place, low, tap)
            lines.add(f"tl.sub({place}, {place}, float({edge}))")
            if axis.kind == "antialias":
                axis.nothing_beyond(lines, place, low, f"end_{name}", empty)
            lines.add(
                f"tl.mul({place}, {place}, float({each}))",
                f"tl.add({place}, {place}, {row})",
                f'tl.cast(from_{name}[{tap}, :], {place}, round="rint")',
            )
        if axis.taps != 1:
            self.weights(axis, rows, first, last)

    def each_tap(self, axis: Axis) -> Iterator[str]:
        """Taps to write out, in a loop where their number is not known."""
        if axis.taps is None:
            with self.lines.block(f"for j in range(taps_{axis.name})"):
                yield "j"
        else:
            yield from map(str, range(axis.taps))

    def weights(self, axis: Axis, rows: str, first: str, last: str) -> None:
        lines, name = self.lines, axis.name
        place, low = f"place_{name}[:{rows}]", f"low_{name}[:{rows}]"
        lines.add(f"tl.iota({place}, 0.0, 1.0)")
        if name == "h":
            lines.add(
                f"tl.add({low}, {place}, 0.5)",
                f"tl.mul({low}, {low}, 1.0 / float(rows_out))",
                f"tl.floor({low}, {low})",
                f"tl.axpy({place}, {low}, -float(rows_out))",
            )
        lines.add(
            f"tl.add({place}, {place}, float({first}))",
            f"tl.minimum({place}, {place}, float({first} + {last} - 1))",
        )
        axis.coordinates(lines, place, low)
        axis.weights(lines, place, low, lambda tap: f"weight_{name}[{tap}, :]", f"spare_{name}")

    # ---- data -----------------------------------------------------------------------------------
    def load(self) -> None:
        resize, lines = self.resize, self.lines
        if resize.flat:
            with lines.copyin():
                lines.add("tl.load(x + slice * source_w + edge, loaded[:held, :], stride=source_w)")
            self.widen("held")
            return
        if resize.depth.plain:
            with lines.copyin():
                lines.add(
                    "tl.load(x + (slice * source_h + upper) * source_w + edge, "
                    "loaded[:held * span_h, :], stride=source_w)"
                )
            self.widen("held * span_h")
            return
        self.load_slices()

    def widen(self, rows: str) -> None:
        if self.resize.widens:
            with self.lines.compute():
                self.lines.add(f"tl.cast(source[:{rows}, :], loaded[:{rows}, :])")

    def load_slices(self) -> None:
        """Slices of a volume, mixed as they come."""
        resize, lines = self.resize, self.lines
        depth = resize.depth
        lines.add(
            "level = slice % results_d",
            f"deep = {depth.scalar_text('level', 'scale_d')}",
            "shallow = min(int(deep), source_d - 1)",
            "mix = deep - float(shallow)",
        )
        for tap in range(depth.taps or 1):
            where = "shallow" if tap == 0 else "min(shallow + 1, source_d - 1)"
            with lines.copyin():
                lines.add(
                    f"plane = slice // results_d * source_d + {where}",
                    "tl.load(x + (plane * source_h + upper) * source_w + edge, "
                    "loaded[:span_h, :], stride=source_w, again=True)",
                )
            with lines.compute():
                narrow = resize.x.dtype != "float32"
                if depth.taps == 1:
                    lines.add(f"tl.{'cast' if narrow else 'copy'}(source, loaded)")
                elif tap == 0:
                    weight = "1.0 - mix"
                    lines.add(*self.scaled("source", weight, narrow))
                else:
                    lines.add(*self.added("source", "mix", narrow))

    def scaled(self, target: str, weight: str, narrow: bool) -> list[str]:
        if narrow:
            return [f"tl.cast({target}, loaded)", f"tl.mul({target}, {target}, {weight})"]
        return [f"tl.mul({target}, loaded, {weight})"]

    def added(self, target: str, weight: str, narrow: bool) -> list[str]:
        if narrow:
            return ["tl.cast(mixed, loaded)", f"tl.axpy({target}, mixed, {weight})"]
        return [f"tl.axpy({target}, loaded, {weight})"]

    def stretch(self) -> None:
        """Rows, then columns."""
        resize, lines = self.resize, self.lines
        source = "source" if resize.widens else "loaded"
        if resize.flat:
            lines.add(f"tl.transpose(turned[:span_w, :held], {source}[:held, :])")
        else:
            if resize.height.kind == "antialias":
                lines.add(f"tl.fill({source}[span_h : span_h + 1, :], 0.0)")
            self.gather(resize.height, "stretched", "row_tap", source)
            lines.add("tl.transpose(turned[: blocks * 8, :], stretched)")
        self.gather(resize.width, "spread", "col_tap", "turned")

    def gather(self, axis: Axis, target: str, tap: str, source: str) -> None:
        lines, name = self.lines, axis.name
        if axis.taps == 1:
            lines.add(f"tl.gather_blocks({target}, {source}, from_{name}[0, :])")
            return
        if axis.taps is None:
            lines.add(f"tl.fill({target}, 0.0)")
            with lines.block(f"for j in range(taps_{name})"):
                self.add_tap(name, target, tap, source, "j")
            return
        lines.add(f"tl.gather_blocks({target}, {source}, from_{name}[0, :])")
        lines.add(f"tl.mul({target}, {target}, weight_{name}[0, :, None])")
        for number in range(1, axis.taps):
            self.add_tap(name, target, tap, source, str(number))

    def add_tap(self, name: str, target: str, tap: str, source: str, number: str) -> None:
        self.lines.add(
            f"tl.gather_blocks({tap}, {source}, from_{name}[{number}, :])",
            f"tl.mul({tap}, {tap}, weight_{name}[{number}, :, None])",
            f"tl.add({target}, {target}, {tap})",
        )
