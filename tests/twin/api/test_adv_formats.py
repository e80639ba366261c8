# SPDX-License-Identifier: Apache-2.0
"""Change of format, shapes told by either operand, and sums as precise as the vector unit's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .library_kernel import LibraryKernel, rules_of, values_of

HEAD = """
constexpr TransDataConfig there{DataFormat::NCDHW, DataFormat::FORMAT};
constexpr TransDataConfig back{DataFormat::FORMAT, DataFormat::NCDHW};
"""
BODY = """
Layout plain = MakeLayout(MakeShape(n, c, d, h, w), MakeStride());
Layout packed = MakeLayout(MakeShape(SHAPE), MakeStride());
TransDataParams<decltype(plain), decltype(packed)> forward = {plain, packed};
TransData<there>(p, x, tmp, forward);
PipeBarrier<PIPE_V>();
TransDataParams<decltype(packed), decltype(plain)> backward = {packed, plain};
TransData<back>(y, p, backward);
"""
SHAPES = {
    "NDC1HWC0": "n, d, (c + 15) / 16, h, w, 16",
    "FRACTAL_Z_3D": "d, (c + 15) / 16, h, w, (n + 15) / 16, 16, 16",
}


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=4, deadline=None)
@given(n=st.integers(1, 3), c=st.integers(1, 20), d=st.integers(1, 2), w=st.integers(1, 7))
def test_formats_with_groups_of_sixteen(name: str, n: int, c: int, d: int, w: int) -> None:
    area, groups = 3 * w, -(-c // 16)
    row = -(-area // 16) * 16
    x = np.zeros((n, c, d, row), np.int16)
    x[..., :area] = np.random.default_rng(c).integers(-999, 999, (n, c, d, area))
    kernel = LibraryKernel(
        BODY.replace("SHAPE)", SHAPES[name] + ")"),
        {"x": "int16"},
        {"p": "int16", "y": "int16"},
        ("n", "c", "d", "h", "w"),
        HEAD.replace("FORMAT", name),
    )
    images = n if name == "NDC1HWC0" else 16
    size = images * groups * 16 * d * area
    result = kernel.run(
        {"x": x.ravel()},
        {"p": size, "y": x.size},
        {"n": n, "c": c, "d": d, "h": 3, "w": w},
    )
    full = np.zeros((images, groups * 16, d, area), np.int16)
    full[:n, :c] = x[..., :area]
    split = full.reshape(images, groups, 16, d, area)
    order = (0, 3, 1, 4, 2) if name == "NDC1HWC0" else (3, 1, 4, 0, 2)
    assert (values_of(result, "p") == split.transpose(order).ravel()).all()
    found = values_of(result, "y").reshape(x.shape)
    assert (found[..., :area] == x[..., :area]).all()
    # What fills the rows up to whole blocks is not defined.
    assert rules_of(result) == ({"MEM-01"} if row != area else set())


def test_anti_quant_believes_whichever_operand_tells_the_shape() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-100, 100, (4, 32)).astype(np.int8)
    scale, offset = rng.uniform(0.5, 1.5, (2, 32)).astype(np.float16)
    kernel = LibraryKernel(
        """uint32_t shape[] = {1, 32};
        offset.SetShapeInfo(ShapeInfo(2, shape, DataFormat::ND));
        AscendAntiQuant<int8_t, half, false>(y, x, offset, scale, tmp, 4);""",
        {"x": "int8", "scale": "float16", "offset": "float16"},
        {"y": "float16"},
    )
    result = kernel.run({"x": x.ravel(), "scale": scale, "offset": offset}, {"y": 128})
    expected = (x.astype(np.float16) + offset) * scale
    np.testing.assert_allclose(values_of(result, "y").reshape(4, 32), expected, rtol=2e-3)
    assert rules_of(result) == set()


def test_sums_of_long_rows_lose_no_more_than_the_vector_unit_does() -> None:
    columns = 4096
    rng = np.random.default_rng(18)
    x, g = (rng.uniform(-1, 1, (1, columns)).astype(np.float32) for _ in range(2))
    kernel = LibraryKernel(
        """SoftMaxTiling tiling; SoftMaxShapeInfo shape = {1, 4096, 1, 4096};
        SoftmaxGradFront<float>(y, g, x, tmp, tiling, shape);""",
        {"x": "float32", "g": "float32"},
        {"y": "float32"},
    )
    result = kernel.run({"x": x.ravel(), "g": g.ravel()}, {"y": 8})
    exact = (x.astype(np.float64) * g).sum()
    # Added one after the other these lose 3e-5.
    np.testing.assert_allclose(values_of(result, "y"), exact, atol=4e-6)
