# SPDX-License-Identifier: Apache-2.0
"""The axes of a resize operation, and kernel text for the source elements and weights of each.

Tables are vectors over the results of the axis. `place` holds results' numbers and becomes their
coordinates in the source; `low` is the first element of the source that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npuforge.plan.special.lines import Lines
from npuforge.plan.values import Tensor
from npuforge.spec.size import Size

_CUBIC = -0.75  # the slope PyTorch takes


@dataclass(frozen=True)
class Axis:
    """One axis; `name` stands in the names of its numbers in the kernel."""

    name: str
    kind: str
    source: Size
    results: Size
    align: bool
    factor: float | None

    @property
    def plain(self) -> bool:
        """Does the axis stay as it is?"""
        return self.source == self.results and self.factor in (None, 1.0)

    @property
    def taps(self) -> int | None:
        """Elements of the source that one result takes; None where the sizes decide."""
        return {"nearest": 1, "nearest_exact": 1, "linear": 2, "cubic": 4}.get(self.kind)

    @property
    def before(self) -> int:
        """How far the first of them stands before the coordinate."""
        return 1 if self.kind == "cubic" else 0

    def step_text(self, source: str, results: str) -> str:
        """Elements of the source from result to result, for the host."""
        if self.align:
            return f"float({source} - 1) / float(max(1, {results} - 1))"
        if self.factor is not None:
            return repr(1.0 / self.factor)
        return f"float({source}) / float({results})"

    @property
    def centred(self) -> bool:
        return not self.align and self.kind != "nearest"

    def scalar_text(self, result: str, scale: str) -> str:
        """The coordinate of one result, as a scalar expression."""
        if not self.centred:
            return f"float({result}) * {scale}"
        if self.kind == "nearest_exact":
            return f"(float({result}) + 0.5) * {scale}"
        inner = f"(float({result}) + 0.5) * {scale} - 0.5"
        return f"max({inner}, 0.0)" if self.kind == "linear" else inner

    def first_text(self, result: str) -> str:
        """No result from this one on takes an element before that."""
        scale = f"scale_{self.name}"
        if self.kind == "antialias":
            return f"int(max((float({result}) + 0.5) * {scale} - support_{self.name}, 0.0))"
        coordinate = f"int({self.scalar_text(result, scale)})"
        return coordinate if self.before == 0 else f"{coordinate} - {self.before}"

    # ---- vectors --------------------------------------------------------------------------------
    def coordinates(self, lines: Lines, place: str, low: str) -> None:
        """`place` from numbers of results to coordinates, `low` to the element at or below."""
        scale = f"scale_{self.name}"
        if self.exact:
            self._exact_coordinates(lines, place, low)
            return
        if self.centred:
            lines.add(f"tl.add({place}, {place}, 0.5)")
        lines.add(f"tl.mul({place}, {place}, {scale})")
        if self.kind == "antialias":
            lines.add(
                f"tl.sub({low}, {place}, support_{self.name} - 0.5)",
                f"tl.floor({low}, {low})",
                f"tl.maximum({low}, {low}, 0.0)",
            )
            return
        if self.centred and self.kind != "nearest_exact":
            lines.add(f"tl.sub({place}, {place}, 0.5)")
        if self.centred and self.kind == "linear":
            lines.add(f"tl.maximum({place}, {place}, 0.0)")
        lines.add(f"tl.floor({low}, {place})")

    @property
    def exact(self) -> bool:
        """Is a coordinate a quotient of whole numbers, with its fraction to be kept exactly?

        Cubic weights of far elements are small differences: they show the rounding of a coordinate
        of some hundreds.
        """
        return self.kind == "cubic" and (self.align or self.factor is None)

    def _exact_coordinates(self, lines: Lines, place: str, low: str) -> None:
        """`place` becomes the fraction alone: what is left of a numerator over the denominator."""
        source, results = f"source_{self.name}", f"results_{self.name}"
        if self.align:
            times, plus, under = f"{source} - 1", "0", f"max(1, {results} - 1)"
        else:
            times, plus, under = f"2 * {source}", f"{source} - {results}", f"2 * {results}"
        lines.add(
            f"tl.mul({place}, {place}, float({times}))",
            f"tl.add({place}, {place}, float({plus}))",
            f"tl.add({low}, {place}, 0.5)",
            f"tl.mul({low}, {low}, 1.0 / float({under}))",
            f"tl.floor({low}, {low})",
            f"tl.axpy({place}, {low}, -float({under}))",
            f"tl.mul({place}, {place}, 1.0 / float({under}))",
        )

    def element(self, lines: Lines, target: str, low: str, tap: str) -> None:
        """The element of the source that tap number `tap` takes."""
        last = f"float(source_{self.name} - 1)"
        shift = f"float({tap})" if self.before == 0 else f"float({tap} - {self.before})"
        lines.add(f"tl.add({target}, {low}, {shift})", f"tl.minimum({target}, {target}, {last})")
        if self.before:
            lines.add(f"tl.maximum({target}, {target}, 0.0)")

    def nothing_beyond(self, lines: Lines, place: str, low: str, flag: str, empty: str) -> None:
        """Send taps behind the last one that counts to row `empty`, which holds zeros.

        `flag` is a vector with the end of the window; a weight of zero alone would make NaN of an
        infinite element there.
        """
        lines.add(
            f"tl.sub(choice_{self.name}, {flag}, {low})",
            f"tl.sub(choice_{self.name}, choice_{self.name}, float(j))",
            f"tl.maximum(choice_{self.name}, choice_{self.name}, 0.0)",
            f"tl.minimum(choice_{self.name}, choice_{self.name}, 1.0)",
            f"tl.sub({place}, {place}, float({empty}))",
            f"tl.mul({place}, {place}, choice_{self.name})",
            f"tl.add({place}, {place}, float({empty}))",
        )

    def weights(
        self, lines: Lines, place: str, low: str, row: Callable[[str], str], spare: str
    ) -> None:
        """Weights of all taps into the views that `row` names; `spare` is a vector."""
        if self.kind == "linear":
            lines.add(f"tl.sub({row('1')}, {place}, {low})")
            lines.add(f"tl.sub({row('0')}, 1.0, {row('1')})")
        elif self.kind == "cubic":
            self._cubic_weights(lines, place, low, row, spare)
        elif self.kind == "antialias":
            self._hat_weights(lines, place, low, row, spare)

    def _cubic_weights(
        self, lines: Lines, place: str, low: str, row: Callable[[str], str], spare: str
    ) -> None:
        """With the fraction t and s = 1 - t, products whose factors do not cancel."""
        if not self.exact:
            lines.add(f"tl.sub({place}, {place}, {low})")
        lines.add(f"tl.sub({low}, 1.0, {place})")
        for t, s, far, near in ((place, low, row("0"), row("1")), (low, place, row("3"), row("2"))):
            lines.add(
                # a * t * s * s
                f"tl.mul({far}, {s}, {s})",
                f"tl.mul({far}, {far}, {t})",
                f"tl.mul({far}, {far}, {_CUBIC})",
                # s * (1 + t - (a + 2) * t * t)
                f"tl.mul({spare}, {t}, {t})",
                f"tl.mul({spare}, {spare}, {-(_CUBIC + 2)})",
                f"tl.add({spare}, {spare}, {t})",
                f"tl.add({spare}, {spare}, 1.0)",
                f"tl.mul({near}, {s}, {spare})",
            )

    def _hat_weights(
        self, lines: Lines, place: str, low: str, row: Callable[[str], str], spare: str
    ) -> None:
        """One minus the distance, none beyond the end of the source; the sum is one."""
        name, taps = self.name, f"taps_{self.name}"
        weight = row("j")
        with lines.block(f"for j in range({taps})"):
            lines.add(
                f"tl.sub({weight}, {low}, {place})",
                f"tl.add({weight}, {weight}, float(j) + 0.5)",
                f"tl.mul({weight}, {weight}, narrow_{name})",
                f"tl.abs({weight}, {weight})",
                f"tl.sub({weight}, 1.0, {weight})",
                f"tl.maximum({weight}, {weight}, 0.0)",
                f"tl.sub({spare}, float(source_{name} - j), {low})",
                f"tl.maximum({spare}, {spare}, 0.0)",
                f"tl.minimum({spare}, {spare}, 1.0)",
                f"tl.mul({weight}, {weight}, {spare})",
            )
        lines.add(f"tl.copy({spare}, {row('0')})")
        with lines.block(f"for j in range(1, {taps})"):
            lines.add(f"tl.add({spare}, {spare}, {weight})")
        with lines.block(f"for j in range({taps})"):
            lines.add(f"tl.div({weight}, {weight}, {spare})")


@dataclass(frozen=True)
class Resize:
    """The operation: planes of a volume; `height` is plain where rows stand for themselves."""

    name: str
    x: Tensor
    y: Tensor
    slices: Size
    depth: Axis
    height: Axis
    width: Axis

    @property
    def flat(self) -> bool:
        return self.height.plain

    @property
    def gathered(self) -> list[Axis]:
        """The axes with tables."""
        return [self.width] if self.flat else [self.height, self.width]

    @property
    def widens(self) -> bool:
        """Are loaded rows worked on in another tile first?"""
        return self.x.dtype != "float32" or not self.depth.plain
