# SPDX-License-Identifier: Apache-2.0
"""Tiling helpers of the kernel library and template tiling keys."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.host import (
    TensorSpec,
    TilingRequest,
    TilingStruct,
    compute_tiling,
    describe,
    kernel_prelude,
)

SHAPES = [(16, 16, 16), (128, 4096, 64), (1000, 77, 3000), (8192, 8192, 8192), (1, 5120, 13824)]


def values(tiling: bytes, structure: TilingStruct, member: str) -> dict[str, int]:
    field = next(field for field in structure.fields if field.name == member)
    return {
        inner.name: struct.unpack_from("<i", tiling, field.offset + inner.offset)[0]
        for inner in field.members
        if not inner.is_padding
    }


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_matmul_tiling_fits_the_core(helpers: Path, m: int, n: int, k: int) -> None:
    description = describe(helpers)
    operator = description.operator()
    request = TilingRequest(
        "MatmulSoftmax",
        {"a": TensorSpec((m, k), "DT_FLOAT16"), "b": TensorSpec((k, n), "DT_FLOAT16")},
        {"c": TensorSpec((m, n), "DT_FLOAT")},
    )
    result = compute_tiling(helpers, operator, request)
    assert result.ok, result.message
    structure = description.default_struct(operator)
    assert structure is not None
    cube = values(result.tiling_data, structure, "cube")
    base_m, base_n, base_k = cube["baseM"], cube["baseN"], cube["baseK"]
    assert base_m * base_k * 2 * cube["dbL0A"] <= 65536
    assert base_n * base_k * 2 * cube["dbL0B"] <= 65536
    assert base_m * base_n * 4 * cube["dbL0C"] <= 131072
    assert base_m % 16 == base_n % 16 == base_k % 16 == 0
    in_l1 = base_k * 2 * (base_m * cube["depthA1"] + base_n * cube["depthB1"])
    assert in_l1 <= 524288 - 256
    assert cube["depthA1"] % (cube["stepM"] * cube["stepKa"]) == 0
    parts = -(-m // cube["singleCoreM"]) * -(-n // cube["singleCoreN"])
    assert parts == cube["usedCoreNum"] == result.block_dim <= 24
    assert (cube["M"], cube["N"], cube["Ka"], cube["singleCoreK"]) == (m, n, k, k)
    # Large problems use the chip: no core has more than twice its fair share.
    if m * n >= 24 * 256 * 256:
        assert cube["singleCoreM"] * cube["singleCoreN"] * 24 <= 2 * m * n


def test_softmax_tiling_covers_all_rows(helpers: Path) -> None:
    description = describe(helpers)
    operator = description.operator()
    tensor = TensorSpec((16, 16), "DT_FLOAT16")
    request = TilingRequest("MatmulSoftmax", {"a": tensor, "b": tensor}, {"c": tensor})
    result = compute_tiling(helpers, operator, request)
    structure = description.default_struct(operator)
    assert structure is not None
    softmax = values(result.tiling_data, structure, "softmax")
    assert (softmax["srcM"], softmax["srcK"], softmax["reduceK"]) == (16, 128, 8)
    assert softmax["rangeM"] * softmax["splitM"] + softmax["tailM"] == 16


def test_template_key_goes_back_to_its_arguments(helpers: Path) -> None:
    description = describe(helpers)
    operator = description.operator()
    stages = description.templates["MatmulSoftmax"][1]
    assert stages.values == (2, 3, 4, 16)
    tensor = TensorSpec((16, 16), "DT_FLOAT16")
    request = TilingRequest("MatmulSoftmax", {"a": tensor, "b": tensor}, {"c": tensor})
    key = compute_tiling(helpers, operator, request).tiling_key
    assert key == 1 | 3 << 8 | 1 << 12
    arguments = description.template_arguments(operator, key)
    assert arguments == {"TYPE": 1, "STAGES": 16, "WITH_BIAS": 1}
    with pytest.raises(UsageError, match="STAGES"):
        description.template_arguments(operator, 1 | 9 << 8)


def test_library_structures_are_left_to_the_kernel_headers(helpers: Path) -> None:
    text = kernel_prelude(describe(helpers), None, {})
    assert "kernel_tiling/kernel_tiling.h" in text
    assert "struct TCubeTiling" not in text
    assert "TCubeTiling cube;" in text


@pytest.mark.parametrize(("fixed", "status"), [(32, "ok"), (48, "failed"), (24, "failed")])
def test_fixed_split_must_fit_the_problem(helpers: Path, fixed: int, status: str) -> None:
    tensor = TensorSpec((32, 32), "DT_FLOAT16")
    request = TilingRequest(
        "MatmulSoftmax", {"a": tensor, "b": tensor}, {"c": tensor}, {"fixed": fixed}
    )
    assert compute_tiling(helpers, describe(helpers).operator(), request).status == status
