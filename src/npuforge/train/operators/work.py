# SPDX-License-Identifier: Apache-2.0
"""Work on values of one shape: element-wise steps, statistics along axes and what is done with
them, masks. Any order of such steps is an operator, and most orders are one nobody wrote down."""

from __future__ import annotations

from npuforge.train.operators.axes import folded, some_axes, spelled
from npuforge.train.operators.masks import mask
from npuforge.train.operators.sketch import Sketch
from npuforge.train.operators.tables import tables

_MOST_STATISTICS = 3  # those along different axes each take passes of their own


class Work:
    """`value` is what the next step takes; every step makes it anew, or adds a statistic. `steady`
    is how often a statistic goes along the axes of the one before."""

    def __init__(self, sketch: Sketch, shape: list[int], inputs: int, steady: float) -> None:
        self.sketch, self.shape, self.dtype = sketch, shape, sketch.float_type()
        self.values = [sketch.tensor(shape, self.dtype) for _ in range(inputs)]
        self.steady = steady
        self.statistics: list[str] = []  # with their axes kept, so that they fit any value
        self.axes = some_axes(sketch.rng, len(shape))
        self.waiting = self.values[:-1]  # inputs that nothing has read yet

    @property
    def value(self) -> str:
        return self.values[-1]

    def other(self) -> str:
        """A second value: an input that waits, an earlier one, or now and then a new input."""
        rng = self.sketch.rng
        if self.waiting:
            return self.waiting.pop()
        if len(self.values) > 1 and rng.random() < 0.7:
            return rng.choice(self.values[:-1])
        return self.sketch.tensor(self.narrowed(), self.dtype)

    def narrowed(self) -> list[int]:
        """The shape, or one that is spread over it: of a row, of a column, of some axes."""
        rng = self.sketch.rng
        kind = rng.random()
        if kind < 0.35:
            return self.shape
        if kind < 0.7:
            return self.shape[-1:]
        if kind < 0.85:
            return [*self.shape[:-1], 1]
        kept = rng.randrange(len(self.shape))
        return [extent if axis == kept else 1 for axis, extent in enumerate(self.shape)][kept:]

    def put(self, template: str, **names: object) -> None:
        """The value by a template, in which {b} is another value."""
        if "{b}" in template:
            names["b"] = self.other()
        self.values.append(self.sketch.let(self.sketch.fill(template, a=self.value, **names)))

    def pointwise(self) -> None:
        rng, offered = self.sketch.rng, tables().calm
        self.put(
            rng.choice(offered.binary if self.waiting or rng.random() < 0.4 else offered.unary)
        )

    def along(self) -> str:
        """Axes, written down; those of the statistic before more often than others."""
        rng = self.sketch.rng
        if rng.random() > self.steady:
            self.axes = some_axes(rng, len(self.shape))
        return spelled(rng, self.axes, len(self.shape))

    def statistic(self, *, keep: bool = True) -> str:
        """A number for each place of the axes that are left, of one value or of two."""
        rng, offered = self.sketch.rng, tables().statistic
        axes = self.along()
        names: dict[str, object] = {"a": self.value, "d": axes, "keep": keep}
        kind = rng.random()
        if self.statistics and kind < 0.2:
            template, names["s"] = rng.choice(offered.after), self.statistics[-1]
        elif kind < 0.45:
            template, names["b"] = rng.choice(offered.pair), self.other()
        elif kind < 0.6:
            template = rng.choice(offered.masked)
            names["m"] = mask(self.sketch, self.shape, self.value, self.dtype)
        else:
            template = rng.choice(offered.one)
        return self.sketch.let(self.sketch.fill(template, **names))

    def measured(self) -> None:
        """A statistic more, kept for later; now and then two become one."""
        rng = self.sketch.rng
        if len(self.statistics) >= _MOST_STATISTICS:
            return
        self.statistics.append(self.statistic())
        if len(self.statistics) > 1 and rng.random() < 0.3:
            one, two = rng.sample(self.statistics, 2)
            template = rng.choice(tables().statistic.joined)
            self.statistics.append(self.sketch.let(self.sketch.fill(template, s=one, r=two)))
        elif rng.random() < 0.25:
            template = rng.choice(tables().calm.unary)
            self.statistics[-1] = self.sketch.let(self.sketch.fill(template, a=self.statistics[-1]))

    def applied(self) -> None:
        """The value by statistics that there are."""
        rng = self.sketch.rng
        template = rng.choice(tables().statistic.applied)
        self.put(template, s=self.statistics[-1], r=rng.choice(self.statistics))

    def masked(self) -> None:
        """The value where a mask holds, and something else where it does not."""
        made = mask(self.sketch, self.shape, self.value, self.dtype)
        self.put(self.sketch.rng.choice(tables().mask.used), m=made, d=self.along_one())

    def along_one(self) -> int:
        """One axis, for what takes only one."""
        rng = self.sketch.rng
        return -1 if rng.random() < 0.7 else rng.randrange(len(self.shape))

    def again(self) -> None:
        """An earlier value added once more, as around a block of a network."""
        rng = self.sketch.rng
        earlier = rng.choice(self.values[:-1]) if len(self.values) > 1 else self.other()
        template = rng.choice(tables().calm.residual)
        self.values.append(self.sketch.let(self.sketch.fill(template, a=self.value, b=earlier)))

    def ended(self) -> list[str]:
        """Results: the value, a fold of it and of that one again, or some of what was kept."""
        rng = self.sketch.rng
        for _ in range(len(self.waiting)):
            self.put(rng.choice(tables().calm.binary))
        kind = rng.random()
        if kind < 0.4:
            if rng.random() < 0.3:
                self.pointwise()
            return [self.value]
        if kind < 0.55 and self.statistics:
            return [
                self.value,
                *rng.sample(self.statistics, rng.choice((1, min(2, len(self.statistics))))),
            ]
        keep = rng.random() < 0.35
        result = self.statistic(keep=keep)
        left = folded(self.shape, self.axes, keep=keep)
        if rng.random() < 0.5:
            template = rng.choice(tables().calm.unary)
            result = self.sketch.let(self.sketch.fill(template, a=result))
        if left and not keep and rng.random() < 0.45:  # what is left is folded again
            axes = spelled(rng, some_axes(rng, len(left)), len(left))
            template = rng.choice(tables().statistic.one)
            result = self.sketch.let(self.sketch.fill(template, a=result, d=axes, keep=False))
        return [result]
