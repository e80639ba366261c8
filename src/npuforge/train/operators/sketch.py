# SPDX-License-Identifier: Apache-2.0
"""A module while it is being made up: its inputs, its statements, and at the end its text."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

_ALIGNED = (16, 32, 64, 128, 256, 384, 512, 768, 1024, 2048, 4096, 8192)
_FLOATS = ("float32", "float32", "float32", "float16", "float16", "bfloat16")
_PARAMETERS = 0.4  # share of modules that hold what they can as parameters
_LARGE = 1 << 14  # elements of a parameter
_WORDS = ("x", "a", "u", "inp", "left", "data", "p", "h")


@dataclass(frozen=True, slots=True)
class Input:
    """An argument of `forward`; `made` is the expression of `get_inputs`. What is `trainable`, a
    module may hold as a parameter as well."""

    name: str
    made: str
    elements: int
    trainable: bool


@dataclass(slots=True)
class Sketch:
    """Statements of one `forward`; every draw comes from `rng`. Where it is `wide`, half-precision
    inputs are taken to float32 first and results back at the end, as careful modules do."""

    rng: random.Random
    wide: bool = False
    inputs: list[Input] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def tensor(self, shape: Sequence[int], dtype: str, made: str = "randn") -> str:
        """A new input. `made`: randn, rand, bool (truth values), whole (small whole numbers), or
        index:N (below N)."""
        name = self._fresh()
        listed = "".join(f"{extent}, " for extent in shape)
        if made == "bool":
            text = f"torch.rand({listed[:-2]}) > 0.5"
        elif made == "whole":
            least = 0 if dtype == "uint8" else -20
            text = f"torch.randint({least}, 20, ({listed.rstrip()}), dtype=torch.{dtype})"
        elif made.startswith("index:"):
            text = f"torch.randint(0, {made[6:]}, ({listed.rstrip()}), dtype=torch.{dtype})"
        else:
            text = f"torch.{made}(({listed.rstrip()}), dtype=torch.{dtype})"
        trainable = made in {"randn", "rand"} and dtype in _FLOATS
        self.inputs.append(Input(name, text, math.prod(shape), trainable))
        if self.wide and dtype in {"float16", "bfloat16"}:
            return self.let(f"{name}.float()")
        return name

    def let(self, expression: str) -> str:
        """A statement; the name of its value."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def fill(self, template: str, **names: object) -> str:
        """An expression with fresh numbers for what is not named."""
        rng = self.rng
        numbers = {
            "k": self._factor(),
            "p": self._number((0.1, 0.2, 0.25, 0.5, 0.9), 0.01, 0.99),
            "p1": rng.choice((0.05, 0.1, 0.2)),
            "i": rng.randint(1, 4),
            "e": rng.choice((1e-5, 1e-6, 1e-8, 1e-3)),
        }
        return template.format(**{**numbers, **names})

    def _factor(self) -> float:
        if self.rng.random() < 0.1:  # of any size
            return float(f"{10 ** self.rng.uniform(-4, 3):.{self.rng.choice((0, 0, 1))}e}")
        return self._number((0.25, 0.5, 0.75, 1.5, 2.0, 3.0), 0.1, 4.0)

    def _number(self, often: Sequence[float], least: float, most: float) -> float:
        if self.rng.random() < 0.5:
            return self.rng.choice(often)
        return round(self.rng.uniform(least, most), self.rng.choice((2, 2, 3, 4)))

    def float_type(self) -> str:
        return self.rng.choice(_FLOATS)

    def extent(self, least: int = 2, most: int = 8192) -> int:
        """Aligned as often as awkward."""
        fitting = [value for value in _ALIGNED if least <= value <= most]
        if fitting and self.rng.random() < 0.5:
            return self.rng.choice(fitting)
        return max(least, min(most, int(2 ** self.rng.uniform(1, 13)) + self.rng.randint(0, 7)))

    def shape(self, rank: int | None = None, most: int = 1 << 24) -> list[int]:
        """A shape of up to `most` elements, of at least some hundred mostly."""
        wanted = rank or self.rng.choice((1, 2, 2, 2, 3, 3, 4))
        room = min(most, int(2 ** self.rng.uniform(9, 24)))
        found: list[int] = []
        for place in range(wanted):
            left = max(2, int(room ** (1 / (wanted - place))) * 4)
            found.append(self.extent(2, min(left, 8192 if wanted > 1 else 1 << 22)))
            room = max(2, room // found[-1])
        self.rng.shuffle(found)
        if wanted > 1 and self.rng.random() < 0.1:
            found[0] = 1  # a batch of one
        return found

    def text(self, results: Sequence[str]) -> str:
        """The module in the form of a file with `Model` and `get_inputs`."""
        held = self._held()
        asked = [given for given in self.inputs if given not in held]
        arguments = "".join(f", {given.name}" for given in asked)
        own = "".join(f"        self.{one.name} = nn.Parameter({one.made})\n" for one in held)
        start = f"    def __init__(self):\n        super().__init__()\n{own}\n" if held else ""
        narrow = self.rng.choice(("float16", "float16", "bfloat16")) if self.wide else ""
        ending = f".to(torch.{narrow})" if narrow and self.rng.random() < 0.7 else ""
        lines = [*(f"{one.name} = self.{one.name}" for one in held), *self.lines]
        body = "".join(f"        {line}\n" for line in lines)
        made = "".join(f"        {given.made},\n" for given in asked)
        return (
            "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
            f"class Model(nn.Module):\n{start}    def forward(self{arguments}):\n{body}"
            f"        return {', '.join(result + ending for result in results)}\n\n\n"
            f"def get_inputs():\n    return [\n{made}    ]\n\n\n"
            "def get_init_inputs():\n    return []\n"
        )

    def _held(self) -> list[Input]:
        """Inputs that are parameters of the module instead: small ones beside a large one, whose
        sizes are numbers then and not the caller's to choose. Nothing that is written to."""
        most = max((given.elements for given in self.inputs), default=0)
        small = [
            given
            for given in self.inputs
            if given.trainable and given.elements < min(most, _LARGE + 1)
        ]
        if any("_(" in line for line in self.lines) or self.rng.random() >= _PARAMETERS:
            return []
        return small

    def _fresh(self) -> str:
        taken = {given.name for given in self.inputs}
        free = [word for word in _WORDS if word not in taken]
        return self.rng.choice(free) if free else f"in_{len(taken)}"
