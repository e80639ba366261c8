# SPDX-License-Identifier: Apache-2.0
"""Rules of vector calls: what the compiler refuses and what check mode reports."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import (
    Launch,
    ScalarArgument,
    TensorArgument,
    output,
    scalar,
    tensor,
)

TENSORS = {
    "f": "float", "h": "half", "i": "int32_t", "s": "int16_t", "b": "int8_t", "u": "uint8_t",
    "v": "uint32_t", "w": "uint16_t", "g": "bfloat16_t",
}  # fmt: skip
HEAD = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void calls(GM_ADDR in, GM_ADDR out, uint32_t which) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> xBuffer, yBuffer;
    pipe.InitBuffer(xBuffer, 8192);
    pipe.InitBuffer(yBuffer, 8192);
    GlobalTensor<float> inGm, outGm;
    inGm.SetGlobalBuffer((__gm__ float*)in, 2048);
    outGm.SetGlobalBuffer((__gm__ float*)out, 2048);
    DataCopy(xBuffer.Get<float>(), inGm, 2048);
    DataCopy(yBuffer.Get<float>(), inGm, 2048);
    PipeBarrier<PIPE_ALL>();
    uint64_t none[2] = {0, 0};
    uint64_t odd[2] = {1, 0};
    uint32_t many = 256;
    LocalTensor<int4b_t> nibbles = yBuffer.Get<int8_t>().ReinterpretCast<int4b_t>();
"""


def kernel(body: str) -> str:
    names = [
        f"LocalTensor<{t}> {p}{n} = {p}Buffer.Get<{t}>();"
        for n, t in TENSORS.items()
        for p in ("x", "y")
    ]
    end = "PipeBarrier<PIPE_ALL>();\nDataCopy(outGm, yf, 2048);\n}\n"
    return "\n".join([HEAD, *names, body, end])


REFUSED = {
    "Add(yu, xu, xu, 64);": "DTY-01",
    "Adds(yv, xv, 1u, 64);": "DTY-01",
    "Exp(yi, xi, 64);": "DTY-02",
    "Div(yi, xi, xi, 64);": "DTY-02",
    "Relu(ys, xs, 64);": "DTY-03",
    "And(yf, xf, xf, (uint64_t)64, 1, {1, 1, 1, 8, 8, 8});": "DTY-05",
    "ShiftLeft(yf, xf, 1.0f, 64);": "DTY-06",
    "Compare(yu, xs, xs, CMPMODE::LT, 128);": "DTY-07",
    "Select(yi, xu, xi, xi, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);": "DTY-08",
    "FusedMulAdd(yi, xi, xi, 64);": "DTY-10",
    "Duplicate(yb, static_cast<int8_t>(1), 64);": "DTY-11",
    "CreateVecIndex(yv, 1u, 64);": "DTY-12",
    "Cast(yb, xf, RoundMode::CAST_RINT, 64);": "DTY-15",
    "Muls(yh, xh, 2.0f, 64);": "VEC-09",
    "Duplicate(yf, 0, 64);": "VEC-09",
}


def test_the_compiler_names_the_rule() -> None:
    build = Kernel.build(kernel("\n".join(REFUSED)))
    assert not build.ok
    missing = {rule for rule in REFUSED.values() if f"[{rule}]" not in build.log}
    assert not missing, build.log[:3000]


# Call -> the rule check mode reports.
REPORTED = {
    "Add(yf, xf, yf, (uint64_t)64, many, {1, 1, 1, 8, 8, 8});": "VEC-02",
    "Adds(yf, xf, 1.0f, (uint64_t)64, 1, {0, 1, 8, 8});": "VEC-04",
    "Brcb(yf, xf, 1, {0, 8});": "VEC-05",
    "Exp(yf, xf, 0);": "VEC-06",
    "Exp(yf, xf, (uint64_t)64, 0, {1, 1, 8, 8});": "VEC-06",
    "yf = xf[64] + xf;": "VEC-08",
    "Cast(yf, xh, RoundMode::CAST_NONE, (uint64_t)64, 2, {1, 1, 8, 8});": "VEC-10",
    "Axpy(yf, xh, (half)2.0, (uint64_t)100, 1, {1, 1, 8, 4});": "VEC-11",
    "ShiftRight(yi, xi, 40, 64);": "VEC-18",
    "Abs(yf, xf, (uint64_t)65, 1, {1, 1, 8, 8});": "MSK-01",
    "Abs(yf, xf, none, 1, {1, 1, 8, 8});": "MSK-02",
    "Cast(nibbles, xh, RoundMode::CAST_RINT, odd, 1, {1, 1, 2, 8});": "MSK-03",
    "SetMaskCount(); Abs(yf, xf, (uint64_t)64, 7, {1, 1, 8, 8}); SetMaskNorm();": "MSK-04",
    "Abs<float, false>(yf, xf, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});": "MSK-06",
    "Compare(yu, xf, xf, CMPMODE::LT, 100);": "CMP-01",
    "Compare(yu[8160], xf, xf, CMPMODE::LT, 512);": "CMP-02",
    "GetCmpMask(yu[8128]);": "CMP-03",
    "Cast(yf, xh, RoundMode::CAST_RINT, 64);": "CVT-01",
    "AddDeqRelu(yh, xi, xi, 64);": "CVT-02",
    "CastDequant<half, int32_t>(yh, xi, 64);": "CVT-02",
    "Cast(yh, xi, RoundMode::CAST_NONE, 64);": "DTY-15",
    "Compare(yu, xi, xi, CMPMODE::LT, 64);": "DTY-07",
    "And(yv, xv, xv, 64);": "DTY-05",
    "And(yf, xf, xf, 64);": "DTY-05",
}
CLEAN = [
    "Add(yf, xf, xf, 64);",
    "SetDeqScale((half)1.0); Cast(yh, xi, RoundMode::CAST_NONE, 64);",
    "Cast(yf, xh, RoundMode::CAST_NONE, (uint64_t)64, 2, {1, 1, 8, 4});",
    "SetMaskCount(); Abs(yf, xf, (uint64_t)100, 1, {1, 1, 8, 8}); SetMaskNorm(); ResetMask();",
    "SetVectorMask<float>(0, 255); Abs<float, false>(yf, xf, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});",
    "Compare(yu, xf, xf, CMPMODE::LT, 128);",
    "Compare(yv, xf, xf, CMPMODE::LT, 128); CompareScalar(yf, xf, 1.0f, CMPMODE::LT, 128);",
    "Muls(xf, xf, 2.0f, 2048); Add(xf, xf, xf, (uint64_t)64, 4, {1, 1, 1, 8, 8, 8});",
]
ALL = [*REPORTED, *CLEAN]


@cache
def build() -> KernelBuild:
    cases = "\n".join(f"case {i}: {call} break;" for i, call in enumerate(ALL))
    made = Kernel.build(kernel(f"switch (which) {{\n{cases}\n}}"))
    assert made.ok, made.log
    return made


def rules(call: str) -> set[str]:
    arguments: list[TensorArgument | ScalarArgument] = [
        tensor("in", np.ones(2048, np.float32)),
        output("out", (2048,), "float32"),
        scalar("which", ALL.index(call), "uint32"),
    ]
    result = execute(build(), Launch(1, arguments), mode="check")
    assert result.error is None, result.error
    return {violation.rule for violation in result.violations}


@pytest.mark.parametrize("call", list(REPORTED))
def test_check_mode_reports(call: str) -> None:
    assert REPORTED[call] in rules(call)


@pytest.mark.parametrize("call", CLEAN)
def test_check_mode_is_silent(call: str) -> None:
    assert rules(call) == set()
