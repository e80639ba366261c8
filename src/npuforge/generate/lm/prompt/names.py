# SPDX-License-Identifier: Apache-2.0
"""Names: a grammar that has no keyword among them, and the module's own put back in a program."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator, Mapping, Sequence

_WORDS = frozenset(word for word in keyword.kwlist if word.islower()) | {"tl"}
_ANY = "abcdefghijklmnopqrstuvwxyz0123456789_"
_FIRST = _ANY[:26]


def name_rules() -> dict[str, str]:
    """GBNF rules for `name`: lower case, and none of Python's words.

    The grammar has no "but not": every prefix of a word is a rule of its own, in which the word's
    next letter is one case and all other letters are another.
    """
    prefixes = sorted({word[:size] for word in _WORDS for size in range(len(word) + 1)})
    rules = {"name-rest": f"[{_class(_ANY)}]*"}
    for prefix in prefixes:
        longer = [p[-1] for p in prefixes if len(p) == len(prefix) + 1 and p.startswith(prefix)]
        others = "".join(c for c in (_ANY if prefix else _FIRST) if c not in longer)
        cases = [f'"{letter}" {_rule(prefix + letter)}' for letter in longer]
        cases.append(f"[{_class(others)}] name-rest")
        text = " | ".join(cases)
        rules[_rule(prefix)] = f"({text})?" if prefix and prefix not in _WORDS else text
    return rules


def _rule(prefix: str) -> str:
    return f"name-{prefix}" if prefix else "name"


def _class(letters: str) -> str:
    """Letters in order as ranges."""
    runs: list[list[str]] = []
    for letter in letters:
        if runs and ord(letter) == ord(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    return "".join("".join(run) if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in runs)


def renamed(program: str, names: Mapping[str, str], operator: tuple[str, str]) -> str:
    """The program with identifiers put for others, and the name of the operator for another where
    an identifier is it or begins with it; a name that would be in the way gives way.

    Only whole identifiers are looked at: texts, keywords and what follows a dot stay.
    """
    tokens = list(tokenize.generate_tokens(io.StringIO(program).readline))
    places = [token for token in _identifiers(tokens) if not keyword.iskeyword(token.string)]
    used = {token.string for token in places}
    old, new = operator
    table = {name: new + name[len(old) :] for name in used if f"{name}_".startswith(f"{old}_")}
    if new in names.values() and old in table:
        table[old] = f"{new}_kernel"
    table |= {name: other for name, other in names.items() if name in used}
    taken = used | set(table.values())
    for clash in sorted(set(table.values()) & (used - set(table))):
        table[clash] = _free(clash, taken)
        taken.add(table[clash])
    lines = program.splitlines(keepends=True)
    for token in reversed(places):
        if token.string in table:
            row, column = token.start
            line = lines[row - 1]
            after = line[column + len(token.string) :]
            lines[row - 1] = line[:column] + table[token.string] + after
    return "".join(lines)


def _identifiers(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """Names of the program's own; `round=` in a call and `tl.exp` are the language's."""
    depth = 0
    for place, token in enumerate(tokens):
        if token.type == tokenize.OP:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.string, 0)
        elif token.type == tokenize.NAME and tokens[place - 1].string != ".":
            after = tokens[place + 1].string
            if (after != "." or token.string != "tl") and not (depth and after == "="):
                yield token


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
