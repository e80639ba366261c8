# SPDX-License-Identifier: Apache-2.0
"""Parsing in several threads at once."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor

from npuforge import syntax


def test_threads_may_parse_at_once() -> None:
    source = "\n".join(f"x{n} = [f(a[{n}], ({n}, b.c)) for a in range({n})]" for n in range(200))
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(syntax.parse, [source] * 60))
    assert {ast.dump(tree) for tree in trees} == {ast.dump(ast.parse(source))}


def test_an_expression_is_read() -> None:
    assert isinstance(syntax.parse_expression("a + 1"), ast.BinOp)
