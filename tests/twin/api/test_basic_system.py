# SPDX-License-Identifier: Apache-2.0
"""Scalars, tiling macros, lists of tensors, printing, static tensors, and what is absent."""

from __future__ import annotations

import numpy as np
import pytest

from npuforge.twin.execute import RunResult, execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import Launch, ListArgument, TilingArgument, output, tensor

HEAD = '#include "kernel_operator.h"\nusing namespace AscendC;\n'


def run(source: str, launch: Launch, mode: str = "check") -> RunResult:
    build = Kernel.build(HEAD + source)
    assert build.ok, build.log
    result = execute(build, launch, mode=mode)  # type: ignore[arg-type]
    assert result.error is None, result.error
    return result


def test_scalars() -> None:
    source = """
extern "C" __global__ __aicore__ void scalars(GM_ADDR y) {
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y);
    int32_t i = 0;
    const auto put = [&](int64_t v) { out.SetValue(i++, (int32_t)v); };
    put(ScalarGetCountOfValue<1>(0xff0fULL));
    put(ScalarGetCountOfValue<0>(0xff0fULL));
    put(ScalarCountLeadingZero(1ULL << 40));
    put(CountBitsCntSameAsSignBit(-1LL));
    put(CountBitsCntSameAsSignBit(1LL));
    put(ScalarGetSFFValue<1>(0b101000ULL));
    put(ScalarGetSFFValue<0>(0b10111ULL));
    put(ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(-2.5f));
    put(ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(-2.5f));
    put(ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(-2.5f));
    put(ScalarCast<float, int32_t, RoundMode::CAST_RINT>(2.5f));
    put(ScalarCast<float, int32_t, RoundMode::CAST_TRUNC>(2.9f));
    put((int32_t)ToFloat(ToBfloat16(3.0f)));
    put(min(3, (int64_t)2));
    put(max(3u, 7u));
    put((int32_t)sqrt(81.0f));
    put(Std::is_same<float, float>::value);
    put(IsSameType<float, half>::value);
    put(GetBlockIdx() + GetBlockNum() * 10 + GetSubBlockIdx() * 100);
    put(GetDataBlockSizeInBytes());
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);
}
"""
    result = run(source, Launch(1, [output("y", (20,), "int32")]))
    want = [12, 52, 23, 63, 62, 3, 3, -3, -2, -3, 2, 2, 3, 2, 7, 9, 1, 0, 10, 32]
    assert list(result.outputs["y"]) == want


TILING = """
struct Extents {
    uint32_t rows;
    uint32_t columns[3];
    float scale;
};
extern "C" __global__ __aicore__ void tiled(GM_ADDR y, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(Extents);
    GET_TILING_DATA(data, tiling);
    GET_TILING_DATA_WITH_STRUCT(Extents, again, tiling);
    GET_TILING_DATA_MEMBER(Extents, scale, scale, tiling);
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y);
    out.SetValue(0, data.rows);
    out.SetValue(1, again.columns[2]);
    out.SetValue(2, (int32_t)scale);
    if (TILING_KEY_IS(7)) out.SetValue(3, 70);
    else if (TILING_KEY_IS(8)) out.SetValue(3, 80);
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);
}
"""


@pytest.mark.parametrize("key", [7, 8])
def test_tiling_data(key: int) -> None:
    raw = np.array([11, 1, 2, 3], np.uint32).tobytes() + np.float32(5).tobytes()
    launch = Launch(1, [output("y", (4,), "int32"), TilingArgument("tiling", raw)], key=key)
    assert list(run(TILING, launch).outputs["y"]) == [11, 3, 5, key * 10]


def test_tensor_list() -> None:
    source = """
extern "C" __global__ __aicore__ void listed(GM_ADDR list, GM_ADDR y) {
    ListTensorDesc all((__gm__ void*)list);
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y);
    out.SetValue(0, all.GetSize());
    for (uint32_t i = 0; i < all.GetSize(); ++i) {
        uint64_t shape[8];
        TensorDesc<int32_t> one;
        one.SetShapeAddr(shape);
        all.GetDesc(one, i);
        GlobalTensor<int32_t> member;
        member.SetGlobalBuffer(all.GetDataPtr<int32_t>(i));
        const int32_t shaped = 100 * (int32_t)one.GetShape(0) + 10000 * (int32_t)one.GetDim();
        out.SetValue(1 + i, member.GetValue(0) + shaped);
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);
}
"""
    members = tuple(tensor(f"m{i}", np.full((i + 2, 4), i + 5, np.int32)) for i in range(3))
    launch = Launch(1, [ListArgument("list", members), output("y", (4,), "int32")])
    assert list(run(source, launch).outputs["y"]) == [3, 20205, 20306, 20407]


