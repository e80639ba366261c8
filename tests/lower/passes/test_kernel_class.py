# SPDX-License-Identifier: Apache-2.0
"""A kernel as a class: parameters of `Init`, memory of the buffers, members."""

from __future__ import annotations

from tests.lower.passes.demo import code, form, lines

FILLED = "with tl.compute():\n    tl.fill(a, float(n))"


def head(body: str, buffers: str = "a") -> str:
    """The declaration of `Init`."""
    (found,) = (line.strip() for line in code(body, buffers).lines if " Init(" in line)
    return found.removeprefix("__aicore__ inline void ")


def members(body: str, buffers: str = "a") -> list[str]:
    """Declarations at the end of the class."""
    declared = code(body, buffers).lines
    last = max(place for place, line in enumerate(declared) if line == "    }")
    return [line.strip() for line in declared[last + 2 : -1]]


def test_the_whole_class_of_a_small_kernel() -> None:
    assert form("compute", FILLED, "a") == lines("""
        |class DemoKernel {
        |public:
        |    __aicore__ inline DemoKernel() {}
        |
        |    __aicore__ inline void Init(GM_ADDR xGmAddr, GM_ADDR yGmAddr, int64_t n, TPipe* pipe)
        |    {
        |        xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(xGmAddr));
        |        yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(yGmAddr));
        |        this->n = n;
        |        pipe->InitBuffer(aBuf, 512);
        |    }
        |
        |    __aicore__ inline void Process()
        |    {
        |        Compute();
        |    }
        |
        |private:
        |    __aicore__ inline void Compute()
        |    {
        |        LocalTensor<float> aLocal = aBuf.Get<float>();
        |        Duplicate(aLocal, static_cast<float>(n), 64);
        |    }
        |
        |    GlobalTensor<float> xGm;
        |    GlobalTensor<float> yGm;
        |    TBuf<TPosition::VECCALC> aBuf;
        |    int64_t n;
        |};
    """)


def test_the_docstring_becomes_a_comment() -> None:
    body = f'"""Fill.\n\nTwice."""\na = tl.alloc_ub(64, dtype=tl.float32)\n{FILLED}'
    assert code(body, "").lines[:4] == ["// Fill.", "// ", "// Twice.", "class DemoKernel {"]


def test_buffers_are_declared_by_their_kind() -> None:
    body = """
    for t in range(n):
        with tl.copyin():
            tl.load(x, a)
            tl.load(x, b)
        with tl.compute():
            tl.exp(c, a)
            tl.exp(d, a)
        with tl.copyout():
            tl.store(y, b)
            tl.store(y, d)
    """
    assert members(body, "a b c d")[2:6] == [
        "TQue<TPosition::VECIN, 2> aQueue;",
        "TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> bQueue;",
        "TBuf<TPosition::VECCALC> cBuf;",
        "TQue<TPosition::VECOUT, 2> dQueue;",
    ]
    reserved = [line.strip() for line in code(body, "a b c d").lines if "InitBuffer" in line]
    assert reserved == [
        "pipe->InitBuffer(aQueue, 2, 512);",
        "pipe->InitBuffer(bQueue, 2, 512);",
        "pipe->InitBuffer(cBuf, 512);",
        "pipe->InitBuffer(dQueue, 2, 512);",
    ]


def test_a_tensor_that_lives_across_blocks_is_a_member() -> None:
    held = """
    with tl.copyin():
        tl.load(x, a)
    {loop}with tl.compute():
        {more}tl.exp(b, a)
    """
    across = held.format(loop="for t in range(n):\n        ", more="    ")
    assert "LocalTensor<float> aLocal;" in members(across, "a b")
    once = held.format(loop="", more="")
    assert not any(line.startswith("LocalTensor") for line in members(once, "a b"))


def test_sizes_are_computed_by_the_host_and_pitches_kept_as_members() -> None:
    rows = "c = tl.alloc_ub((4, n), dtype=tl.float32)\nwith tl.compute():\n    tl.fill(c, 0.0)"
    assert head(rows, "") == (
        "Init(GM_ADDR xGmAddr, GM_ADDR yGmAddr, int64_t n, int64_t cPitch, int64_t cBytes, "
        "TPipe* pipe)"
    )
    assert members(rows, "")[-2:] == ["int64_t n;", "int64_t cPitch;"]
    assert "Pitch" not in head(rows.replace("(4, n)", "(4, 20)"), "")


def test_the_number_of_programs_is_passed_where_it_is_asked_for() -> None:
    asks = "p = tl.num_programs(0)\nwith tl.compute():\n    tl.fill(a, float(p))"
    assert head(asks).endswith("int64_t n, int64_t programCount, TPipe* pipe)")
    assert code(asks, "a").counts_programs
    assert not code(FILLED, "a").counts_programs
    own = asks.replace("p =", "program_count =").replace("float(p)", "float(program_count)")
    assert code(own, "a").body.process[0] == "const int64_t programCount2 = programCount;"


def test_the_total_counts_every_copy() -> None:
    body = """
    for t in range(n):
        with tl.copyin():
            tl.load(x + t * 64, a)
        with tl.compute():
            tl.exp(b, a)
    """
    emitted = code(body, "a b")
    low, high = emitted.kernel.facts.bounds(emitted.ub_bytes)
    assert low == high == 3 * 512
