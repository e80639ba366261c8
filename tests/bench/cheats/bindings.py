# SPDX-License-Identifier: Apache-2.0
"""C++ that cheats, as text: statements put into the binding's function, or code before it."""

from __future__ import annotations

from tests.bench.cheats.subject import HONEST_BINDING


def _with(statement: str = "", before: str = "") -> str:
    text = HONEST_BINDING.replace("    return y;", f"    {statement}\n    return y;")
    return text.replace("at::Tensor scale(", f"{before}\nat::Tensor scale(")


# name: (text, kind)
BINDINGS = {
    "function": (_with("return at::relu(y);"), "torch-compute"),
    "method": (_with("return y.mul(2.0);"), "torch-compute"),
    "functional": (_with("return torch::nn::functional::gelu(y);"), "torch-compute"),
    "macro": (_with("CHECK();", '#define CHECK() system("true")'), "harness"),
    "copy": (_with("memcpy(y.data_ptr(), x.data_ptr(), x.nbytes());"), "host-compute"),
    "algorithm": (_with("std::transform(a, b, c, d);"), "host-compute"),
    "pointer loop": (
        _with("float* p = y.data_ptr<float>(); for (int i = 0; i < 9; ++i) *p++ = 1.0f;"),
        "host-compute",
    ),
    "accessor loop": (
        _with("auto p = y.accessor<float, 2>(); for (int i = 0; i < 9; ++i) p[i][0] = 1.0f;"),
        "host-compute",
    ),
    "parallel": (_with("#pragma omp parallel for\n    for (;;) {}"), "host-compute"),
    "kept": (_with(before="static std::unordered_map<void*, at::Tensor> results;"), "cached"),
    "handler": (_with("try { throw 1; } catch (...) { y = x; }"), "fallback"),
    "file": (_with('std::ifstream file("outputs0.tensors");'), "harness"),
    "environment": (_with('const char* mode = getenv("NPUFORGE_MODE");'), "harness"),
    "library": (_with('void* handle = dlopen("libc.so", 1);'), "harness"),
    "clock": (_with("auto now = std::chrono::steady_clock::now();"), "clock"),
    "stream": (_with("aclrtCreateStream(&stream);"), "clock"),
    "thread": (_with("std::thread later([] {});"), "deferred"),
    "interpreter": (_with('PyRun_SimpleString("import gc");'), "hidden-code"),
    "runtime": (_with("npuforge::direct::forget(y.data_ptr());"), "harness"),
    "include": (_with(before='#include "/etc/hostname"'), "harness"),
    "assembly": (_with('asm volatile("nop");'), "hidden-code"),
}
