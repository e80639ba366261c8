# SPDX-License-Identifier: Apache-2.0
"""HAP and the operator's score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.bench.suites.cannbench.score import CaseScore, hap, operator, proxy

US = st.floats(0.5, 1e5)


@given(US, st.floats(1.0, 100.0))
def test_the_anchors(bound: float, slower: float) -> None:
    baseline = bound * (1.0 + slower)
    assert hap(baseline, baseline, bound) == pytest.approx(0.5)
    assert hap(bound, baseline, bound) == pytest.approx(1.0)
    assert (hap(bound * 0.9, baseline, bound) or 0.0) > 1.0
    assert (hap(baseline * 1e6, baseline, bound) or 1.0) < 1e-3


def test_what_has_no_meaning_is_no_figure() -> None:
    assert hap(None, 2.0, 1.0) is None
    assert hap(1.5, 2.0, None) is None
    assert hap(0.1, 1.0, 1.0) is None


def test_a_missing_baseline_is_replaced_by_the_proxy() -> None:
    assert proxy(0.2) == 10.0
    assert proxy(7.0) == 70.0
    assert hap(70.0, None, 7.0) == pytest.approx(0.5)


def test_the_operator() -> None:
    best = CaseScore(True, True, 1.0)
    assert operator(True, [best] * 20) == pytest.approx(100.0)
    assert operator(False, [best] * 20) == 0.0
    assert operator(True, []) == 0.0
    wrong = CaseScore(True, False, 1.0)
    assert operator(True, [wrong]) == pytest.approx(20.0)
    refused = CaseScore(False, False, None)
    half = CaseScore(True, True, 0.5)
    untimed = CaseScore(True, True, None)
    # By hand: 20 * 3/4, 30 * 2/4, 50 * 0.5/4.
    assert operator(True, [refused, half, untimed, wrong]) == pytest.approx(15 + 15 + 6.25)
