# SPDX-License-Identifier: Apache-2.0
"""What every emitted file has in common, over all examples; names that would clash."""

from __future__ import annotations

import pytest
from tests.lower.format_programs import CASES, EXAMPLES, lowered

from npuforge.errors import UsageError
from npuforge.lower.compiler import lower
from npuforge.lower.formats import FORMATS, emit
from npuforge.lower.formats.baked import bake

NAMES = sorted({path.stem for path in EXAMPLES.glob("*.py")} | set(CASES))
DYNAMIC = [form for form in FORMATS if form not in ("npukb-kernel", "mkb-direct")]

# A host function and a kernel that are called like functions of the C library and of the API.
EXP = """\
import tile.language as tl

@ascend_kernel
def exp(x, y, n):
    a = tl.alloc_ub(64, dtype=tl.float32)
    b = tl.alloc_ub(64, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a[:n])
    with tl.compute():
        tl.exp(b[:n], a[:n])
    with tl.copyout():
        tl.store(y, b[:n])

def exp_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    blocks = x.numel()
    x_shape = min(64, blocks)
    tl.require(blocks <= 64, "one tile is enough")
    exp[1](x, y, x_shape)
"""


@pytest.mark.parametrize("name", NAMES)
def test_files_are_tidy(name: str) -> None:
    for form in DYNAMIC:
        for path, text in emit(lowered(name), form).items():
            assert text.endswith("\n"), path
            assert not text.endswith("\n\n"), path
            for line in text.splitlines():
                assert len(line) <= 120, (form, path, line)
                assert line == line.rstrip(), (form, path, line)
                assert "\t" not in line


def test_names_that_clash() -> None:
    program = lower(EXP)
    kernel = emit(program, "direct")["exp.asc"]
    assert "class ExpKernel {" in kernel
    assert "void exp_kernel(" in kernel
    with pytest.raises(UsageError, match="exp_custom_host"):
        emit(program, "msopgen")
    answer = emit(program, "mkb")["exp.py"]
    assert "void exp_custom(" in answer
    # Variables of the program do not collide with those of the format.
    assert "const int64_t blocks2 = " in kernel
    assert "const int64_t xShape2 = " in kernel


def test_static_values_are_exact() -> None:
    program = lowered("blend")
    case = CASES["blend"][0]
    baked = bake(program, case.shapes, {"offset": 1 << 40, "alpha": float("-inf")})
    text = emit(program, "npukb-kernel", baked=baked)["op_kernel/blend.cpp"]
    assert "static constexpr int64_t offset = 1099511627776LL;" in text
    assert "FloatFromBits(0xFF800000U)" in text


def test_a_workspace_needs_host_code() -> None:
    program = lowered("centre")
    baked = bake(program, CASES["centre"][0].shapes)
    with pytest.raises(UsageError, match="no workspace"):
        emit(program, "npukb-kernel", baked=baked)
