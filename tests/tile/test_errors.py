# SPDX-License-Identifier: Apache-2.0
"""Every error has its rule and its line, and one run reports all of them.

Programs here mark the lines that are wrong: `# !TL-05` expects that finding on that line.
"""

from __future__ import annotations

import re

import pytest

from npuforge.tile import read_program
from npuforge.tile.source import TileError

HEAD = "import tile.language as tl\n\n\n"
HOST = """\
def work_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    work[1](x, y, n)
"""


def kernel(*body: str, buffers: str = "a = tl.alloc_ub(64, dtype=tl.float32)") -> str:
    lines = ["@ascend_kernel", "def work(x, y, n):", f"    {buffers}"]
    return "\n".join(lines + [f"    {line}" for line in body]) + "\n\n\n"


def compute(*body: str, buffers: str = "") -> str:
    """A kernel with buffers of several types and `body` in a compute block."""
    return (
        "@ascend_kernel\n"
        "def work(x, y, n):\n"
        "    a = tl.alloc_ub(64, dtype=tl.float32)\n"
        "    b = tl.alloc_ub(64, dtype=tl.float32)\n"
        "    h = tl.alloc_ub(64, dtype=tl.float16)\n"
        "    i = tl.alloc_ub(64, dtype=tl.int32)\n"
        "    m = tl.alloc_mask(64)\n"
        "    t = tl.alloc_ub((8, 16), dtype=tl.float32)\n"
        f"    {buffers or 'pass'}\n"
        "    with tl.copyin():\n"
        "        tl.load(x, a)\n"
        "    with tl.compute():\n"
        + "".join(f"        {line}\n" for line in body)
        + "    with tl.copyout():\n"
        "        tl.store(y, a)\n\n\n"
    )


def expected(text: str) -> list[tuple[str, int]]:
    return [
        (rule, number)
        for number, line in enumerate(text.splitlines(), 1)
        for rule in re.findall(r"!(TL-\d\d)", line)
    ]


def found(text: str) -> list[tuple[str, int]]:
    with pytest.raises(TileError) as caught:
        read_program(text)
    return [(finding.rule, finding.span.line) for finding in caught.value.findings]


