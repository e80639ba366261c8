# SPDX-License-Identifier: Apache-2.0
"""Beginnings of programs: what is right stays right, what is wrong is seen at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.tile.test_examples import EXAMPLES

from npuforge.tile import chip_constants, read_program
from npuforge.tile.beginning import in_host, in_kernel
from npuforge.tile.parse import parse

_CHIP = chip_constants("910b2")
_FILES = sorted(EXAMPLES.glob("*.py"))
_KERNEL = """\
@ascend_kernel
def op(x, y, n):
    buf = tl.alloc_ub(64, dtype=tl.float32)
    for t in range(n):
        with tl.copyin():
            tl.load(x + t * 64, buf[:])
"""


@pytest.mark.parametrize("file", _FILES, ids=lambda path: path.stem)
def test_the_beginning_of_a_right_program_is_right(file: Path) -> None:
    """Statement by statement; those of the host with all kernels before them."""
    program = read_program(file.read_bytes())
    parsed = parse(file.read_bytes())
    lines = parsed.text().splitlines()
    kernels = {launch.kernel.name: launch.kernel for launch in program.launches()}
    looked = 0
    for function in ast.parse(parsed.text()).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        for end in range(function.body[0].lineno, (function.end_lineno or 0) + 1):
            if function.decorator_list:
                typed = kernels[function.name]
                if parsed.constants or any(s.type.value != "int" for s in typed.scalars):
                    break  # numbers that only the whole program tells
                tensors = {one.name: one.tensor for one in typed.pointers}
                found = in_kernel("\n".join(lines[first - 1 : end]), tensors, _CHIP)
            else:
                found = in_host("\n".join(lines[:end]), _CHIP)
            assert not found, (lines[end - 1], found)
            looked += 1
    assert looked


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("tl.load(x, other[:])", "TL-03"),
        ("tl.load(x, buf[:], far=1)", "TL-04"),
        ("tl.exp(buf[:], buf[:])", "TL-06"),
        ("import os", "TL-01"),
    ],
)
def test_a_wrong_line_is_found(line: str, rule: str) -> None:
    assert not in_kernel(_KERNEL, {}, _CHIP)
    assert [one.rule for one in in_kernel(f"{_KERNEL}            {line}\n", {}, _CHIP)] == [rule]


def test_a_block_may_have_been_opened_only() -> None:
    assert not in_kernel(f"{_KERNEL}        with tl.compute():\n", {}, _CHIP)
    assert in_kernel(f"{_KERNEL}        with tl.computing():\n", {}, _CHIP)


def test_a_buffer_tells_what_a_pointer_holds() -> None:
    """A kernel alone does not know its tensors: the first move decides."""
    text = _KERNEL.replace("    for", "    half = tl.alloc_ub(64, dtype=tl.float16)\n    for")
    found = in_kernel(f"{text}            tl.load(x, half[:])\n", {}, _CHIP)
    assert [one.rule for one in found] == ["TL-07"]


def test_a_launch_types_its_kernel() -> None:
    whole = f"import tile.language as tl\n{_KERNEL}"
    whole += "        with tl.copyout():\n            tl.store(y + t * 64, buf[:])\n"
    head = "def op_host(\n    x: tl.input({}),\n    y: tl.output(tl.float32, x.shape),\n):\n"
    right = whole + head.format("tl.float32") + "    n = x.shape[0]\n"
    assert not in_host(right, _CHIP)
    assert not in_host(f"{right}    op[1](x, y, n)\n", _CHIP)
    assert [f.rule for f in in_host(f"{right}    op[1](x, y)\n", _CHIP)] == ["TL-18"]
    wrong = whole + head.format("tl.int32") + "    op[1](x, y, 3)\n"
    assert [f.rule for f in in_host(wrong, _CHIP)] == ["TL-07"]
