# SPDX-License-Identifier: Apache-2.0
"""y = 2 x as an answer in both formats, honest; cheats replace its model or its binding.

One kernel and one binding are compiled for all of them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import torch
from tests.twin.answers.test_model_answer import KERNEL, SIX

from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.twin.model_verify import Seen, run_candidate
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.torchbind.candidate import CandidateResult

HEAD = """
import torch
import torch.nn as nn
import torch_npu
import custom_ops_lib as ops
"""
MODEL = (
    HEAD
    + """
class ModelNew(nn.Module):
    def forward(self, x):
        return ops.scale(x)
"""
)
# Every function that a model of the gallery may call; most of them cheat.
BINDING = """
#include <torch/extension.h>
#include "pytorch_npu_helper.hpp"
#include <cstring>
#include <map>
at::Tensor scale(const at::Tensor& x)
{
    at::Tensor y = at::empty_like(x);
    EXEC_NPU_CMD(aclnnScaleCustom, x, y);
    return y;
}
at::Tensor by_torch(const at::Tensor& x)
{
    scale(x);
    return at::mul(x, 2.0);
}
at::Tensor by_host(const at::Tensor& x)
{
    at::Tensor y = scale(x);
    const float* from = x.data_ptr<float>();
    float* to = y.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2.0f * from[i] + 1.0f;
    return y;
}
at::Tensor by_copy(const at::Tensor& x)
{
    scale(x);
    at::Tensor y = at::empty_like(x);
    std::memcpy(y.data_ptr(), x.data_ptr(), x.nbytes());
    return y;
}
at::Tensor prepared(const at::Tensor& x)
{
    at::Tensor half = at::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = half.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] / 2.0f;
    return scale(half);
}
at::Tensor kept(const at::Tensor& x)
{
    static std::map<int64_t, at::Tensor> results;
    if (results.find(x.numel()) == results.end()) results[x.numel()] = scale(x);
    return results[x.numel()];
}
at::Tensor nothing(const at::Tensor& x) { return at::empty_like(x); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("scale", &scale);
    m.def("by_torch", &by_torch);
    m.def("by_host", &by_host);
    m.def("by_copy", &by_copy);
    m.def("prepared", &prepared);
    m.def("kept", &kept);
    m.def("nothing", &nothing);
}
"""
HONEST_BINDING = """
#include <torch/extension.h>
#include "pytorch_npu_helper.hpp"
at::Tensor scale(const at::Tensor& x)
{
    at::Tensor y = at::empty_like(x);
    EXEC_NPU_CMD(aclnnScaleCustom, x, y);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
"""
DIRECT_BINDING = """
#include <torch/extension.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
extern "C" void launch_scale(uint8_t* x, uint8_t* y, int64_t count, void* stream);
static uint8_t* at_of(const torch::Tensor& t) { return reinterpret_cast<uint8_t*>(t.data_ptr()); }
torch::Tensor scale(const torch::Tensor& x)
{
    auto y = torch::empty_like(x);
    launch_scale(at_of(x), at_of(y), x.numel() / 8, c10_npu::getCurrentNPUStream().stream(false));
    return y;
}
torch::Tensor by_host(const torch::Tensor& x)
{
    scale(x);
    auto y = torch::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = y.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2.0f * from[i];
    return y;
}
torch::Tensor nothing(const torch::Tensor& x) { return torch::empty_like(x); }
PYBIND11_MODULE(custom_ops_lib, m)
{
    m.def("scale", &scale);
    m.def("by_host", &by_host);
    m.def("nothing", &nothing);
}
"""


def six(folder: Path, model: str = MODEL, binding: str = HONEST_BINDING) -> ModelAnswer:
    """Six strings with another model and binding than the honest one."""
    scope: dict[str, str] = {}
    exec(SIX, scope)  # our own file of string constants
    scope |= {"model_src": model, "python_bind_src": binding}
    path = folder / "scale.py"
    names = [name for name in scope if name.endswith("_src")]
    path.write_text("\n".join(f"{name} = {scope[name]!r}" for name in names))
    return ModelAnswer.open(path)


def direct(folder: Path, model: str = MODEL, binding: str = DIRECT_BINDING) -> ModelAnswer:
    sources = {"ModelNew.py": model, "kernel/scale.cpp": KERNEL, "kernel/bind.cpp": binding}
    document = {
        "entry": {"model": "ModelNew.py::ModelNew"},
        "sources": [{"path": path, "content": text} for path, text in sources.items()],
    }
    path = folder / "scale.json"
    path.write_text(json.dumps(document))
    return ModelAnswer.open(path)


def run(answer: ModelAnswer, calls: int = 2) -> tuple[CandidateResult, Seen]:
    """The model on other values in each call."""
    with tempfile.TemporaryDirectory() as folder:
        torch.save([], Path(folder) / "init.pt")
        for number in range(calls):
            torch.manual_seed(number)
            torch.save([torch.randn(16, 256)], Path(folder) / f"inputs{number}.pt")
        with SharedFolder(Path(folder)) as wanted:
            done, seen, _ = run_candidate(answer, wanted, "run", "910b2", seed=1)
    return done, seen
