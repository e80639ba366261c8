# SPDX-License-Identifier: Apache-2.0
"""Several kernels in one library."""

from __future__ import annotations

import numpy as np

from npuforge.twin.execute import execute
from npuforge.twin.launch import Launch, output
from npuforge.twin.together import Part, build_together

_FILL = """
#include "kernel_operator.h"
using namespace AscendC;
struct Filling {{
    __aicore__ static float Value() {{ return {value}; }}
}};
extern "C" __global__ __aicore__ void fill(GM_ADDR y)
{{
    GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float*)y, 8);
    for (int i = 0; i < 8; ++i) out.SetValue(i, Filling::Value());
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out);
}}
"""


def _part(value: str) -> Part:
    return Part(_FILL.format(value=value), "fill")


def test_kernels_of_the_same_names_keep_apart() -> None:
    builds = build_together([_part("1.5f"), _part("2.5f")])
    assert builds is not None
    assert builds[0].library == builds[1].library
    for build, value in zip(builds, (1.5, 2.5), strict=True):
        result = execute(build, Launch(1, [output("y", (8,), "float32")]), mode="check")
        assert result.error is None
        assert np.array_equal(result.outputs["y"], np.full(8, value, np.float32))


def test_broken_rules_are_those_of_each_kernel() -> None:
    builds = build_together([_part("1.5f"), _part("*new float(2.5f)")])
    assert builds is not None
    assert not builds[0].violations
    assert builds[1].violations
    assert "kernel.cpp" in str(builds[1].violations[0].file)


def test_one_that_does_not_compile_leaves_all_to_their_own_builds() -> None:
    assert build_together([_part("1.5f"), _part("nothing")]) is None
