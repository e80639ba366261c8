# SPDX-License-Identifier: Apache-2.0
"""MultiKernelBench's answer formats end to end: binding, model, kernels, verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.model_verify import verify_model
from npuforge.twin.sources.model_answer import ModelAnswer

HERE = Path(__file__).parent
TASK = HERE / "scale_task.py"
SIX = (HERE / "scale_answer.py").read_text()

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
template <typename T>
__global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, int64_t count)
{
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;
    TBuf<QuePosition::VECCALC> work;
    pipe.InitBuffer(queue, 1, count * sizeof(T));
    GlobalTensor<T> from, to;
    from.SetGlobalBuffer((__gm__ T*)x + count * GetBlockIdx(), count);
    to.SetGlobalBuffer((__gm__ T*)y + count * GetBlockIdx(), count);
    LocalTensor<T> tile = queue.template AllocTensor<T>();
    DataCopy(tile, from, count);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Muls(tile, tile, T(2), count);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    queue.EnQue(tile);
    tile = queue.template DeQue<T>();
    DataCopy(to, tile, count);
    queue.FreeTensor(tile);
}
extern "C" void launch_scale(GM_ADDR x, GM_ADDR y, int64_t count, void* stream)
{
    scale<float><<<8, nullptr, stream>>>(x, y, count);
}
"""
BINDING = """
#include <torch/extension.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
extern "C" void launch_scale(uint8_t* x, uint8_t* y, int64_t count, void* stream);
torch::Tensor scale(const torch::Tensor& x)
{
    auto y = torch::empty_like(x);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    launch_scale(reinterpret_cast<uint8_t*>(x.data_ptr()), reinterpret_cast<uint8_t*>(y.data_ptr()),
                 x.numel() / 8, stream);
    return y;
}
PYBIND11_MODULE(scale_ops, m) { m.def("scale", &scale); }
"""
MODEL = """
import torch
import scale_ops
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return scale_ops.scale(x)
"""


def direct(folder: Path, kernel: str = KERNEL) -> Path:
    sources = {"ModelNew.py": MODEL, "kernel/scale.cpp": kernel, "kernel/bind.cpp": BINDING}
    document = {
        "entry": {"model": "ModelNew.py::ModelNew"},
        "build": {"type": "ascendc_direct_launch"},
        "sources": [{"path": path, "content": text} for path, text in sources.items()],
    }
    path = folder / "scale.json"
    path.write_text(json.dumps(document))
    return path


def six(folder: Path, text: str = SIX) -> Path:
    path = folder / "scale.py"
    path.write_text(text)
    return path


def test_six_strings_pass() -> None:
    report = verify_model(ModelAnswer.open(HERE / "scale_answer.py"), TASK)
    assert report.verdict.ok, report.verdict
    assert report.verdict.correct is True
    assert report.verdict.time_us is not None
    assert report.verdict.cases[0].shapes == [[16, 256]]


def test_files_are_called_as_the_host_code_expects(tmp_path: Path) -> None:
    """`scale_2d_custom` is the operator Scale2dCustom, from which its name cannot be told."""
    answer = tmp_path / "scale_2d.txt"
    answer.write_text(
        SIX.replace("scale_custom", "scale_2d_custom").replace("ScaleCustom", "Scale2dCustom")
    )
    assert ModelAnswer.open(answer).build().ok
    assert verify_model(ModelAnswer.open(answer), TASK, steps=("check",)).verdict.correct is True


def test_a_binding_is_built_once_wherever_its_answer_lies(tmp_path: Path) -> None:
    assert ModelAnswer.open(HERE / "scale_answer.py").build().ok
    again = ModelAnswer.open(six(tmp_path, SIX.replace("a, 2.0f, count", "a, 5.0f, count")))
    assert again.build().cached


def test_six_strings_with_a_wrong_kernel_fail(tmp_path: Path) -> None:
    answer = ModelAnswer.open(six(tmp_path, SIX.replace("a, 2.0f, count", "a, 3.0f, count")))
    verdict = verify_model(answer, TASK, steps=("check",)).verdict
    assert verdict.compiled is True
    assert verdict.correct is False


def test_a_kernel_that_does_not_compile_is_no_wrong_result(tmp_path: Path) -> None:
    answer = ModelAnswer.open(six(tmp_path, SIX.replace("Muls(b, a", "Mulsy(b, a")))
    verdict = verify_model(answer, TASK, steps=("check",)).verdict
    assert verdict.compiled is False
    assert any("Mulsy" in diagnostic.message for diagnostic in verdict.diagnostics)


def test_a_model_without_kernels_is_refused(tmp_path: Path) -> None:
    text = SIX.replace("return custom_ops_lib.scale(x)", "return x + x")
    verdict = verify_model(ModelAnswer.open(six(tmp_path, text)), TASK, steps=("check",)).verdict
    assert verdict.error == "the model launched no kernel"
    assert verdict.exit_status == 1


def test_direct_launch_passes(tmp_path: Path) -> None:
    report = verify_model(ModelAnswer.open(direct(tmp_path)), TASK)
    assert report.verdict.ok, report.verdict
    assert report.verdict.correct is True
    assert report.verdict.time_us is not None


def test_direct_launch_overrun_is_reported(tmp_path: Path) -> None:
    kernel = KERNEL.replace("DataCopy(to, tile, count)", "DataCopy(to[count * 7], tile, count)")
    answer = ModelAnswer.open(direct(tmp_path, kernel))
    verdict = verify_model(answer, TASK, steps=("check",)).verdict
    assert verdict.exit_status == 1
    assert "MEM-05" in {violation.rule for violation in verdict.violations}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel_src = open('x').read()", "must be a plain string"),
        ("kernel_src = 'x'", "does not define"),
        ("kernel_src = (", "is not Python"),
    ],
)
def test_bad_answers_get_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ModelAnswer.open(six(tmp_path, text))


def test_sources_may_not_leave_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "evil.json"
    source = {"path": "../evil.cpp", "content": ""}
    path.write_text(json.dumps({"entry": {"model": "m.py::M"}, "sources": [source]}))
    with pytest.raises(UsageError, match="is not allowed"):
        ModelAnswer.open(path)