def test_printing() -> None:
    source = """
extern "C" __global__ __aicore__ void said(GM_ADDR y) {
    printf("%d|%5.2f|%s|%x|%%\\n", -3, 2.5f, "word", 255u);
    half h = 1.5;
    AscendC::PRINTF("%f %lld\\n", h, (int64_t)1 << 40);
    TPipe pipe;
    TBuf<> buf;
    pipe.InitBuffer(buf, 64);
    LocalTensor<int32_t> t = buf.Get<int32_t>();
    for (int i = 0; i < 8; ++i) t.SetValue(i, i * i);
    DumpTensor(t, 9, 4);
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y);
    out.SetValue(0, 1);
}
"""
    result = run(source, Launch(1, [output("y", (1,), "int32")]), mode="run")
    lines = result.printed.splitlines()
    assert lines[0] == "-3| 2.50|word|ff|%"
    assert lines[1] == "1.500000 1099511627776"
    assert lines[2].startswith("DumpTensor 9")
    assert lines[3] == "[0, 1, 4, 9]"


def test_a_failed_assert_ends_the_run() -> None:
    build = Kernel.build(
        HEAD + 'extern "C" __global__ __aicore__ void broken(GM_ADDR y) {\n'
        "    ascendc_assert(GetBlockNum() == 5);\n}\n"
    )
    assert build.ok, build.log
    result = execute(build, Launch(1, [output("y", (1,), "int32")]), mode="run")
    assert result.error is not None
    assert "GetBlockNum() == 5" in result.error


STATIC = """
extern "C" __global__ __aicore__ void still(GM_ADDR x, GM_ADDR y) {
    InitSocState();
    LocalMemAllocator<Hardware::UB> memory;
    LocalTensor<float> a = memory.Alloc<TPosition::VECCALC, float>(64);
    LocalTensor<float> b = memory.Alloc<float, 64>();
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float*)x, 64);
    out.SetGlobalBuffer((__gm__ float*)y, 64);
    DataCopy(a, in, 64);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Adds(b, a, 1.0f, 64);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(out, b, 64);
}
"""


def test_static_tensors() -> None:
    x = np.arange(64, dtype=np.float32)
    result = run(STATIC, Launch(1, [tensor("x", x), output("y", (64,), "float32")]))
    np.testing.assert_array_equal(result.outputs["y"], x + 1)
    assert result.races == []


def test_filling_gm() -> None:
    source = """
extern "C" __global__ __aicore__ void filled(GM_ADDR y) {
    TPipe pipe;
    GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float*)y, 100000);
    InitGlobalMemory(out, (uint64_t)100000, 2.5f);
}
"""
    result = run(source, Launch(1, [output("y", (100000,), "float32")]))
    assert (result.outputs["y"] == 2.5).all()
    assert result.races == []


RAW = """
extern "C" __global__ __aicore__ void raw(GM_ADDR x, GM_ADDR y) {
    TPipe pipe;
    TBuf<> buf;
    pipe.InitBuffer(buf, 4096);
    __ubuf__ float* a = (__ubuf__ float*)buf.Get<float>().GetPhyAddr();
    __ubuf__ float* b = a + 128;
    copy_gm_to_ubuf(a, (__gm__ void*)x, 0, 1, 16, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    set_mask_norm();
    set_vector_mask((uint64_t)-1, (uint64_t)-1);
    vadd(b, a, a, 2, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(b, b, 3.0f, 2, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vcadd(a, b, 2, 1, 1, 8, false);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm_align_b32((__gm__ void*)y, a, 0, 1, 8, 0, 0, 0, 0);
}
"""


def test_raw_instructions() -> None:
    x = np.arange(128, dtype=np.float32)
    result = run(RAW, Launch(1, [tensor("x", x), output("y", (2,), "float32")]))
    np.testing.assert_array_equal(result.outputs["y"], x.reshape(2, 64).sum(axis=1) * 6)
    assert result.races == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("MmadParams p; (void)p;", "cube API MmadParams is not in the twin yet"),
        ("LocalTensor<half> a; Mmad(a, a, a);", "cube API Mmad is not in the twin yet"),
        ("LocalTensor<int16_t> a; Sort32(a, a, a.ReinterpretCast<uint32_t>(), 1);", "DTY-19"),
        ("LocalTensor<int32_t> a; ReduceSum(a, a, a, 8);", "DTY-09"),
        ("SetAtomicAdd<uint8_t>();", "ATM-03"),
        ("PipeBarrier<PIPE_S>();", "EVT-06"),
    ],
)
def test_refused_at_compile_time(code: str, words: str) -> None:
    build = Kernel.build(
        HEAD + 'extern "C" __global__ __aicore__ void refused(GM_ADDR y) {\n    ' + code + "\n}\n"
    )
    assert not build.ok
    assert words in build.log
