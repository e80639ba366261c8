# SPDX-License-Identifier: Apache-2.0
"""Kernels whose heads say nothing: what a kernel takes follows from its body.

Who writes a kernel from its first line to its last does not know at the head what the body will
need, and would have to remember the order at the launch, hundreds of words later. A model's kernel
begins `def op():` and uses what it uses; it takes the names that nothing in it gives a value, in
the order in which they are first read. The host quotes that head before it prepares the launch.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator

from npuforge import syntax
from npuforge.generate.lm.form.quoted import MARK, is_quote
from npuforge.tile.parse import KERNEL_DECORATOR
from npuforge.tile.scope import FUNCTIONS

_KERNEL = f"@{KERNEL_DECORATOR}"
_BARE = re.compile(r"^def (\w+)\(\):$")
_GIVEN = re.compile(r"^\s*(?:(\w+) (?:[-+*/%]|//)?= |for (\w+) in )")
_NO_NAME = re.compile(r'"[^"]*"|\btl\.\w+|\b\w+=(?!=)')
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_WORDS = frozenset([*keyword.kwlist, *FUNCTIONS, "range", "tl"])


def taken(body: Iterable[str]) -> list[str]:
    """Names that the lines of a kernel read and nothing in it gives a value."""
    code = [line for line in body if not is_quote(line)]
    given = {one for line in code if (found := _GIVEN.match(line)) for one in found.groups()}
    read = (name for line in code for name in _NAME.findall(_NO_NAME.sub(" ", line)))
    return [name for name in dict.fromkeys(read) if name not in given and name not in _WORDS]


def filled(program: str) -> str:
    """The program with the heads of its kernels, line for line."""
    lines = program.splitlines()
    for start, line in enumerate(lines[1:], 1):
        found = _BARE.match(line)
        if found is not None and lines[start - 1] == _KERNEL:
            lines[start] = f"def {found[1]}({', '.join(taken(_body(lines, start)))}):"
    return "\n".join(lines) + "\n"


def bare(program: str) -> str:
    """A program with heads as the model is to write it; launches give what the bodies take."""
    tree = syntax.parse(program)
    lines = program.splitlines()
    kernels: dict[str, tuple[list[str], list[str]]] = {}
    edits: list[tuple[int, int, str]] = []  # lines from, to, and what stands there instead
    quoted = {found[1] for line in lines if (found := re.match(rf"^ +{MARK}def (\w+)\(", line))}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.decorator_list:
            start = function.lineno - 1
            end = next(n for n in range(start, len(lines)) if lines[n].endswith("):"))
            names = [argument.arg for argument in function.args.args]
            order = taken(_body(lines, end))
            kernels[function.name] = names, order
            edits.append((start, end + 1, f"def {function.name}():"))
    for launch, kernel in _launches(tree):
        names, order = kernels[kernel]
        call = launch.value
        assert isinstance(call, ast.Call)
        values = [ast.unparse(given) for given in call.args]
        given = dict(zip(names, values, strict=True))
        text = f"{' ' * launch.col_offset}{ast.unparse(call.func)}"
        text += f"({', '.join(given[name] for name in order)})"
        if kernel not in quoted:
            text = f"{' ' * launch.col_offset}{MARK}{_head(kernel, order)}\n{text}"
        edits.append((launch.lineno - 1, launch.end_lineno or launch.lineno, text))
    for start, end, text in sorted(edits, reverse=True):
        lines[start:end] = text.split("\n")
    for place, line in enumerate(lines):
        found = re.match(rf"^( +{MARK})def (\w+)\(", line)
        if found is not None and found[2] in kernels:
            lines[place] = found[1] + _head(found[2], kernels[found[2]][1])
    return "\n".join(lines) + "\n"


def _head(kernel: str, names: list[str]) -> str:
    return f"def {kernel}({', '.join(names)})"


def _body(lines: list[str], head: int) -> Iterator[str]:
    """What follows a head, up to the next function."""
    for line in lines[head + 1 :]:
        if line and line[0] != " ":
            return
        yield line


def _launches(tree: ast.Module) -> Iterator[tuple[ast.Expr, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Call(ast.Subscript(ast.Name(kernel)))):
                yield node, kernel
            case _:
                pass
