# SPDX-License-Identifier: Apache-2.0
"""Steps of optimisers with random parts: momentum, second moments, decay, signs."""

from __future__ import annotations

from npuforge.train.operators.sketch import Sketch


def optimiser(sketch: Sketch) -> list[str]:
    """A step as a function: new weights, and the new states it keeps; now and then in place."""
    rng = sketch.rng
    shape = sketch.shape(rng.choice((1, 2)))
    dtype = rng.choice(("float32", "float32", "float16", "bfloat16"))
    weight, gradient = sketch.tensor(shape, dtype), sketch.tensor(shape, dtype)
    rate = rng.choice((0.1, 0.01, 0.001))
    updates: list[tuple[str, str]] = []
    if rng.random() < 0.4:
        decay = rng.choice((0.01, 0.1, 0.0005))
        gradient = sketch.let(f"{gradient} + {decay} * {weight}")
    step = gradient
    if rng.random() < 0.6:
        kept = rng.choice((0.9, 0.95, 0.8))
        moment = sketch.tensor(shape, dtype)
        dampened = rng.choice((f"{1 - kept:.2f}", "1.0"))
        step = sketch.let(f"{kept} * {moment} + {dampened} * {gradient}")
        updates.append((moment, step))
        if rng.random() < 0.25:
            step = sketch.let(f"{gradient} + {kept} * {step}")
    if rng.random() < 0.55:
        kept = rng.choice((0.99, 0.999, 0.9))
        second = sketch.tensor(shape, dtype, "rand")
        kind = rng.choice(("decaying", "decaying", "summed", "largest"))
        if kind == "summed":
            new = sketch.let(f"{second} + {gradient} * {gradient}")
        elif kind == "largest":
            new = sketch.let(f"torch.maximum({kept} * {second}, {gradient}.abs())")
        else:
            new = sketch.let(f"{kept} * {second} + {1 - kept:.3f} * {gradient} * {gradient}")
        updates.append((second, new))
        small = rng.choice((1e-8, 1e-6, 1e-4))
        root = new if kind == "largest" else f"torch.sqrt({new})"
        step = sketch.let(f"{step} / ({root} + {small})")
    elif rng.random() < 0.3:
        step = sketch.let(f"torch.sign({step})")
    if rng.random() < 0.2:
        step = sketch.let(f"{step}.clamp(-1.0, 1.0)")
    new = sketch.let(f"{weight} - {rate} * {step}")
    if rng.random() < 0.4:
        for name, value in [(weight, new), *updates]:
            sketch.lines.append(f"{name}.copy_({value})")
        return [weight]
    return [new, *(value for _, value in updates)]
