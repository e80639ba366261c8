# SPDX-License-Identifier: Apache-2.0
"""Names of the emitted code: C++ style, no keyword, each thing its own."""

from __future__ import annotations

import pytest
from tests.lower.passes.demo import code, function

from npuforge.lower.names import Namer, camel, clashes_with_c, pascal


@pytest.mark.parametrize(
    ("name", "variable", "type_"),
    [
        ("rows_per_core", "rowsPerCore", "RowsPerCore"),
        ("x", "x", "X"),
        ("_hidden__name_", "hiddenName", "HiddenName"),
        ("class", "classValue", "Class"),
        ("op", "opValue", "Op"),
        ("___", "value", "Kernel"),
        ("größe", "größeValue", "Größe"),
    ],
)
def test_words_join(name: str, variable: str, type_: str) -> None:
    assert camel(name) == variable
    assert pascal(name) == type_


def test_the_same_key_keeps_its_name_and_another_gets_a_number() -> None:
    names = Namer()
    assert [names.name("a_b"), names.name("a_b"), names.name("aB")] == ["aB", "aB", "aB2"]
    assert [names.name("a_b", "Queue"), names.name("a_b_queue")] == ["aBQueue", "aBQueue2"]


def test_a_fresh_name_is_never_given_twice() -> None:
    names = Namer()
    assert [names.fresh("end"), names.fresh("end"), names.fresh("end")] == ["end", "end2", "end3"]
    assert names.name("end") == "end4"


def test_functions_of_c_are_no_kernels() -> None:
    assert clashes_with_c("exp")
    assert not clashes_with_c("exp_kernel")


def test_scalars_buffers_and_parameters_of_one_name_are_told_apart() -> None:
    body = """
    tile_in = tl.alloc_ub(64, dtype=tl.float32)
    tileIn = tl.alloc_ub(64, dtype=tl.float32)
    with tl.compute():
        tl.fill(tile_in, 0.0)
        tl.exp(tileIn, tile_in)
    """
    assert function("Compute", body, "") == [
        "LocalTensor<float> tileInLocal = tileInBuf.Get<float>();",
        "LocalTensor<float> tileInLocal2 = tileInBuf2.Get<float>();",
        "Duplicate(tileInLocal, 0.0f, 64);",
        "Exp(tileInLocal2, tileInLocal, 64);",
    ]


def test_a_scalar_called_as_a_keyword_is_renamed() -> None:
    body = "pipe = n + 1\nwith tl.compute():\n    tl.fill(a, float(pipe))"
    assert code(body, "a").body.process[0] == "const int64_t pipeValue = n + 1;"
