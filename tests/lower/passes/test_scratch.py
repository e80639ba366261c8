# SPDX-License-Identifier: Apache-2.0
"""Temporaries of library functions: sizes from the index, one buffer for the largest."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import code, function

from npuforge.lower import library
from npuforge.lower.scratch import scratch_size
from npuforge.tile.expr import Const, Type, Var, text

SIZES = {"rows": Const(8), "cols": Const(20), "pitch": Const(24), "n": Const(192), "size": Const(4)}


@pytest.mark.parametrize(
    ("formula", "size"),
    [
        ("0", "0"),
        ("rows * pitch * size", "768"),
        ("n - cols + 1", "173"),
        ("align(cols * size, 32)", "96"),
        ("cdiv(n, 100) + n // 100", "3"),
        ("max(n, 256) + min(rows, 3)", "259"),
    ],
)
def test_a_formula_over_constants_is_a_number(formula: str, size: str) -> None:
    assert text(scratch_size(formula, SIZES)) == size


def test_a_formula_over_parameters_stays_an_expression() -> None:
    n = Var("n", Type.INT, 0)
    assert text(scratch_size("align(n * size, 32)", {"n": n, "size": Const(4)})) == (
        "tl.align_up(n * 4, 32)"
    )


@pytest.mark.parametrize("formula", ["n ** 2", "n if rows else cols", "'n'", "n / 2"])
def test_what_is_no_size_is_refused(formula: str) -> None:
    with pytest.raises(ValueError, match="not a size expression"):
        scratch_size(formula, SIZES)


BODY = """
with tl.compute():
    tl.fill(a, 0.5)
    tl.{operation}
"""


def scratch(operation: str) -> list[str]:
    """Lines of `Init` that reserve the temporary."""
    emitted = code(BODY.format(operation=operation)).lines
    return [line.strip() for line in emitted if "workBuf," in line]


def test_an_operation_that_takes_several_instructions_gets_a_temporary() -> None:
    assert library.helper("Fp32Sin").scratch == "3 * align(n * 4, 32)"
    assert scratch("sin(b, a)") == ["pipe->InitBuffer(workBuf, 1024);"]  # 768 in whole 512 bytes
    assert "LocalTensor<uint8_t> work = workBuf.Get<uint8_t>();" in function(
        "Compute", BODY.format(operation="sin(b, a)")
    )


def test_an_instruction_of_the_hardware_needs_none() -> None:
    assert scratch("exp(b, a)") == []


def test_the_largest_of_several_is_reserved_once() -> None:
    assert scratch("cosh(b, a)") == ["pipe->InitBuffer(workBuf, 512);"]
    assert scratch("sin(b, a)\n    tl.cosh(b, a)") == ["pipe->InitBuffer(workBuf, 1024);"]
    assert scratch("cosh(b, a)\n    tl.sin(b, a)") == ["pipe->InitBuffer(workBuf, 1024);"]
