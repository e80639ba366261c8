# SPDX-License-Identifier: Apache-2.0
"""What counts as right."""

from __future__ import annotations

import numpy as np

from npuforge.dtypes import AnyArray, HostTensor
from npuforge.generate.judge import judge


def tensor(values: AnyArray) -> HostTensor:
    return HostTensor.of(values)


def test_zeros_do_not_pass_for_tiny_results() -> None:
    want = np.full(1000, 2e-6, np.float32)
    assert not judge(tensor(np.zeros_like(want)), tensor(want), None).correct
    assert judge(tensor(want * np.float32(1.00001)), tensor(want), None).correct


def test_the_exact_value_is_right_where_pytorch_is_off() -> None:
    exact = np.linspace(1, 2, 100)
    off = (exact * 1.01).astype(np.float32)
    got = tensor(exact.astype(np.float32))
    assert judge(got, tensor(off), tensor(exact)).correct
    assert not judge(got, tensor(off), None).correct


def test_a_few_outliers_do_not_excuse_the_rest() -> None:
    exact = np.linspace(1, 2, 100)
    want = exact.astype(np.float32)
    want[3] *= 2
    got = exact.astype(np.float32)
    got[7] += 0.1
    found = judge(tensor(got), tensor(want), tensor(exact))
    assert found.mismatches == 1


def test_infinities_and_nan_stand_where_they_stand() -> None:
    want = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
    assert judge(tensor(want.copy()), tensor(want), None).correct
    for place, value in ((0, 3e38), (1, np.inf), (2, 0.0), (3, np.nan)):
        got = want.copy()
        got[place] = value
        assert judge(tensor(got), tensor(want), None).mismatches == 1


def test_integers_are_exact() -> None:
    want = np.arange(5)
    assert judge(tensor(want.copy()), tensor(want), None).correct
    assert not judge(tensor(want + 1), tensor(want), None).correct


def test_sums_that_nearly_cancel_are_held_to_the_largest() -> None:
    exact = np.array([300.0, -0.129213, 12.0])
    want = exact.astype(np.float32)
    got = want + np.array([0, 4.4e-5, 0], np.float32)
    assert judge(tensor(got), tensor(want), tensor(exact)).correct
    assert not judge(tensor(got + np.float32(0.002)), tensor(want), tensor(exact)).correct
