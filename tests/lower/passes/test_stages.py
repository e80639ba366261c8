# SPDX-License-Identifier: Apache-2.0
"""Blocks become functions: their arguments, shared scalars, queue operations and waits."""

from __future__ import annotations

from tests.lower.passes.demo import code, function, lines, process

STEPS = """
for t in range(n):
    if t > 0:
        with tl.compute():
            tl.fill(b, float(t))
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp(c, a)
    with tl.copyout():
        tl.store(y + t * 64, c)
"""


def test_blocks_are_called_where_they_stand_and_numbered_if_several() -> None:
    assert process(STEPS, "a b c") == lines("""
        |for (int64_t t = 0; t < n; ++t) {
        |    if (t > 0) {
        |        Compute0(t);
        |    }
        |    CopyIn(t);
        |    Compute1();
        |    CopyOut(t);
        |}
    """)
    functions = code(STEPS, "a b c").body.functions
    assert [(one.name, one.parameters) for one in functions] == [
        ("Compute0", [("int64_t", "t")]),
        ("CopyIn", [("int64_t", "t")]),
        ("Compute1", []),
        ("CopyOut", [("int64_t", "t")]),
    ]


def test_a_block_takes_its_tensors_first_and_gives_them_back_last() -> None:
    assert function("Compute1", STEPS, "a b c") == lines("""
        |LocalTensor<float> aLocal = aQueue.DeQue<float>();
        |LocalTensor<float> cLocal = cQueue.AllocTensor<float>();
        |Exp(cLocal, aLocal, 64);
        |aQueue.FreeTensor(aLocal);
        |cQueue.EnQue(cLocal);
    """)


def test_parameters_of_the_kernel_are_members_and_no_arguments() -> None:
    body = "k = n + 1\nwith tl.compute():\n    tl.fill(a, float(n) + float(k))"
    assert process(body, "a")[-1] == "Compute(k);"


def test_a_scalar_that_a_block_assigns_for_others_is_a_member() -> None:
    body = """
    with tl.compute():
        tl.fill(a, 1.0)
        s = tl.extract_scalar(a, 0)
    {rest}
    """
    shared = body.format(rest="with tl.compute():\n        tl.fill(b, s)")
    assert code(shared).body.scalar_members == [("float", "s")]
    assert function("Compute0", shared)[-1] == "s = aLocal.GetValue(0);"
    assert process(shared) == ["Compute0();", "Compute1();"]
    own = body.format(rest="    tl.fill(b, s)")
    assert code(own).body.scalar_members == []
    assert "const float s = aLocal.GetValue(0);" in function("Compute", own)


def test_a_scalar_with_several_values_is_declared_ahead() -> None:
    body = """
    k = 1
    for t in range(n):
        {assigned}
        with tl.compute():
            tl.fill(a, float(k))
    """
    assert process(body.format(assigned="k += t"), "a") == lines("""
        |int64_t k = 0;
        |k = 1;
        |for (int64_t t = 0; t < n; ++t) {
        |    k = k + t;
        |    Compute(k);
        |}
    """)
    assert process(body.format(assigned="j = t"), "a")[0] == "const int64_t k = 1;"


def test_both_branches_of_a_condition_assign_one_variable() -> None:
    body = """
    if n > 8:
        k = 1
    else:
        k = 2
    with tl.compute():
        tl.fill(a, float(k))
    """
    assert process(body, "a") == lines("""
        |int64_t k = 0;
        |if (n > 8) {
        |    k = 1;
        |} else {
        |    k = 2;
        |}
        |Compute(k);
    """)


EXCLUSIVE = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp({result}, a)
    with tl.copyout():
        tl.store(y + t * 64, {result})
"""


def waits(name: str, result: str) -> list[str]:
    emitted = function(name, EXCLUSIVE.format(result=result))
    return [
        line[len("WaitFor<HardEvent::") : -len(">();")] for line in emitted if "WaitFor" in line
    ]


def test_transfers_of_a_tile_without_a_queue_wait_for_the_other_pipes() -> None:
    assert waits("CopyIn", "a") == ["V_MTE2", "MTE3_MTE2", "MTE2_V", "MTE2_MTE3"]
    assert waits("Compute", "a") == []
    assert waits("CopyOut", "a") == ["V_MTE3", "MTE3_V"]


def test_queues_need_no_waits() -> None:
    assert [waits(name, "b") for name in ("CopyIn", "Compute", "CopyOut")] == [[], [], []]


def test_the_waits_stand_around_the_transfer() -> None:
    assert function("CopyOut", EXCLUSIVE.format(result="a")) == lines("""
        |LocalTensor<float> aLocal = aBuf.Get<float>();
        |WaitFor<HardEvent::V_MTE3>();
        |DataCopy(yGm[t * 64], aLocal, 64);
        |WaitFor<HardEvent::MTE3_V>();
    """)


def test_an_element_of_global_memory_is_read_in_place() -> None:
    body = "with tl.copyin():\n    s = tl.load_scalar(x + n)\nwith tl.compute():\n    tl.fill(a, s)"
    assert function("CopyIn", body, "a") == ["s = xGm.GetValue(n);"]
    assert function("Compute", body, "a")[-1] == "Duplicate(aLocal, s, 64);"
