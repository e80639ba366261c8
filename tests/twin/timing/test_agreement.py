# SPDX-License-Identifier: Apache-2.0
"""The figures that sum up measured against modelled."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[3] / "benchmarks" / "calibration"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agreement", FOLDER / "agreement.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules["agreement"] = module
    spec.loader.exec_module(module)
    return module


agreement = load()


@given(st.lists(st.floats(0.1, 1e6), min_size=2, max_size=30, unique=True))
def test_spearman_sees_only_order(values: list[float]) -> None:
    rising = [(value, value * 2) for value in values]
    assert agreement.spearman(rising) == pytest.approx(1.0)
    assert agreement.spearman([(a, -b) for a, b in rising]) == pytest.approx(-1.0)


def test_spearman_of_a_constant_is_zero() -> None:
    assert agreement.spearman([(1.0, 5.0), (2.0, 5.0)]) == 0.0


def test_ties_share_their_rank() -> None:
    assert agreement.spearman([(1, 1), (1, 1), (2, 2)]) == pytest.approx(1.0)


def test_table_sums_up(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [agreement.Comparison("a", 10.0, 11.0), agreement.Comparison("b", 100.0, 70.0)]
    agreement.print_table(rows)
    output = capsys.readouterr().out
    assert "median error 20.0%" in output
    assert "worst: b -30%; a +10%" in output
