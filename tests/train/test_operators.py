# SPDX-License-Identifier: Apache-2.0
"""Random operators: the same by seed, of every family, and modules that run."""

from __future__ import annotations

import warnings

import pytest
import torch

from npuforge.train.operators.draw import draw
from npuforge.train.operators.families import FAMILIES

_DRAWN = [draw(7, index) for index in range(300)]


def test_the_same_number_gives_the_same_operator() -> None:
    assert draw(7, 5) == _DRAWN[5]
    assert draw(8, 5).source != _DRAWN[5].source


def test_every_family_is_drawn() -> None:
    assert {drawn.family for drawn in _DRAWN} == set(FAMILIES)


def test_operators_differ() -> None:
    assert len({drawn.source for drawn in _DRAWN}) == len(_DRAWN)


@pytest.mark.parametrize("family", FAMILIES)
def test_modules_run(family: str) -> None:
    """Three of each family, without data: shapes and types must fit."""
    tried = [drawn for drawn in _DRAWN if drawn.family == family][:3]
    assert tried
    for drawn in tried:
        defined: dict[str, object] = {}
        exec(drawn.source, defined)
        with torch.device("meta"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = defined["get_inputs"]()  # type: ignore[operator]
            results = defined["Model"]()(*inputs)  # type: ignore[operator]
        found = results if isinstance(results, tuple) else (results,)
        assert all(isinstance(result, torch.Tensor) for result in found)
