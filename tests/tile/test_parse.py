# SPDX-License-Identifier: Apache-2.0
"""Whatever is thrown at the frontend, it answers with findings, and nothing is ever executed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npuforge.tile import read_program
from npuforge.tile.parse import MOST_CHARACTERS, MOST_DEPTH
from npuforge.tile.source import TileError

SOFTMAX = (Path(__file__).parents[2] / "examples" / "tile" / "softmax.py").read_text("utf-8")

KERNEL = """\
import tile.language as tl


@ascend_kernel
def work(x, y, n):
    a = tl.alloc_ub(n, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a[:n])
    with tl.copyout():
        tl.store(y, a[:n])


def work_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    work[1](x, y, n)
"""


def rules_of(text: str | bytes) -> list[str]:
    """Ids of the findings; fails where there are none."""
    with pytest.raises(TileError) as caught:
        read_program(text)
    return [finding.rule for finding in caught.value.findings]


def accepted_or_refused(text: str | bytes) -> None:
    """A program, or findings in good order; any other exception fails the test."""
    try:
        read_program(text)
    except TileError as error:
        refusal = error
    else:
        return
    assert refusal.findings
    assert "\n" not in str(refusal)
    for finding in refusal.findings:
        assert finding.rule.startswith("TL-")
        assert finding.fix
        assert finding.span.line >= 1


def test_the_template_is_a_program() -> None:
    assert read_program(KERNEL).name == "work"


@settings(deadline=None)
@given(st.binary(max_size=300))
@example(b"\xff\xfe")
@example(b"\x00")
@example("\ufeffimport tile.language as tl".encode())
def test_arbitrary_bytes_are_refused(raw: bytes) -> None:
    assert set(rules_of(raw)) <= {"TL-01", "TL-02", "TL-14"}


@settings(deadline=None)
@given(st.text(max_size=300))
@example("\ud800")
@example("\f\f")
@example("x = '\\d'")
@example("0x")
@example("1if 1else 1")
def test_arbitrary_text_is_refused(text: str) -> None:
    assert set(rules_of(text)) <= {"TL-01", "TL-02", "TL-05", "TL-14"}


def test_every_prefix_gets_an_answer() -> None:
    for end in range(len(SOFTMAX)):
        accepted_or_refused(SOFTMAX[:end])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_programs_get_an_answer(data: st.DataObject) -> None:
    """Lines are dropped, repeated and exchanged, and tokens replaced."""
    lines = SOFTMAX.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["drop", "repeat", "exchange", "token"])):
            case "drop" if len(lines) > 1:
                del lines[at]
            case "repeat":
                lines.insert(at, lines[at])
            case "exchange":
                other = data.draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                old = data.draw(st.sampled_from(TOKENS))
                lines[at] = lines[at].replace(old, data.draw(st.sampled_from(TOKENS)), 1)
    accepted_or_refused("".join(lines))


TOKENS = [
    "tl.", "tl", "x", "y", "row", "n", "cols", "tile_in", "peak", "[:n, :]", "[:n, None]", "(", ")",
    "min", "max", "tl.cdiv", "0", "1.5", "None", "True", '"text"', "-1", "axis=1", "axis=7", ":",
    "tl.float32", "tl.int8", "tl.inf", "tl.nan", " + ", " // ", " % ", " < ", " and ", "not ",
    "tl.copyin()", "tl.compute()", "tl.copyout()", "range", "x.shape", "x.numel()", "if n:", "for",
    "9223372036854775807", "stride=cols", 'atomic="add"', "tl.load", "tl.store", "tl.exp",
    "tl.sort",    "tl.program_id(0)", "tl.alloc_mask(n)", "=", "+=", "_", "tile_rows", "tl.require",
]  # fmt: skip


HOSTILE = {
    "import os": "import os\n",
    "aliased import": "import tile.language as t\n",
    "from import": "from os import system\n",
    "star import": "from os import *\n",
    "call at top": "print('run')\n",
    "dunder name": "x = __import__\n",
    "dunder import": "x = __import__('os').system('true')\n",
    "class": "class A:\n    pass\n",
    "lambda": "x = lambda: 0\n",
    "comprehension": "x = [i for i in (1, 2)]\n",
    "generator": "x = sum(i for i in (1, 2))\n",
    "dict": "x = {1: 2}\n",
    "set": "x = {1, 2}\n",
    "walrus": "x = (y := 1)\n",
    "f-string": "x = f'{1}'\n",
    "bytes": "x = b'a'\n",
    "complex": "x = 1j\n",
    "ellipsis": "x = ...\n",
    "power": "x = 9 ** 9 ** 9 ** 9\n",
    "shift": "x = 1 << 100000\n",
    "matmul": "x = 1 @ 2\n",
    "bit or": "x = 1 | 2\n",
    "invert": "x = ~1\n",
    "in": "x = 1 in (1, 2)\n",
    "is": "x = 1 is 1\n",
    "while": "while True:\n    pass\n",
    "try": "try:\n    pass\nexcept Exception:\n    pass\n",
    "with": "with open('f'):\n    pass\n",
    "delete": "x = 1\ndel x\n",
    "assert": "assert 0\n",
    "raise": "raise ValueError\n",
    "global": "def f():\n    global x\n",
    "async": "async def f():\n    pass\n",
    "await": "async def f():\n    await g()\n",
    "yield": "def f():\n    yield 1\n",
    "match": "match 1:\n    case 1:\n        pass\n",
    "decorator that calls": "@print('run')\ndef f():\n    pass\n",
    "default that calls": "def f(x=print('run')):\n    pass\n",
    "star args": "def f(*a, **k):\n    pass\n",
    "nested function": "def f():\n    def g():\n        pass\n",
    "type alias": "x: int = 1\n",
    "chained attribute": "x = a.b.c.d\n",
    "attribute of a call": "x = f().g\n",
    "attribute of text": "x = ''.join\n",
    "class of a tensor": "def f(x: x.__class__):\n    pass\n",
    "subclass walk": "x = ().__class__.__bases__[0].__subclasses__()\n",
    "starred": "x = (*a, *b)\n",
    "unpacking": "a, b = 1, 2\n",
    "item assignment": "x[0] = 1\n",
    "attribute assignment": "tl.float32 = 1\n",
}


@pytest.mark.parametrize("snippet", HOSTILE.values(), ids=HOSTILE)
def test_hostile_python_is_refused(snippet: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = rules_of(KERNEL + "\n\n" + snippet)
    assert set(found) <= {"TL-01", "TL-02"}
    assert capfd.readouterr() == ("", "")


IN_A_KERNEL = {
    "attribute": "n.__class__",
    "call": "print(n)",
    "open": "open('/etc/hostname')",
    "method": "a.tofile('f')",
    "text": "'text'",
    "index of a scalar": "n[0]",
    "unknown function": "tl.system(1)",
    "private function": "tl._private(1)",
    "keyword unpacking": "tl.exp(**n)",
    "argument unpacking": "min(*n)",
    "tl as a value": "tl",
    "tuple": "(1, 2)",
    "chip in a kernel": "tl.num_cores()",
    "shape in a kernel": "x.shape[0]",
}


@pytest.mark.parametrize("value", IN_A_KERNEL.values(), ids=IN_A_KERNEL)
def test_hostile_expressions_are_refused(value: str) -> None:
    for statement in (f"q = {value}", value, f"q += {value}", f"a = {value}", f"tl = {value}"):
        accepted_or_refused(
            KERNEL.replace("    with tl.copyin", f"    {statement}\n    with tl.copyin")
        )
        accepted_or_refused(KERNEL.replace("    work[1]", f"    {statement}\n    work[1]"))
    found = rules_of(KERNEL.replace("    with tl.copyin", f"    q = {value}\n    with tl.copyin"))
    assert set(found) <= {"TL-01", "TL-03", "TL-04", "TL-05", "TL-16"}


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + "1" + ")" * 5000,
        "x = " + "[" * 90 + "]" * 90,
        "x = " + "-" * 100_000 + "1",
        "x = " + "not " * 50_000 + "1",
        "x = " + "1+" * 100_000 + "1",
        "x = " + "1 if 1 else " * 20_000 + "1",
        "x = " + "a." * 50_000 + "b",
        "x = f" + "(1)" * 50_000,
        "x" + "[0]" * 50_000 + " = 1",
        "x = " + "a < " * 50_000 + "b",
        "".join(f"{'    ' * depth}if 1:\n" for depth in range(95)) + "    " * 95 + "pass",
        "if 1:\n    pass\n" + "elif 1:\n    pass\n" * 2000,
        "@a\n" * 10_000 + "def f(): pass",
    ],
    ids=lambda text: text[:12].replace("\n", " "),
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert set(rules_of(text)) <= {"TL-01", "TL-02", "TL-14"}


def test_blocks_nest_up_to_the_limit() -> None:
    def nested(depth: int) -> str:
        lines = [f"{'    ' * (level + 1)}for i{level} in range(1):" for level in range(depth)]
        body = "\n".join([*lines, "    " * (depth + 1) + "pass"]) + "\n"
        return KERNEL.replace("    with tl.copyin", body + "    with tl.copyin", 1)

    read_program(nested(MOST_DEPTH // 2))
    assert rules_of(nested(MOST_DEPTH + 5)) == ["TL-14"]


@pytest.mark.parametrize(
    "number",
    ["9" * 100, "0x" + "f" * 100_000, "9" * 5000, str(1 << 63), "-" + str((1 << 63) + 1)],
    ids=lambda number: number[:6],
)
def test_huge_literals_are_refused(number: str) -> None:
    assert set(rules_of(KERNEL + f"\n\nBIG = {number}\n")) <= {"TL-01", "TL-14"}


@pytest.mark.parametrize(
    "value", ["4611686018427387904 * 2", "9223372036854775807 + 1", "-9223372036854775807 - 2"]
)
def test_constants_that_overflow_are_refused(value: str) -> None:
    assert rules_of(KERNEL + f"\n\nBIG = {value}\n") == ["TL-14"]


@pytest.mark.parametrize("value", ["7 // (1 - 1)", "7 % (1 - 1)", "tl.cdiv(7, 1 - 1)"])
def test_constant_division_by_zero_is_refused(value: str) -> None:
    assert rules_of(KERNEL.replace("[1]", f"[{value}]")) == ["TL-05"]


def test_a_long_program_is_refused_before_it_is_read() -> None:
    assert rules_of("#" * (MOST_CHARACTERS + 1)) == ["TL-14"]
    assert rules_of(b"\n" * (4 * MOST_CHARACTERS)) == ["TL-14"]


def test_megabytes_within_the_limit_are_answered() -> None:
    many = "\n".join(f"C{index} = {index}" for index in range(20_000))
    accepted_or_refused(KERNEL + "\n\n" + many[: MOST_CHARACTERS - 2 * len(KERNEL)])


def test_null_bytes_and_bad_encodings_are_named() -> None:
    assert rules_of(KERNEL + "\0") == ["TL-01"]
    assert rules_of(KERNEL.encode() + b"\xff") == ["TL-01"]
    assert rules_of(KERNEL.encode("utf-16")) == ["TL-01"]


def test_nothing_is_imported_or_executed() -> None:
    before = set(sys.modules)
    accepted_or_refused("import antigravity\nimport this\n" + KERNEL)
    assert not {"antigravity", "this"} & (set(sys.modules) - before)


def test_numbers_that_grow_with_every_line_are_no_burden() -> None:
    lines = "".join(f"    q{i + 1} = q{i} * q{i} + q{i}\n" for i in range(300))
    growing = KERNEL.replace("    work[1]", f"    q0 = 2 * n\n{lines}    work[1]")
    accepted_or_refused(growing)
    inside = KERNEL.replace("    with tl.copyin", f"    q0 = 2\n{lines}    with tl.copyin", 1)
    accepted_or_refused(inside)
