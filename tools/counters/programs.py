# SPDX-License-Identifier: Apache-2.0
"""Lines of a tile program, however it is laid out.

A program is laid out by `ruff format` at 88 columns, one statement a line, trailing commas ignored.
Docstrings, imports, comments and blank lines do not count; kernels and host functions do.
"""

from __future__ import annotations

import ast
import subprocess
import sys

from tools.counters.tree import Source

FOLDER = "examples/tile/"
_LAYOUT = (
    "--isolated", "--line-length", "88",
    "--config", "format.skip-magic-trailing-comma=true",
)  # fmt: skip


def program_lines(source: Source) -> int:
    """Count the lines of a program once it is laid out."""
    text = _laid_out(source.text)
    tree = ast.parse(text)
    apart: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and _is_apart(node):
            apart |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in apart
        for number, line in enumerate(text.splitlines(), 1)
    )


def _laid_out(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", *_LAYOUT, "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def _is_apart(node: ast.stmt) -> bool:
    """Return whether a statement is an import, or a string alone, as docstrings are."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.Import | ast.ImportFrom)