WRONG = {
    # ---- TL-01: Python the language does not have
    "while": HEAD + kernel("while n > 0:  # !TL-01", "    pass") + HOST,
    "comprehension": HEAD + kernel("q = [n for n in (1, 2)]  # !TL-01") + HOST,
    "return": HEAD + kernel("return  # !TL-01") + HOST,
    "for over a tuple": HEAD + kernel("for q in (1, 2):  # !TL-01", "    pass") + HOST,
    "for else": HEAD
    + kernel("for q in range(2):  # !TL-01", "    pass", "else:", "    pass")
    + HOST,
    "tuple assignment": HEAD + kernel("p, q = 1, 2  # !TL-01") + HOST,
    "annotated assignment": HEAD + kernel("p: int = 1  # !TL-01") + HOST,
    "attribute": HEAD + kernel("q = n.real  # !TL-01") + HOST,
    "syntax": HEAD + kernel("q = (1 +  # !TL-01") + HOST,
    "shape into an item": HEAD
    + kernel("pass")
    + HOST.replace("n = x.numel()", "n, p[0] = x.shape  # !TL-01"),
    # ---- TL-02: the parts of a program
    "no host": HEAD.replace("import", "import", 1) + kernel("pass"),
    "two hosts": HEAD
    + kernel("pass")
    + HOST
    + "\n\ndef other(x: tl.input(tl.float32)):  # !TL-02\n    pass\n",
    "never launched": HEAD
    + kernel("pass")
    + "@ascend_kernel\ndef unused(x):  # !TL-02\n    pass\n\n\n"
    + HOST,
    "plain parameter": HEAD
    + kernel("pass")
    + HOST.replace(
        "(x: tl.input(tl.float32), ", "(\n    p,  # !TL-02\n    x: tl.input(tl.float32), "
    ),
    "output without shape": HEAD
    + kernel("pass")
    + HOST.replace(
        "y: tl.output(tl.float32, x.shape)",
        "\n    y: tl.output(tl.float32),  # !TL-02\n    z: tl.output(tl.float32, x.shape)",
    ).replace("work[1](x, y, n)", "work[1](x, z, n)"),
    "no output": HEAD
    + kernel("pass")
    + "def work_host(x: tl.input(tl.float32), y: tl.input(tl.float32)):  # !TL-02\n"
    + "    work[1](x, y, 1)\n",
    "the shape of a workspace": HEAD
    + kernel("pass")
    + HOST.replace(
        "    work[1]",
        "    w = tl.workspace((n,), tl.float32)\n"
        "    a = w.shape[0]  # !TL-03\n"
        "    b = w.numel()  # !TL-03\n"
        "    (c,) = w.shape  # !TL-03\n"
        "    work[1]",
    ),
    "loop on the host": HEAD
    + kernel("pass")
    + HOST.replace("    work", "    for q in range(3):  # !TL-02\n        pass\n    work"),
    "other decorator": HEAD + kernel("pass") + HOST + "\n\n@jit\ndef f():  # !TL-02\n    pass\n",
    "twice the same name": HEAD
    + kernel("pass")
    + kernel("pass").replace("def work(x, y, n):", "def work(x, y, n):  # !TL-02")
    + HOST,
    # ---- TL-03: names
    "unknown scalar": HEAD + kernel("q = p + 1  # !TL-03") + HOST,
    "unknown buffer": HEAD + compute("tl.exp(zz, a)  # !TL-03") + HOST,
    "unknown tensor": HEAD + kernel("with tl.copyin():", "    tl.load(z + 1, a)  # !TL-03") + HOST,
    "only in one branch": HEAD + kernel("if n > 1:", "    q = 1", "p = q  # !TL-03") + HOST,
    "only in the loop": HEAD + kernel("for q in range(2):", "    r = q", "p = r  # !TL-03") + HOST,
    "counter after the loop": HEAD
    + kernel("for q in range(2):", "    pass", "p = q  # !TL-03")
    + HOST,
    "unknown kernel": HEAD
    + kernel("pass")
    + HOST.replace("    work[1]", "    wrk[1](x, y, n)  # !TL-03\n    work[1]"),
    "shape in a kernel": HEAD + kernel("q = x.shape[0]  # !TL-03") + HOST,
    # ---- TL-04: calls
    "unknown operation": HEAD + compute("tl.expp(a, a)  # !TL-04") + HOST,
    "too few operands": HEAD + compute("tl.add(a, a)  # !TL-04") + HOST,
    "unknown keyword": HEAD + compute("tl.exp(a, a, axis=0)  # !TL-04") + HOST,
    "a tile to count from": HEAD + compute("tl.iota(a, b, 1.0)  # !TL-04") + HOST,
    "a tile as the number": HEAD + compute("tl.fill(a, b)  # !TL-04") + HOST,
    "two scalars": HEAD + compute("tl.add(a, 1.0, 2.0)  # !TL-04") + HOST,
    "unknown comparison": HEAD + compute('tl.compare(m, a, b, "<")  # !TL-04') + HOST,
    "unknown rounding": HEAD + compute('tl.cast(h, a, round="up")  # !TL-04') + HOST,
    "no stride": HEAD
    + kernel(
        "with tl.copyin():",
        "    tl.load(x, a)  # !TL-04",
        buffers="a = tl.alloc_ub((4, 64), dtype=tl.float32)",
    )
    + HOST,
    "unknown atomic": HEAD
    + kernel("with tl.copyout():", '    tl.store(y, a, atomic="mul")  # !TL-04')
    + HOST,
    "no dtype": HEAD + kernel("q = tl.alloc_ub(8)  # !TL-04") + HOST,
    "unknown dtype": HEAD + kernel("q = tl.alloc_ub(8, dtype=tl.float8)  # !TL-04") + HOST,
    "cores in a kernel": HEAD + kernel("q = tl.num_cores()  # !TL-04") + HOST,
    "other axis": HEAD + kernel("q = tl.program_id(1)  # !TL-04") + HOST,
    "unused scalar": HEAD + compute("tl.extract_scalar(a, 0)  # !TL-04") + HOST,
    "require without text": HEAD
    + kernel("pass")
    + HOST.replace("    work", "    tl.require(n > 0)  # !TL-04\n    work"),
    # ---- TL-05: types of scalars
    "float as a size": HEAD + kernel("for q in range(1.5):  # !TL-05", "    pass") + HOST,
    "other type": HEAD + kernel("q = 1", "q = 1.5  # !TL-05") + HOST,
    "number as a condition": HEAD + kernel("if n:  # !TL-05", "    pass") + HOST,
    "condition as a number": HEAD + kernel("q = (n > 1) + 1  # !TL-05") + HOST,
    "float remainder": HEAD + kernel("q = 1.5 % 2.0  # !TL-05") + HOST,
    "division by zero": HEAD + kernel("q = n // 0  # !TL-05") + HOST,
    "buffer as a number": HEAD + kernel("q = a + 1  # !TL-05") + HOST,
    "assigned buffer": HEAD + kernel("a = 1  # !TL-05") + HOST,
    "assigned constant": HEAD + "C = 1\n\n\n" + kernel("C = 2  # !TL-05") + HOST,
    "variable step": HEAD + kernel("for q in range(0, 9, n):  # !TL-05", "    pass") + HOST,
    "counter has a value": HEAD
    + kernel("q = 1", "for q in range(2):  # !TL-05", "    pass")
    + HOST,
    "counter is assigned": HEAD + kernel("for q in range(2):  # !TL-05", "    q = 1") + HOST,
    "two types in branches": HEAD
    + kernel("if n > 1:  # !TL-05", "    q = 1", "else:", "    q = 1.5")
    + HOST,
    "two types on the host": HEAD
    + kernel("pass")
    + HOST.replace(
        "    work", "    if n > 1:  # !TL-05\n        q = 1\n    else:\n        q = 1.5\n    work"
    ),
    "not a constant": HEAD + "C = tl.num_cores()  # !TL-05\n\n\n" + kernel("pass") + HOST,
    "wrong default": HEAD
    + kernel("pass")
    + HOST.replace("x.shape)):", "x.shape),\n              k: tl.attr(int, 1.5)):  # !TL-05"),
    "two ranks": HEAD
    + kernel("pass")
    + HOST.replace("    n =", "    p, q = x.shape\n    p, q, r = x.shape  # !TL-05\n    n ="),
    # ---- TL-06: blocks
    "load outside": HEAD + kernel("tl.load(x, a)  # !TL-06") + HOST,
    "load in compute": HEAD + compute("tl.load(x, a)  # !TL-06") + HOST,
    "operation in copyin": HEAD + kernel("with tl.copyin():", "    tl.exp(a, a)  # !TL-06") + HOST,
    "nested blocks": HEAD
    + kernel("with tl.copyin():", "    with tl.compute():  # !TL-06", "        pass")
    + HOST,
    "unknown block": HEAD + kernel("with tl.copy():  # !TL-06", "    pass") + HOST,
    "scalar outside": HEAD + kernel("q = tl.load_scalar(x)  # !TL-06") + HOST,
    # ---- TL-07: types of elements
    "two types": HEAD + compute("tl.add(a, a, h)  # !TL-07") + HOST,
    "float for whole numbers": HEAD + compute("tl.add(i, i, 1.5)  # !TL-07") + HOST,
    "mask as a tile": HEAD + compute("tl.exp(m, a)  # !TL-07") + HOST,
    "tile as a mask": HEAD + compute("tl.select(a, b, a, a)  # !TL-07") + HOST,
    "load of another type": HEAD
    + kernel(
        "with tl.copyin():",
        "    tl.load(x, a)  # !TL-07",
        buffers="a = tl.alloc_ub(64, dtype=tl.float16)",
    )
    + HOST,
    "wrong index type": HEAD + compute("tl.gather(a, b, b)  # !TL-07") + HOST,
    "element of a mask": HEAD + compute("q = tl.extract_scalar(m, 0)  # !TL-07") + HOST,
    # ---- TL-08: shapes
    "other length": HEAD + compute("tl.exp(a[:8], b[:16])  # !TL-08") + HOST,
    "other rank": HEAD + compute("tl.exp(a, t)  # !TL-08") + HOST,
    "not a row": HEAD + compute("tl.add(t, t, a[:8])  # !TL-08") + HOST,
    "two rows": HEAD + compute("tl.add(t, a[:16], b[:16])  # !TL-08") + HOST,
    "reduced shape": HEAD + compute("tl.reduce_sum(a[:16], t, axis=1)  # !TL-08") + HOST,
    "axis": HEAD + compute("tl.reduce_sum(a[:8], t, axis=2)  # !TL-08") + HOST,
    "transposed shape": HEAD + compute("tl.transpose(t, t)  # !TL-08") + HOST,
    "sort of two dimensions": HEAD + compute("tl.sort(t, i, t)  # !TL-08") + HOST,
    "block reduce": HEAD + compute("tl.block_reduce_sum(b[:16], a)  # !TL-08") + HOST,
    "three blocks": HEAD + compute("tl.gather_blocks(b[:24], a, i[:3])  # !TL-21") + HOST,
    # ---- TL-09: types the hardware has
    "exp of whole numbers": HEAD + compute("tl.exp(i, i)  # !TL-09") + HOST,
    "tanh of half": HEAD + compute("tl.tanh(h, h)  # !TL-09") + HOST,
    "rounding to odd": HEAD + compute('tl.cast(i, a, round="odd")  # !TL-09') + HOST,
    "atomic of 64 bits": HEAD
    + kernel(
        "with tl.copyout():",
        '    tl.store(y, a, atomic="add")  # !TL-09',
        buffers="a = tl.alloc_ub(64, dtype=tl.int64)",
    )
    + HOST.replace("tl.output(tl.float32", "tl.output(tl.int64"),
    "scalar of bfloat16": HEAD
    + compute(
        "q = tl.extract_scalar(c, 0)  # !TL-09", buffers="c = tl.alloc_ub(8, dtype=tl.bfloat16)"
    )
    + HOST,
    # ---- TL-14: limits
    "large literal": HEAD + kernel("q = 9223372036854775808  # !TL-14") + HOST,
    "large product": HEAD + kernel("q = 4294967296 * 4294967296  # !TL-14") + HOST,
    # ---- TL-15: allocation
    "allocation in a loop": HEAD
    + kernel("for q in range(2):", "    p = tl.alloc_ub(8, dtype=tl.float32)  # !TL-15")
    + HOST,
    "size of the core": HEAD
    + kernel("p = tl.alloc_ub(tl.program_id(0) + 1, dtype=tl.float32)  # !TL-15")
    + HOST,
    "four dimensions": HEAD
    + kernel("p = tl.alloc_ub((2, 2, 2, 8), dtype=tl.float32)  # !TL-15")
    + HOST,
    "empty buffer": HEAD + kernel("p = tl.alloc_ub(0, dtype=tl.float32)  # !TL-15") + HOST,
    "mask of three dimensions": HEAD + kernel("p = tl.alloc_mask((2, 8, 8))  # !TL-15") + HOST,
    # ---- TL-16: places
    "beyond the buffer": HEAD + compute("tl.exp(a[:65], b[:65])  # !TL-16") + HOST,
    "before the buffer": HEAD + compute("tl.exp(a[-8:], b[:8])  # !TL-16") + HOST,
    "step": HEAD + compute("tl.exp(a[::2], b[:32])  # !TL-16") + HOST,
    "too many indices": HEAD + compute("tl.exp(a[0, :], b)  # !TL-16") + HOST,
    "tensor as a tile": HEAD + compute("tl.exp(a, x)  # !TL-16") + HOST,
    "buffer as a pointer": HEAD + kernel("with tl.copyin():", "    tl.load(a, a)  # !TL-16") + HOST,
    "two tensors": HEAD + kernel("with tl.copyin():", "    tl.load(n * 2, a)  # !TL-16") + HOST,
    "indices of an element": HEAD + compute("q = tl.extract_scalar(t, 0)  # !TL-16") + HOST,
    # ---- TL-18: launches
    "too few arguments": HEAD
    + kernel("pass")
    + HOST.replace("work[1](x, y, n)", "work[1](x, y)  # !TL-18"),
    "keyword argument": HEAD
    + kernel("pass")
    + HOST.replace("work[1](x, y, n)", "work[1](x, y, n=n)  # !TL-18"),
    # ---- TL-19: outputs
    "store to an input": HEAD + kernel("with tl.copyout():", "    tl.store(x, a)  # !TL-19") + HOST,
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_each_error_has_its_rule_and_line(text: str) -> None:
    wanted = expected(text) or [("TL-02", 1)]
    assert found(text) == wanted


def test_the_rules_of_the_frontend_are_all_tried() -> None:
    tried = {rule for text in WRONG.values() for rule, _ in expected(text)}
    assert tried == {f"TL-{n:02}" for n in (*range(1, 10), 14, 15, 16, 18, 19, 21)}


MANY = (
    HEAD
    + """\
C = tl.ub_bytes()  # !TL-05


@ascend_kernel
def first(x, y, n):
    a = tl.alloc_ub((4, 8, 8, 8), dtype=tl.float32)  # !TL-15
    b = tl.alloc_ub(64, dtype=tl.float99)  # !TL-04
    c = tl.alloc_ub(64, dtype=tl.float32)
    d = tl.alloc_ub(64, dtype=tl.float16)
    m = tl.alloc_mask((64, 2, 2))  # !TL-15
    count = n + missing  # !TL-03
    half = n / 2
    half = 3  # !TL-05
    for i in range(half):  # !TL-05
        pass
    for i in range(n):
        tl.load(x, c)  # !TL-06
        with tl.copyin():
            tl.load(x + half, c)  # !TL-05
            tl.load(y, d)  # !TL-07
            tl.exp(c, c)  # !TL-06
        with tl.compute():
            tl.exp(a, b)
            tl.exp(c, e)  # !TL-03
            tl.exp(c, d)  # !TL-07
            tl.exp(c[:8], c[:9])  # !TL-08
            tl.expo(c, c)  # !TL-04
            tl.sqrt(c)  # !TL-04
            tl.tanh(d, d)  # !TL-09
            tl.add(c, c, c[:, None])  # !TL-08
            tl.add(c, c, c[64:])  # !TL-08
            if i:  # !TL-05
                tl.exp(c, c)
            tl.compare(m, c, c, "lt")
            tl.select(c, d, c, c)  # !TL-07
        with tl.compute(), tl.copyin():  # !TL-06
            pass
        with tl.copyout():
            tl.store(x, c)  # !TL-19
            tl.store(y, c, stride=4)  # !TL-04
            tl.store(y + i, c[:100])  # !TL-16


def many_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape), k: tl.attr(x)):  # !TL-02
    n = x.numel() + z  # !TL-03
    first[1](x, y)  # !TL-18
    first[1.5](x, y, 1)  # !TL-05
    tl.require(n, "text")
    third[1](x)  # !TL-03
    print(n)  # !TL-02
"""
)


def test_one_run_reports_all_errors() -> None:
    wanted = expected(MANY)
    assert len(wanted) > 25
    assert found(MANY) == wanted


def test_messages_name_the_place_and_a_remedy() -> None:
    with pytest.raises(TileError) as caught:
        read_program(WRONG["unknown operation"])
    finding = caught.value.findings[0]
    assert "did you mean tl.exp" in finding.fix
    assert re.fullmatch(
        r"p\.py:16:9: \[TL-04\] tl\.expp is not an operation \(.*\)", finding.line_text("p.py")
    )
    assert str(caught.value).startswith("line 16: [TL-04]")
