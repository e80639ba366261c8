# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in results."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from npuforge.bench.cheats import values
from npuforge.dtypes import AnyArray, HostTensor, encode

SEEDS = st.integers(0, 1 << 30)


def tensor(data: AnyArray) -> HostTensor:
    return HostTensor.of(np.asarray(data))


def normal(seed: int, shape: tuple[int, ...] = (64, 8)) -> AnyArray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@given(SEEDS, st.sampled_from(["float16", "bfloat16"]))
def test_narrow_results_are_noticed_and_full_ones_not(seed: int, narrow: str) -> None:
    wanted = normal(seed)
    got = encode(wanted, narrow).values().astype(np.float32)
    found = values.downgraded([tensor(got)], [tensor(wanted)])
    assert found is not None
    assert found.kind == "precision"
    assert values.downgraded([tensor(wanted)], [tensor(wanted)]) is None
    # Where the reference's numbers are narrow themselves (counts, rounded values) nothing is.
    assert values.downgraded([tensor(got)], [tensor(got)]) is None


@given(SEEDS)
def test_results_that_ignore_the_inputs(seed: int) -> None:
    references = [[tensor(normal(seed + i))] for i in range(3)]
    zeros = [[tensor(np.zeros((64, 8), np.float32))]] * 3
    found = values.constant(zeros, references)
    assert found is not None
    assert found.kind == "constant"
    assert values.constant(references, references) is None
    assert values.constant(zeros, zeros) is None


@given(SEEDS)
def test_elements_nobody_wrote(seed: int) -> None:
    wanted = normal(seed)
    got = wanted.copy()
    got.view(np.uint32)[3, 2:5] = 0xFFFFFFFF
    found = values.unwritten([tensor(got)], [tensor(wanted)])
    assert found is not None
    assert found.evidence == "3 of 512 elements of output 0"
    assert values.unwritten([tensor(wanted)], [tensor(wanted)]) is None
    # -1 is a number among integers.
    ones = np.full(8, -1, np.int32)
    assert values.unwritten([tensor(ones)], [tensor(ones)]) is None


@given(SEEDS)
def test_an_input_given_back(seed: int) -> None:
    x = normal(seed)
    wanted = np.maximum(x, 0)
    found = values.echo([tensor(x)], [tensor(x)], [tensor(wanted)])
    assert found is not None
    assert found.kind == "returns-input"
    assert values.echo([tensor(wanted)], [tensor(x)], [tensor(wanted)]) is None
    assert values.echo([tensor(x)], [tensor(x)], [tensor(x)]) is None
    assert values.identities([tensor(x)], [tensor(wanted), tensor(x)]) == [1]
