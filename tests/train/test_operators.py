# SPDX-License-Identifier: Apache-2.0
"""Random operators: the same by seed, of every family and kind, and modules that run."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable

import pytest
import torch

from npuforge.train.operators.axes import folded, some_axes, spelled
from npuforge.train.operators.draw import Drawn, draw
from npuforge.train.operators.families import FAMILIES
from npuforge.train.operators.masks import mask
from npuforge.train.operators.moves import Moved
from npuforge.train.operators.sketch import Sketch

_DRAWN = [draw(7, index) for index in range(500)]
_FOLD = re.compile(r"\b(?:sum|mean|amax|amin|var|logsumexp|vector_norm|softmax)\(")
_AXES = re.compile(r"dim=(-?\d|\([^)]*\))")


def _forward(drawn: Drawn) -> str:
    return drawn.source.partition("def get_inputs")[0]


def _results(drawn: Drawn) -> int:
    return _forward(drawn).rpartition("return ")[2].count(",") + 1


def _has(*words: str) -> Callable[[Drawn], bool]:
    return lambda drawn: any(word in _forward(drawn) for word in words)


# What must not be rare, and the least share of operators that have it.
_KINDS: dict[str, tuple[Callable[[Drawn], bool], float]] = {
    "several folds": (lambda drawn: len(_FOLD.findall(_forward(drawn))) >= 2, 0.2),
    "folds of several axes": (
        lambda drawn: any("," in axes for axes in _AXES.findall(_forward(drawn))),
        0.08,
    ),
    "given masks": (lambda drawn: "> 0.5,\n" in drawn.source, 0.05),
    "triangles": (_has(").unsqueeze(-1)"), 0.04),
    "four results and more": (lambda drawn: _results(drawn) >= 4, 0.06),
    "layouts": (_has("permute", "transpose", "flatten", "cat(", "stack(", "flip(", "pad("), 0.1),
    "indices": (_has("gather(", "embedding(", "index_", "take_along"), 0.02),
    "sorting": (_has("sort(", "topk(", "argmax(", "argmin("), 0.03),
    "scans": (_has("cumsum(", "cumprod(", "cummax("), 0.03),
    "parts of a tensor": (_has(".chunk(", ".unbind(", ".select("), 0.02),
    "numbers of channels": (_has(".view(1, -1, 1", ".reshape(-1, 1", "[:, None"), 0.02),
    "blocks": (lambda drawn: len(_forward(drawn).splitlines()) > 16, 0.08),
}


def test_the_same_number_gives_the_same_operator() -> None:
    assert draw(7, 5) == _DRAWN[5]
    assert draw(8, 5).source != _DRAWN[5].source


def test_every_family_is_drawn() -> None:
    assert {drawn.family for drawn in _DRAWN} == set(FAMILIES)


def test_operators_differ() -> None:
    assert len({drawn.source for drawn in _DRAWN}) == len(_DRAWN)


@pytest.mark.parametrize("kind", _KINDS)
def test_kinds_are_not_rare(kind: str) -> None:
    is_one, least = _KINDS[kind]
    assert sum(map(is_one, _DRAWN)) >= least * len(_DRAWN)


@pytest.mark.parametrize("family", FAMILIES)
def test_modules_run(family: str) -> None:
    """Six of each family, without data: shapes and types must fit."""
    tried = [drawn for drawn in _DRAWN if drawn.family == family][:6]
    assert tried
    for drawn in tried:
        if "gaussian_nll_loss" in drawn.source:
            continue  # looks at its data
        defined: dict[str, object] = {}
        exec(drawn.source, defined)
        with torch.device("meta"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = defined["get_inputs"]()  # type: ignore[operator]
            results = defined["Model"]()(*inputs)  # type: ignore[operator]
        found = results if isinstance(results, tuple) else (results,)
        assert all(isinstance(result, torch.Tensor) for result in found)


def test_axes_are_in_order_and_fold_what_they_say() -> None:
    rng = random.Random(3)
    seen = set()
    for _ in range(400):
        shape = [2, 3, 4, 5][: rng.randint(1, 4)]
        axes = some_axes(rng, len(shape))
        seen.add((len(shape), axes))
        assert list(axes) == sorted(set(axes))
        written = eval(spelled(rng, axes, len(shape)))
        for keep in (False, True):
            left = torch.zeros(shape).sum(dim=written, keepdim=keep).shape
            assert list(left) == folded(shape, axes, keep=keep)
    assert {(4, (2, 3)), (4, (1,)), (4, (0, 2, 3)), (2, (0,)), (3, (1, 2))} <= seen


@pytest.mark.parametrize("seed", range(40))
def test_masks_fit_the_value(seed: int) -> None:
    """A mask is of truth values and is spread over what it masks."""
    rng = random.Random(seed)
    sketch = Sketch(rng)
    shape = [rng.randint(2, 6) for _ in range(rng.randint(1, 4))]
    value = sketch.tensor(shape, "float32")
    made = mask(sketch, shape, value, "float32")
    found = _run(sketch, made)
    assert found.dtype == torch.bool
    assert list(found.expand(shape).shape) == shape


@pytest.mark.parametrize("seed", range(60))
def test_moves_know_the_shape_they_leave(seed: int) -> None:
    rng = random.Random(seed)
    sketch = Sketch(rng)
    moved = Moved(sketch, [4 * rng.randint(1, 4) for _ in range(rng.randint(2, 4))])
    for _ in range(3):
        moved.move()
        assert list(_run(sketch, moved.value).shape) == moved.shape


def _run(sketch: Sketch, name: str) -> torch.Tensor:
    defined: dict[str, object] = {}
    exec(sketch.text([name]), defined)
    result = defined["Model"]()(*defined["get_inputs"]())  # type: ignore[operator]
    assert isinstance(result, torch.Tensor)
    return result
