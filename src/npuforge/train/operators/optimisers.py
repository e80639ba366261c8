# SPDX-License-Identifier: Apache-2.0
"""Steps of optimisers with random parts: momentum, second moments, decay, clipping, averages."""

from __future__ import annotations

from npuforge.train.operators.sketch import Sketch


def optimiser(sketch: Sketch) -> list[str]:
    """A step as a function: new weights, and the new states it keeps; now and then in place."""
    return _Step(sketch).taken()


class _Step:
    """`step` is the direction that the weights take; parts change it and keep states of it."""

    def __init__(self, sketch: Sketch) -> None:
        rng = sketch.rng
        self.sketch = sketch
        self.shape = sketch.shape(rng.choice((1, 2)))
        self.dtype = rng.choice(("float32", "float32", "float16", "bfloat16"))
        self.weight, self.step = (sketch.tensor(self.shape, self.dtype) for _ in range(2))
        self.gradient = self.step
        self.states: list[tuple[str, str]] = []  # as it was, as it is now

    def taken(self) -> list[str]:
        rng, sketch = self.sketch.rng, self.sketch
        if rng.random() < 0.35:
            self.before()
        if rng.random() < 0.6:
            self.momentum()
        if rng.random() < 0.55:
            self.second_moment()
        elif rng.random() < 0.3:
            self.step = sketch.let(f"torch.sign({self.step})")
        if rng.random() < 0.3:
            self.after()
        rate: object = rng.choice((0.1, 0.01, 0.001))
        if rng.random() < 0.25:
            rate = sketch.tensor(rng.choice(([], [1])), self.dtype, "rand")
        new = sketch.let(f"{self.weight} - {rate} * {self.step}")
        if rng.random() < 0.2:  # a slower copy of the weights
            kept = rng.choice((0.5, 0.9, 0.99))
            slow = sketch.tensor(self.shape, self.dtype)
            self.states.append((slow, sketch.let(f"{slow} + {1 - kept:.2f} * ({new} - {slow})")))
        if rng.random() < 0.5 and len(self.states) < 3:  # longer ones are not learned from
            for name, value in [(self.weight, new), *self.states]:
                sketch.lines.append(f"{name}.copy_({value})")
            return [self.weight]
        return [new, *(value for _, value in self.states)]

    def before(self) -> None:
        """What is done to gradients first: decay, scaling by their length, limits."""
        rng, sketch, gradient = self.sketch.rng, self.sketch, self.gradient
        kind = rng.random()
        if kind < 0.5:
            decay = rng.choice((0.01, 0.1, 0.0005))
            text = f"{gradient} + {decay} * {self.weight}"
        elif kind < 0.7:
            text = f"{gradient} / torch.sqrt(({gradient} * {gradient}).sum() + 1.0)"
        elif kind < 0.85:
            text = f"{gradient} - {gradient}.mean(dim=-1, keepdim=True)"
        else:
            limit = rng.choice((0.5, 1.0, 2.0))
            text = f"{gradient}.clamp(-{limit}, {limit})"
        self.gradient = self.step = sketch.let(text)

    def momentum(self) -> None:
        rng, sketch = self.sketch.rng, self.sketch
        kept = rng.choice((0.9, 0.95, 0.8))
        moment = sketch.tensor(self.shape, self.dtype)
        dampened = rng.choice((f"{1 - kept:.2f}", "1.0"))
        if rng.random() < 0.3:
            new = sketch.let(f"torch.lerp({moment}, {self.gradient}, {1 - kept:.2f})")
        else:
            new = sketch.let(f"{kept} * {moment} + {dampened} * {self.gradient}")
        self.states.append((moment, new))
        kind = rng.random()
        if kind < 0.25:
            self.step = sketch.let(f"{self.gradient} + {kept} * {new}")
        elif kind < 0.4:
            self.step = sketch.let(f"{new} / {1 - kept ** rng.choice((2, 5, 10)):.4f}")
        elif kind < 0.5:  # only where the two agree
            agree = f"({new} * {self.gradient} > 0).to({new}.dtype)"
            self.step = sketch.let(f"{new} * {agree}")
        else:
            self.step = new

    def second_moment(self) -> None:
        rng, sketch, gradient = self.sketch.rng, self.sketch, self.gradient
        kept = rng.choice((0.99, 0.999, 0.9))
        second = sketch.tensor(self.shape, self.dtype, "rand")
        kind = rng.choice(("decaying", "decaying", "summed", "largest", "about", "never less"))
        if kind == "summed":
            new = sketch.let(f"{second} + {gradient} * {gradient}")
        elif kind == "largest":
            new = sketch.let(f"torch.maximum({kept} * {second}, {gradient}.abs())")
        elif kind == "about":  # about the direction taken
            off = sketch.let(f"{gradient} - {self.step}")
            new = sketch.let(f"{kept} * {second} + {1 - kept:.3f} * {off} * {off}")
        else:
            new = sketch.let(f"{kept} * {second} + {1 - kept:.3f} * {gradient} * {gradient}")
        self.states.append((second, new))
        used = new
        if kind == "never less":
            most = sketch.tensor(self.shape, self.dtype, "rand")
            used = sketch.let(f"torch.maximum({most}, {new})")
            self.states.append((most, used))
        small = rng.choice((1e-8, 1e-6, 1e-4))
        root = used if kind == "largest" else f"torch.sqrt({used})"
        if rng.random() < 0.2 and kind != "largest":
            self.step = sketch.let(f"{self.step} * torch.rsqrt({used} + {small})")
        else:
            self.step = sketch.let(f"{self.step} / ({root} + {small})")

    def after(self) -> None:
        """Limits, decay of the weights beside the step, or the step's length by the weights'."""
        rng, sketch = self.sketch.rng, self.sketch
        kind = rng.random()
        if kind < 0.4:
            self.step = sketch.let(f"{self.step}.clamp(-1.0, 1.0)")
        elif kind < 0.75:
            decay = rng.choice((0.01, 0.1, 0.001))
            self.step = sketch.let(f"{self.step} + {decay} * {self.weight}")
        else:
            lengths = [
                sketch.let(f"torch.sqrt(({value} * {value}).{rng.choice(('sum', 'mean'))}())")
                for value in (self.weight, self.step)
            ]
            self.step = sketch.let(f"{self.step} * ({lengths[0]} / ({lengths[1]} + 0.001))")
