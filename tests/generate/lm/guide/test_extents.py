# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.rules.extents import numbers_in, shapes_in, strange, strange_number

_ASKED = """\
xa: float32[na, nb]
xb: float32[nc, nc, 1]
where na=3, nb=4, nc=5
v0 = exp(xa): float32[na, nb]
v1 = max.dim(xb, 1): float32[nc, 1] int64[nc, 1]
v2 = getitem(v1, 0): float32[nc, 1]
return v0, v2
"""


@pytest.mark.parametrize(
    ("line", "names", "found"),
    [
        ("    k1_cores = tl.cdiv(na * nb, 1024)", ["tile", "xa", "y0"], None),
        ("    k1_cores = tl.cdiv(nb, tl.num_cores())", ["xa", "y0"], None),
        ("    k1_cores = tl.cdiv(na * nb * nb, 8)", ["xa", "y0"], "na * nb * nb"),
        ("    k1_cores = tl.cdiv(nc, 8)", ["xa", "y0"], "nc"),
        ("    op[1](nc * nc, xb, y1)", ["xb", "y1"], None),
        ("    op[1](nc * nc, y1)", ["y1"], "nc * nc"),
        ("    op[1](nc * nc, xa, w0)", ["xa", "w0"], None),
    ],
)
def test_products_that_no_tensor_has(line: str, names: list[str], found: str | None) -> None:
    assert strange(line, names, shapes_in(_ASKED)) == found


def test_the_guide_refuses_them() -> None:
    answer = """\
<think>
</think>
import tile.language as tl


@ascend_kernel
def op():
    xa_in = tl.alloc_ub(64, dtype=tl.float32)
    with tl.copyin():
        tl.load(xa, xa_in[:n])
    with tl.copyout():
        tl.store(y0, xa_in[:n])


def op_host(
    xa: tl.input(tl.float32),
    xb: tl.input(tl.float32),
    y0: tl.output(tl.float32, (xa.shape[0], xa.shape[1],)),
    y1: tl.output(tl.float32, (xb.shape[0], 1,)),
):
    na = xa.shape[0]
    nb = xa.shape[1]
    nc = xb.shape[0]
    # def op(xa, n, y0)
"""
    guide = Guide(_ASKED)
    assert guide.line(answer + "    op[1](xa, na * nb, y0)\n").keep
    refused = guide.line(answer + "    op[1](xa, na * nb * nb, y0)\n")
    assert (refused.keep, refused.reason) == (False, "no tensor of op has na * nb * nb elements")


_FIXED = """\
xa: float32[na, 96, 256]
where na=3
v0 = slice.Tensor(xa, 1, 5, 90, 2): float32[na, 43, 256]
return v0
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("    last = min(first + per_core, 11008)", None),
        ("    last = min(first + per_core, 110084)", 110084),
        (
            "            tl.load(xa + i0 * 24576 + start * 2 * cols, xa_in[:n, :], stride=cols)",
            None,
        ),
        ("            tl.store(y + i0 * 16384 + start * 256, y_out[:n, :], stride=256)", 16384),
        ("            tl.mul(v0[:m], xa_in[:m], 16384)", None),
    ],
)
def test_numbers_that_no_tensor_has(line: str, found: int | None) -> None:
    assert strange_number(line, numbers_in(_FIXED)) == found
