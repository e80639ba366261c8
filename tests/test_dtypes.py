# SPDX-License-Identifier: Apache-2.0
"""Element types: bits on the device, rounding, torch and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from npuforge import dtypes
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40))
def test_bfloat16_rounds_as_torch_does(values: list[float]) -> None:
    ours = HostTensor.of(np.array(values, np.float32), "bfloat16")
    theirs = torch.tensor(values, dtype=torch.float32).to(torch.bfloat16)
    assert torch.equal(ours.torch(), theirs)
    assert np.array_equal(HostTensor.of(theirs).data, ours.data)


@given(st.lists(st.integers(-8, 7), max_size=33))
def test_int4_survives_packing(values: list[int]) -> None:
    tensor = HostTensor.of(np.array(values, np.int8), "int4")
    raw = tensor.to_bytes()
    assert len(raw) == (len(values) + 1) // 2 == tensor.nbytes
    assert HostTensor.from_bytes(raw, (len(values),), "int4").data.tolist() == values


@pytest.mark.parametrize("name", [n for n in dtypes.names() if n != "int4"])
def test_bytes_round_trip(name: str) -> None:
    tensor = HostTensor.of(np.arange(6).reshape(2, 3) % 2, name)
    again = HostTensor.from_bytes(tensor.to_bytes(), (2, 3), name)
    assert np.array_equal(again.data, tensor.data)
    assert tensor.nbytes == 6 * dtypes.find(name).bits // 8


def test_nan_stays_nan_in_bfloat16() -> None:
    tensor = HostTensor.of(np.array([np.nan, -np.nan], np.float32), "bf16")
    assert np.isnan(tensor.values()).all()


def test_unwritten_counts_whole_elements() -> None:
    raw = np.full(16, dtypes.poison("float32"), np.uint8)
    raw[0] = 0
    assert dtypes.unwritten(raw, "float32") == 3


def test_unknown_name_is_one_line() -> None:
    with pytest.raises(UsageError, match="unknown dtype 'float8'; known: float16"):
        dtypes.find("float8")


def test_unwritten_complex_needs_both_parts() -> None:
    raw = np.full(32, dtypes.poison("complex128"), np.uint8)
    raw[0] = 0
    assert dtypes.unwritten(raw, "complex128") == 1
