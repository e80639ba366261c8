# SPDX-License-Identifier: Apache-2.0
"""Build and run a kernel in every mode."""

from __future__ import annotations

import json
import uuid
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.twin.cache import Cache
from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel, KernelBuild, find_entries
from npuforge.twin.launch import Launch, ListArgument, output, scalar, tensor

_COUNT = 4 * 4096
_LISTED = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR y, GM_ADDR flags, GM_ADDR absent, int64_t n)
{
    AscendC::GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float*)y, n);
    for (int64_t i = 0; i < n; ++i) out.SetValue(i, absent == nullptr ? 1.5f : 0.0f);
}
template <typename T> __global__ __aicore__ void typed(GM_ADDR y)
{
    AscendC::GlobalTensor<T> out;
    out.SetGlobalBuffer((__gm__ T*)y, 1);
    out.SetValue(0, (T)sizeof(T));
}
"""


def _launch(seed: int = 0) -> Launch:
    random = np.random.default_rng(seed)
    x, y = random.standard_normal((2, _COUNT), dtype=np.float32)
    return Launch(
        4,
        [
            tensor("x", x),
            tensor("y", torch.from_numpy(y)),
            output("z", (_COUNT,), "float32"),
            scalar("total", _COUNT, "uint32"),
        ],
    )


def test_run_computes_and_check_finds_nothing(add: KernelBuild) -> None:
    launch = _launch()
    x, y = (t.data.data for t in launch.inputs if t.data is not None)
    for mode in ("run", "check"):
        result = execute(add, launch, mode=mode)
        assert result.error is None
        assert np.array_equal(result.outputs["z"], x + y)
        assert torch.equal(result.torch("z"), torch.from_numpy(x + y))
        assert result.unwritten == {"z": 0}
        assert (result.violations, result.races) == ([], [])
        assert result.isolation == Sandbox.detect().name


def test_time_without_and_with_data_agree(add: KernelBuild, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    without = execute(add, _launch(), mode="time", trace=trace)
    with_data = execute(add, _launch(), mode="timed")
    assert without.timing is not None
    assert with_data.timing is not None
    assert without.timing_note is None
    assert without.outputs == {}
    assert without.timing.time_us == pytest.approx(with_data.timing.time_us)
    assert json.loads(trace.read_text())["traceEvents"]


def test_control_flow_from_values_is_timed_with_data() -> None:
    source = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void wander(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<int32_t> in, out;
    in.SetGlobalBuffer((__gm__ int32_t*)x, 8);
    out.SetGlobalBuffer((__gm__ int32_t*)y, 8);
    const int32_t n = in.GetValue(0) & 7;
    for (int32_t i = 0; i < n; ++i) out.SetValue(i, i);
}
"""
    build = Kernel.build(source)
    assert build.ok, build.log
    x = np.full(8, 5, np.int32)
    result = execute(build, Launch(1, [tensor("x", x), output("y", (8,), "int32")]), mode="time")
    assert result.error is None
    assert result.timing is not None
    assert result.timing_note == (
        "timed with data: the kernel's control flow depends on tensor values"
    )


def test_absent_arguments_templates_and_unwritten(tmp_path: Path) -> None:
    source = tmp_path / "many.cpp"
    source.write_text(_LISTED)
    assert [(entry.name, entry.template) for entry in find_entries(source)] == [
        ("fill", False),
        ("typed", True),
    ]
    with pytest.raises(UsageError, match="several kernels; choose one: fill, typed"):
        Kernel.build(source)
    with pytest.raises(UsageError, match="kernel typed is a template; name an instance"):
        Kernel.build(source, entry="typed")
    build = Kernel.build(source, entry="typed<half>")
    assert build.ok, build.log
    result = execute(build, Launch(1, [output("y", (3,), "float16")]), mode="run")
    assert result.outputs["y"][0] == 2
    assert result.unwritten == {"y": 2}


def test_wrong_number_of_arguments_names_them(add: KernelBuild) -> None:
    launch = _launch()
    short = replace(launch, arguments=launch.arguments[:3])
    with pytest.raises(UsageError, match=r"add takes 4 arguments \(x, y, z, total\), .* gives 3"):
        execute(add, short)


def test_compile_error_points_into_the_source(tmp_path: Path) -> None:
    source = tmp_path / "broken.cpp"
    source.write_text(
        '#include "kernel_operator.h"\n'
        'extern "C" __global__ __aicore__ void broken(GM_ADDR x)\n{\n    undeclared = 1;\n}\n'
    )
    build = Kernel.build(source)
    assert not build.ok
    assert (build.diagnostics[0].file, build.diagnostics[0].line) == ("broken.cpp", 4)
    with pytest.raises(UsageError, match="broken did not compile"):
        execute(build, Launch(1, [output("x", (1,), "int8")]))


def test_violation_has_its_line(tmp_path: Path) -> None:
    source = tmp_path / "outside.cpp"
    source.write_text(
        '#include "kernel_operator.h"\n'
        'extern "C" __global__ __aicore__ void outside(GM_ADDR x)\n{\n'
        "    AscendC::GlobalTensor<float> g;\n"
        "    g.SetGlobalBuffer((__gm__ float*)x, 64);\n"
        "    AscendC::TPipe pipe;\n"
        "    AscendC::TBuf<AscendC::QuePosition::VECCALC> buffer;\n"
        "    pipe.InitBuffer(buffer, 256);\n"
        "    AscendC::LocalTensor<float> t = buffer.Get<float>();\n"
        "    AscendC::DataCopy(t, g[32], 64);\n}\n"
    )
    build = Kernel.build(source)
    assert build.ok, build.log
    launch = Launch(1, [tensor("x", np.zeros(64, np.float32))])
    result = execute(build, launch, mode="check")
    lines = {(violation.file, violation.line) for violation in result.violations}
    assert ("outside.cpp", 10) in lines


def test_list_members_are_tensors_of_the_launch() -> None:
    members = (output("a", (2,), "int8"), output("b", (3,), "int8"))
    launch = Launch(1, [ListArgument("all", members)])
    assert [t.name for t in launch.outputs] == ["a", "b"]
    with pytest.raises(UsageError, match="two tensors of the launch are called 'a'"):
        Launch(1, [output("a", (1,), "int8"), ListArgument("all", members)])


def test_kernels_of_one_name_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is locked while a kernel is built is its own, whatever its entry is called."""
    locked: list[str] = []
    lock = Cache.lock

    def noted(cache: Cache, key: str) -> AbstractContextManager[None]:
        locked.append(key)
        return lock(cache, key)

    monkeypatch.setattr(Cache, "lock", noted)
    fresh = uuid.uuid4().hex
    for number in range(2):
        locked.append("next")
        assert Kernel.build(f"// {fresh} {number}\n{_LISTED}", entry="fill").ok
    first, second = " ".join(locked).split("next")[1:]
    assert first.strip()
    assert not set(first.split()) & set(second.split())
