# SPDX-License-Identifier: Apache-2.0
"""Numbers of many digits have short ones that stand for them, as tensors have short names.

To copy sixteen digits is hard for a small model and teaches it nothing: the question has 0.6931
for 0.6931471805599453, the program that answers it too, and the long one is put back.
"""

from __future__ import annotations

import io
import math
import tokenize
from collections.abc import Iterable, Mapping
from typing import cast

from npuforge.spec.graph import Argument, Graph

_DECIMALS = 4
_LEAST, _MOST = 1e-3, 1e6  # what decimals can tell from zero, and beyond it a number has a meaning


def stand_ins(graph: Graph) -> dict[float, float]:
    """Short numbers for the long ones of a graph, signs aside; all of them different from one
    another and from the graph's other numbers."""
    arguments = [a for node in graph.nodes for a in (*node.args, *node.kwargs.values())]
    numbers = list(dict.fromkeys(map(abs, _floats(arguments))))
    long = [number for number in numbers if _is_long(number)]
    taken = {number for number in numbers if not _is_long(number)}
    found: dict[float, float] = {}
    for number in long:
        units = max(1, round(number * 10**_DECIMALS))
        # A last digit of zero would make a shorter number of it, which may mean something.
        while units % 10 == 0 or units / 10**_DECIMALS in taken:
            units += 1
        found[number] = units / 10**_DECIMALS
        taken.add(found[number])
    return found


def shortened(number: float, numbers: Mapping[float, float]) -> float:
    """Return the stand-in of a number of the graph, or the number itself."""
    return math.copysign(numbers.get(abs(number), abs(number)), number)


def put_back(program: str, numbers: Mapping[float, float]) -> str:
    """The program with the graph's own numbers, line for line; a text that is no Python stays."""
    own = {short: number for number, short in numbers.items()}
    if not own:
        return program
    lines = program.splitlines(keepends=True)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(program).readline))
    except (tokenize.TokenError, SyntaxError):
        return program
    for token in reversed(tokens):
        value = _value(token.string) if token.type == tokenize.NUMBER else None
        number = own.get(value) if value is not None else None
        if number is not None:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + repr(number) + line[token.end[1] :]
    return "".join(lines)


def _is_long(number: float) -> bool:
    """Return whether a number has more decimals than a model copies."""
    _, _, decimals = repr(number).partition(".")
    return _LEAST <= number < _MOST and len(decimals) > _DECIMALS


def _floats(arguments: Iterable[Argument]) -> Iterable[float]:
    for argument in arguments:
        if isinstance(argument, list):
            yield from _floats(cast(list[Argument], argument))
        elif isinstance(argument, float):
            yield argument


def _value(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
