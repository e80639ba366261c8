# SPDX-License-Identifier: Apache-2.0
"""Faults that people and models put into tile programs, seeded one at a time.

Each takes a program's lines and gives them back with one fault, or nothing where it has no place.
Whether the program is wrong then, and what is said about it, the compiler and the twin decide.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Fault = Callable[[list[str], random.Random], list[str] | None]

_OTHER = {
    "add": ("sub", "mul"), "sub": ("add", "mul"), "mul": ("add", "div"), "div": ("mul",),
    "maximum": ("minimum",), "minimum": ("maximum",), "exp": ("ln", "abs"), "ln": ("exp",),
    "sqrt": ("rsqrt", "abs"), "rsqrt": ("sqrt",), "abs": ("neg", "relu"), "relu": ("abs",),
    "reduce_sum": ("reduce_max",), "reduce_max": ("reduce_min", "reduce_sum"),
    "reduce_min": ("reduce_max",), "sigmoid": ("tanh",), "tanh": ("sigmoid",), "neg": ("abs",),
}  # fmt: skip
_MISSPELT = {
    "exp": "exponential", "ln": "log", "mul": "multiply", "sub": "subtract", "div": "divide",
    "maximum": "max", "minimum": "min", "reduce_sum": "sum", "reduce_max": "rowmax",
    "alloc_ub": "alloc", "select": "where", "compare": "cmp", "cast": "convert",
    "sqrt": "square_root", "fill": "duplicate", "store": "copy_out", "load": "copy_in",
}  # fmt: skip
_CALL = re.compile(r"^(\s*)tl\.(\w+)\((.*)\)$")


def faults() -> dict[str, Fault]:
    """All there are, by name."""
    return {
        "another operation": _another_operation,
        "operands exchanged": _exchanged,
        "tail forgotten": _replaced(r"min\(tile, [^()]+\)", "tile"),
        "share not cut": _replaced(r"min\((first \+ per_core), [^()]+\)", r"\1"),
        "offset lost": _replaced(r"(tl\.(?:load|store)\(\w+) \+ [^,]+,", r"\1,"),
        "a step missing": _missing_step,
        "tile too large": _replaced(r"(_fit = )(.+)$", r"\g<1>3 * (\2)"),
        "wrong axis": _replaced(r"axis=1", "axis=0"),
        "wrong type": _replaced(r"(alloc_ub\(.*)dtype=tl\.float32", r"\1dtype=tl.float16"),
        "name unknown": _replaced(r"\bstart\b(?! =)", "begin"),
        "operation unknown": _unknown_operation,
        "stride lost": _replaced(r", stride=[^)]+\)", ")"),
        "another number": _another_number,
        "wrong stage": _replaced(r"with tl\.copyin\(\)", "with tl.compute()"),
        "slice lost": _replaced(r"(tl\.\w+\(\w+)\[:\w+(?:, :)?\]", r"\1"),
        "argument lost": _argument_lost,
        "broadcast lost": _replaced(r"\[:n, None\]", "[:n]"),
        "one too many": _replaced(r"range\(tl\.cdiv\((.+)\)\):", r"range(tl.cdiv(\1) + 1):"),
    }


def seeded(program: str, name: str, rng: random.Random) -> str | None:
    """The program with that fault; None where it has no place."""
    changed = faults()[name](program.splitlines(), rng)
    return None if changed is None else "\n".join(changed) + "\n"


def _replaced(pattern: str, instead: str) -> Fault:
    found = re.compile(pattern)

    def fault(lines: list[str], rng: random.Random) -> list[str] | None:
        places = [n for n, line in enumerate(lines) if found.search(line)]
        if not places:
            return None
        place = rng.choice(places)
        return _with(lines, place, found.sub(instead, lines[place], count=1))

    return fault


def _calls(lines: list[str], names: dict[str, object]) -> list[tuple[int, re.Match[str]]]:
    found = [(n, match) for n, line in enumerate(lines) if (match := _CALL.match(line))]
    return [(n, match) for n, match in found if match[2] in names]


def _another_operation(lines: list[str], rng: random.Random) -> list[str] | None:
    places = _calls(lines, dict(_OTHER))
    if not places:
        return None
    place, match = rng.choice(places)
    other = rng.choice(_OTHER[match[2]])
    return _with(lines, place, f"{match[1]}tl.{other}({match[3]})")


def _unknown_operation(lines: list[str], rng: random.Random) -> list[str] | None:
    places = _calls(lines, dict(_MISSPELT))
    if not places:
        return None
    place, match = rng.choice(places)
    return _with(lines, place, f"{match[1]}tl.{_MISSPELT[match[2]]}({match[3]})")


def _exchanged(lines: list[str], rng: random.Random) -> list[str] | None:
    places = [
        (n, match)
        for n, match in _calls(lines, dict.fromkeys(("sub", "div", "select", "compare", "pow")))
        if len(_arguments(match[3])) >= 3
    ]
    if not places:
        return None
    place, match = rng.choice(places)
    given = _arguments(match[3])
    left, right = (2, 3) if match[2] == "select" and len(given) > 3 else (1, 2)
    given[left], given[right] = given[right], given[left]
    return _with(lines, place, f"{match[1]}tl.{match[2]}({', '.join(given)})")


def _argument_lost(lines: list[str], rng: random.Random) -> list[str] | None:
    places = [
        (n, match)
        for n, line in enumerate(lines)
        if (match := _CALL.match(line)) and len(_arguments(match[3])) >= 2
    ]
    if not places:
        return None
    place, match = rng.choice(places)
    given = _arguments(match[3])[:-1]
    return _with(lines, place, f"{match[1]}tl.{match[2]}({', '.join(given)})")


def _missing_step(lines: list[str], rng: random.Random) -> list[str] | None:
    """A step of a block that has more."""
    places = [
        n
        for n in range(1, len(lines) - 1)
        if _CALL.match(lines[n])
        and (_CALL.match(lines[n - 1]) or _CALL.match(lines[n + 1]))
        and "require" not in lines[n]
    ]
    if not places:
        return None
    place = rng.choice(places)
    return [*lines[:place], *lines[place + 1 :]]


def _another_number(lines: list[str], rng: random.Random) -> list[str] | None:
    found = re.compile(r"(?<=, )(-?\d+\.\d+(?:e-?\d+)?)\b")
    places = [n for n, line in enumerate(lines) if _CALL.match(line) and found.search(line)]
    if not places:
        return None
    place = rng.choice(places)
    return _with(
        lines, place, found.sub(lambda m: repr(float(m[1]) * 2 + 1), lines[place], count=1)
    )


def _arguments(text: str) -> list[str]:
    """Split the arguments of a call at the commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return [*parts, current.strip()] if current.strip() else parts


def _with(lines: list[str], place: int, line: str) -> list[str] | None:
    if lines[place] == line:
        return None
    return [*lines[:place], line, *lines[place + 1 :]]
