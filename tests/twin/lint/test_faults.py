# SPDX-License-Identifier: Apache-2.0
"""Each rule of the lint finds its fault, on its line, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from npuforge import rules

from .kernels import findings, kernel, rule_lines

# (rule, where the fault goes, the fault; the line reported contains what follows "@@").
FAULTS: list[tuple[str, str, dict[str, Any]]] = [
    ("LNT-01", "Half(4)", {"top": "uint32_t Half(uint32_t n) { return n / 2; }",
                           "body": "uint32_t h = Half(4);"}),
    ("LNT-01", "Half<int>(4)", {"top": "template <typename T> T Half(T n) { return n / 2; }",
                                "body": "int h = Half<int>(4);"}),
    ("LNT-01", "Tail()", {"method": "uint32_t Tail() { return length % TILE; }",
                          "body": "uint32_t t = Tail();"}),
    ("LNT-01", "Compute(1)", {"top": "using namespace AscendC;",
                              "method": "inline void Compute(int n) {}", "body": "Compute(1);"}),
    ("LNT-01", "this->Tail()", {"method": "inline uint32_t Tail() { return length % TILE; }",
                                "body": "uint32_t t = this->Tail();"}),
    ("LNT-01", "ScaleKernel op;", {"constructor": "ScaleKernel() {}"}),
    ("LNT-01", "Shape::Rows()", {"top": "struct Shape { static int Rows() { return 1; } };",
                                 "body": "int r = Shape::Rows();"}),
    ("LNT-02", "double d", {"body": "double d = scale * 2;"}),
    ("LNT-02", "(double)scale", {"body": "float f = (double)scale;"}),
    ("LNT-02", "static_cast<double>", {"body": "float f = static_cast<double>(scale);"}),
    ("LNT-02", "double Twice", {"method": "__aicore__ inline double Twice(float v) { return v; }",
                                "body": "float f = Twice(1.0f);"}),
    ("LNT-03", "std::vector", {"body": "std::vector<int> list;"}),
    ("LNT-03", "std::sort", {"body": "int a[2]; std::sort(a, a + 2);"}),
    ("LNT-03", "memcpy", {"body": "float a[2], b[2]; memcpy(a, b, 8);"}),
    ("LNT-04", "std::exp", {"body": "scale = std::exp(scale);"}),
    ("LNT-04", "expf", {"body": "scale = expf(scale);"}),
    ("LNT-04", "sqrtf", {"body": "scale = sqrtf(scale);"}),
    ("LNT-05", "new float", {"body": "float *p = new float[4];"}),
    ("LNT-05", "malloc", {"body": "void *p = malloc(4);"}),
    ("LNT-06", "throw 1", {"body": "throw 1;"}),
    ("LNT-06", "try {", {"body": "try { scale = 1; } catch (...) {}"}),
    ("LNT-07", "typeid", {"body": "auto &t = typeid(scale);"}),
    ("LNT-08", "Sum(n - 1)", {
        "method": "__aicore__ inline int Sum(int n) { return n ? n + Sum(n - 1) : 0; }",
        "body": "int s = Sum(3);"}),
    ("LNT-08", "Odd(n - 1)", {
        "top": "__aicore__ inline bool Even(int n);\n"
               "__aicore__ inline bool Odd(int n) { return n ? Even(n - 1) : false; }\n"
               "__aicore__ inline bool Even(int n) { return n ? Odd(n - 1) : true; }",
        "body": "bool e = Odd(3);"}),
    ("LNT-09", "virtual", {"method": "__aicore__ inline virtual void Step() {}"}),
    ("LNT-10", "goto done", {"body": "goto done; done: scale = 1;"}),
    ("LNT-11", "static int count", {"body": "static int count = 0;"}),
    ("LNT-12", "static_cast<float>(length)", {"body": "scale = static_cast<float>(length);"}),
    ("LNT-12", "(length * TILE)", {"body": "scale = static_cast<float>(length * TILE);"}),
    ("LNT-13", "Sum((__gm__", {
        "top": "__aicore__ inline float Sum(const float *p) { return *p; }",
        "entry": "float s = Sum((__gm__ float *)x);"}),
    ("LNT-12", "(float)length", {"body": "scale = 1.0f / (float)length;"}),
    ("LNT-12", "float(n)", {"body": "uint64_t n = 4; scale = float(n);"}),
    ("LNT-12", "static_cast<uint32_t>(scale)", {"body": "length = static_cast<uint32_t>(scale);"}),
    ("LNT-13", "(float *)x, 8", {"entry": "AscendC::GlobalTensor<float> g;\n"
                                          "g.SetGlobalBuffer((float *)x, 8);"}),
    ("LNT-13", "float *raw = gm", {"entry": "__gm__ float *gm = (__gm__ float *)x;\n"
                                            "float *raw = gm;"}),
    ("LNT-13", "reinterpret_cast<int *>", {"entry": "__gm__ float *gm = (__gm__ float *)x;\n"
                                                    "auto p = reinterpret_cast<int *>(gm);"}),
    ("LNT-13", "First(gm)", {
        "top": "__aicore__ inline float First(__ubuf__ float *p) { return *p; }",
        "entry": "__gm__ float *gm = (__gm__ float *)x;\nfloat f = First(gm);"}),
    ("LNT-14", "AscendC::Maximum", {"body": "AscendC::Maximum(y, x, x, TILE);"}),
    ("LNT-14", "Dup(y", {"top": "using namespace AscendC;", "body": "Dup(y, 0.0f, TILE);"}),
    ("LNT-15", "AscendC::ReduceSun", {"body": "AscendC::ReduceSun(y, x, x, TILE);"}),
    ("LNT-16", "AscendC::EVENT_ID0", {"body": "auto id = AscendC::EVENT_ID0;"}),
    ("LNT-19", "inQueue.GetSize", {"body": "uint32_t n = inQueue.GetSize();"}),
    ("LNT-20", "FLT_MAX", {"body": "scale = FLT_MAX;"}),
    ("LNT-21", "std::cout", {"body": "std::cout << scale;"}),
    ("DTY-21", "AscendC::Neg", {"body": "AscendC::Neg(y, x, TILE);"}),
    ("ATM-04", "AscendC::AtomicAdd", {"body": "AscendC::AtomicAdd(p, 1);"}),
    ("EVT-02", "EVENT_ID8", {"body": "AscendC::SetFlag<AscendC::HardEvent::V_S>(EVENT_ID8);"}),
    ("EVT-02", "(9)", {"body": "AscendC::WaitFlag<AscendC::HardEvent::V_S>(9);"}),
    ("EVT-06", "PIPE_S", {"body": "AscendC::PipeBarrier<PIPE_S>();"}),
    ("QUE-01", "TPipe second", {"entry": "AscendC::TPipe second;"}),
    ("QUE-02", "TPipe pipe;", {"members": "AscendC::TPipe pipe;"}),
    ("LNC-06", "} else {", {"entry": "if (TILING_KEY_IS(1)) {\n op.Process();\n} else {\n}"}),
    ("TIL-03", "GET_TILING_DATA(tilingData", {"entry": "REGISTER_NONE_TILING();"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "where", "parts"), FAULTS, ids=[f"{rule}-{where}" for rule, where, _ in FAULTS]
)
def test_a_fault_is_found_where_it_is(rule: str, where: str, parts: dict[str, Any]) -> None:
    found = rule_lines(kernel(**parts))
    assert [name for name, _ in found] == [rule]
    assert where in found[0][1]


ENTRIES = [
    ("LNT-17", '__global__ void k(GM_ADDR x) {}'),
    ("LNT-17", 'extern "C" __global__ __aicore__ int k(GM_ADDR x) { return 0; }'),
    ("LNT-17", "struct S { __global__ __aicore__ void k(GM_ADDR x) {} };"),
    ("LNT-18", 'extern "C" __global__ __aicore__ void k(AscendC::GlobalTensor<float> x) {}'),
    ("LNT-18", 'extern "C" __global__ __aicore__ void k(GM_ADDR x, const Tiling &t) {}'),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "source"), ENTRIES)
def test_a_wrong_entry_is_found(rule: str, source: str) -> None:
    assert [f.rule for f in findings(source)] == [rule]


def test_every_rule_of_the_lint_has_a_fault() -> None:
    tested = {rule for rule, _, _ in FAULTS} | {rule for rule, _ in ENTRIES}
    enforced = {rule.id for rule in rules.all_rules() if "lint" in rule.enforced}
    assert enforced - tested == {"SCL-05"}  # the umbrella of LNT-03 to LNT-09


def test_a_name_is_reported_once_per_file() -> None:
    source = kernel(body="AscendC::Neg(y, x, TILE);\nAscendC::Neg(x, y, TILE);")
    assert len(findings(source)) == 1


def test_a_finding_tells_what_to_write_instead() -> None:
    (found,) = findings(kernel(body="AscendC::Maximum(y, x, x, TILE);"))
    assert (found.severity, found.fix) == ("error", "Use Max.")
    (found,) = findings(kernel(body="AscendC::ReduceSun(y, x, x, TILE);"))
    assert "ReduceSum" in found.message
    assert found.severity == "warning"
