# SPDX-License-Identifier: Apache-2.0
"""What real kernels do and the device compiler accepts is not reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from npuforge.errors import UsageError
from npuforge.twin.lint import SourceText, lint

from .kernels import findings, kernel

if TYPE_CHECKING:
    from pathlib import Path

ACCEPTED: dict[str, dict[str, Any]] = {
    "nothing special": {},
    "a constexpr function": {
        "top": "constexpr uint32_t Half(uint32_t n) { return n / 2; }",
        "body": "uint32_t h = Half(4);",
    },
    "a qualifier behind a macro": {
        "top": "#define DEVICE __forceinline__ [aicore]\nDEVICE int Half(int n) { return n / 2; }",
        "body": "int h = Half(4);",
    },
    "a qualifier of a header that is not here": {
        "top": "LIB_DEVICE int Half(int n) { return n / 2; }",
        "body": "int h = Half(4);",
    },
    "a defaulted constructor": {"constructor": "ScaleKernel() = default;"},
    "a lambda": {"body": "auto half = [](int n) { return n / 2; }; int h = half(4);"},
    "an overload for the device": {
        "top": "int Half(int n) { return n / 2; }\n"
        "__aicore__ inline float Half(float n) { return n / 2; }",
        "body": "float h = Half(4.0f);",
    },
    "a macro in the shape of a call": {
        "top": "#define HALF(n) ((n) / 2)",
        "body": "int h = HALF(4);",
    },
    "recursion that ends at compile time": {
        "top": "template <int N> __aicore__ inline int Sum()\n"
        "{ if constexpr (N > 0) { return N + Sum<N - 1>(); } return 0; }",
        "body": "int s = Sum<3>();",
    },
    "double as a mere type": {
        "body": "constexpr bool wide = sizeof(float) == sizeof(double) || "
        "std::is_same<float, double>::value; __gm__ double *p = nullptr;",
    },
    "type traits": {"body": "using T = std::conditional_t<true, float, half>;"},
    "device builtins": {"body": "scale = sqrt(scale) + min(1.0f, max(2.0f, abs(scale)));"},
    "an own function named like libm": {
        "method": "__aicore__ inline uint32_t ceil(uint32_t a, uint32_t b) { return (a + b) / b; }",
        "body": "uint32_t c = ceil(length, TILE);",
    },
    "a constant with its header": {"top": "#include <cfloat>", "body": "scale = FLT_MAX;"},
    "implicit and signed conversions": {
        "body": "scale = 1.0f * length; scale = static_cast<float>(static_cast<int32_t>(length));",
    },
    "member objects of the toolkit with methods named like ours": {
        "top": "struct Host { void Reset() {} };",
        "body": "AscendC::TBuf<> buf; scale = 1;",
    },
    "code for other builds": {
        "top": "#ifdef ASCENDC_CPU_DEBUG\n__aicore__ inline void F() { throw 1; }\n#endif\n"
        "#if __NPU_ARCH__ == 3510\n__aicore__ inline void G() { AscendC::Reg::Add(); }\n#endif",
    },
    "pipes in separate blocks": {
        "top": "__aicore__ inline void One() { AscendC::TPipe p; }\n"
        "__aicore__ inline void Two() { { AscendC::TPipe p; } { AscendC::TPipe q; } }",
        "entry": "if (TILING_KEY_IS(1)) { One(); } else if (TILING_KEY_IS(2)) { Two(); }",
    },
}


@pytest.mark.parametrize("parts", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted_code_is_not_reported(parts: dict[str, Any]) -> None:
    assert findings(kernel(**parts)) == []


def test_the_host_part_of_a_file_is_left_alone() -> None:
    source = (
        kernel()
        + """
    static double Error(const std::vector<float> &a) { return std::sqrt(double(a.size())); }
    int Fact(int n) { return n < 2 ? 1 : n * Fact(n - 1); }
    int main()
    {
        std::vector<float> data(1024);
        float *p = new float[4];
        try { scale<<<8, nullptr, stream>>>(x, y, w, t); } catch (...) { throw; }
        std::cout << Error(data) << Fact(3) << expf(1.0f);
        return 0;
    }
    """
    )
    assert findings(source) == []


def test_device_code_nothing_calls_is_left_alone() -> None:
    unused = "__aicore__ inline void Unused() { double d = 0; d += 1; }"
    assert findings(kernel(top=unused)) == []
    assert [f.rule for f in lint([SourceText("h.h", unused)])] == ["LNT-02"]


def test_an_entry_limits_the_search() -> None:
    other = 'extern "C" __global__ __aicore__ void other(GM_ADDR x) { throw 1; }'
    source = SourceText("scale.cpp", kernel(top=other))
    assert [f.rule for f in lint([source])] == ["LNT-06"]
    assert lint([source], entry="scale") == []


def test_local_includes_are_followed(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "near.h").write_text("inline int Near(int n) { return n; }\n")
    (tmp_path / "include" / "far.h").write_text(
        '#include "near.h"\ninline int Far() { return 1; }\n'
    )
    main = tmp_path / "scale.cpp"
    calls = "int a = Near(1); int b = Far();"
    main.write_text(kernel(top='#include "near.h"\n#include "far.h"', body=calls))
    assert [f.rule for f in lint([main])] == ["LNT-01"]
    assert [f.rule for f in lint([main], include_roots=[tmp_path / "include"])] == ["LNT-01"] * 2


def test_texts_include_each_other() -> None:
    header = SourceText("half.h", "inline int Half(int n) { return n / 2; }")
    main = SourceText("scale.cpp", kernel(top='#include "half.h"', body="int h = Half(4);"))
    assert [f.rule for f in lint([main, header])] == ["LNT-01"]


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*absent.cpp"):
        lint([tmp_path / "absent.cpp"])


def test_broken_source_gives_no_traceback() -> None:
    whole = kernel()
    for cut in range(0, len(whole), 97):
        findings = lint([SourceText("cut.cpp", whole[:cut])])
        assert all(finding.line >= 1 for finding in findings)
