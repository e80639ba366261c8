# SPDX-License-Identifier: Apache-2.0
"""Every example program, compiled and run on the twin, gives what the interpreter gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.lower.differential import Differential

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile"
Case = tuple[Mapping[str, Any], Mapping[str, Any]]


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def whole(high: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(0, high, shape, generator=generator, dtype=torch.int32)


def adamw(count: int) -> Case:
    names = ("param", "grad", "moment")
    tensors = {name: noise(count, seed=place) for place, name in enumerate(names)}
    state = {"square": noise(count, seed=9).abs()}
    attributes = {"correction1": 0.271, "root_correction2": 0.0547}
    return {**tensors, **state}, attributes


CASES: dict[str, list[Case]] = {
    "softmax": [({"x": noise(r, c)}, {}) for r, c in [(1, 1), (129, 257), (0, 5), (70, 64)]],
    "gelu": [({"x": noise(n).half()}, {}) for n in (0, 1, 63, 70_001)],
    "huber_loss": [
        ({"x": noise(n), "target": noise(n, seed=1)}, {"delta": 0.7}) for n in (1, 63, 70_001)
    ],
    "cumsum": [({"x": noise(r, c)}, {}) for r, c in [(1, 1), (7, 13), (129, 257), (3, 5003)]],
    "layer_norm": [
        ({"x": noise(r, c), "gamma": noise(c), "beta": noise(c, seed=1)}, {})
        for r, c in [(1, 1), (129, 257), (50, 1000)]
    ],
    "adamw": [adamw(n) for n in (1, 63, 70_001)],
    "max_of_columns": [({"x": noise(r, c)}, {}) for r, c in [(1, 1), (1000, 129), (7, 4097)]],
    "max_pool2d": [
        ({"x": noise(2, 3, 9, 11)}, {"size": 3, "stride": 2}),
        ({"x": noise(1, 2, 40, 37)}, {"size": 2, "stride": 1}),
    ],
    "scale_shift": [
        ({"x": noise(r, c), "a": noise(r), "b": noise(c)}, {})
        for r, c in [(1, 1), (129, 257), (1000, 3)]
    ],
    "embedding": [
        ({"table": noise(n, d), "index": whole(n, k).long()}, {})
        for n, d, k in [(1, 1, 1), (100, 257, 321)]
    ],
    "resize_bilinear": [
        ({"x": noise(2, 3, 5, 7)}, {"out_height": 11, "out_width": 13}),
        ({"x": noise(1, 1, 8, 8)}, {"out_height": 4, "out_width": 4}),
    ],
    "topk": [({"x": noise(r, c)}, {"k": k}) for r, c, k in [(1, 1, 1), (90, 37, 5)]],
    "masked_fill": [
        ({"x": noise(n), "where": whole(2, n).bool()}, {"value": -1.5}) for n in (0, 1, 63, 70_001)
    ],
    "transpose": [({"x": noise(r, c)}, {}) for r, c in [(1, 1), (129, 257), (1000, 3)]],
    "sum_all": [({"x": noise(n)}, {}) for n in (1, 63, 70_001)],
    "cross_entropy": [
        ({"scores": noise(r, c), "classes": whole(c, r)}, {}) for r, c in [(1, 1), (129, 257)]
    ],
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_example_on_the_twin(name: str) -> None:
    program = Differential((EXAMPLES / f"{name}.py").read_text())
    for inputs, attributes in CASES[name]:
        program.agree(inputs, attributes)


def test_every_example_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(CASES)
