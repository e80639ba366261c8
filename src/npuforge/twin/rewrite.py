# SPDX-License-Identifier: Apache-2.0
"""Rewrite `kernel<<<blocks, l2, stream>>>(arguments)` into a call of the runtime.

Works on tokens, so comments and strings are left alone, and inserts no line break, so every line
keeps its number:

    add<float><<<n, nullptr, s>>>(x, y)
    ::npuforge::direct::call([&](auto... npuforge_a) { add<float>(npuforge_a...); }, "add",
        ::npuforge::direct::config(n, nullptr, s), x, y)            (on one line)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from npuforge.errors import UsageError

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\n)
  | (?P<comment>//(?:[^\n\\]|\\[\s\S])*|/\*[\s\S]*?(?:\*/|\Z))
  | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\((?:[\s\S]*?\)(?P=delimiter)"|[\s\S]*\Z))
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\[\s\S])*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\[\s\S])*')
  | (?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<launch><<<|>>>)
  | (?P<other>::|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPEN, _CLOSE = "([{", ")]}"
_HEAD = "::npuforge::direct::call([&](auto... npuforge_a) {{ {kernel}(npuforge_a...); }}, "
_TAIL = '"{name}", ::npuforge::direct::config('


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[_Token]:
    """Every token but space and comments."""
    return [
        _Token(match.lastgroup or "other", match.group(), match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if match.lastgroup not in ("space", "comment")
    ]


def drop_launchers(text: str) -> str:
    """`text` with empty bodies for the functions that launch kernels.

    Beside the kernel of an operator project they are leftovers that its build never looks into:
    they name kernels, variables and functions that do not exist.
    """
    found = tokens(text)
    bodies: list[int] = []  # open braces, as token numbers; -1 for one that is no function's
    launches = False
    pieces: list[str] = []
    position = 0
    for at, token in enumerate(found):
        if token.text == "{":
            inside = any(body >= 0 for body in bodies)
            is_body = not inside and at > 0 and found[at - 1].text == ")"
            bodies.append(at if is_body else -1)
        elif token.text == "}" and bodies:
            start = bodies.pop()
            if start >= 0 and launches:
                lines = "\n" * text.count("\n", found[start].end, token.start)
                pieces += [text[position : found[start].end], lines]
                position = token.start
            launches = launches and start < 0
        elif token.text == "<<<":
            launches = any(body >= 0 for body in bodies)
    return "".join([*pieces, text[position:]])


def rewrite_launches(text: str, file: str = "source") -> str:
    """`text` with every launch replaced; `UsageError` names the line of one that has no end."""
    found = tokens(text)
    pieces: list[str] = []
    position = 0
    index = 0
    while index < len(found):
        if found[index].text != "<<<":
            index += 1
            continue
        first = _kernel_start(found, index)
        close = _closing_launch(found, index)
        if first is None or close is None or close + 1 >= len(found):
            raise _broken(text, found[index], file)
        if found[close + 1].text != "(":
            raise _broken(text, found[index], file)
        kernel = text[found[first].start : found[index - 1].end]
        name = _name(found, first, index)
        config = text[found[index].end : found[close].start]
        gap = text[found[index - 1].end : found[index].start]
        between = text[found[close].end : found[close + 1].start]
        pieces.append(text[position : found[first].start])
        head, tail = _HEAD.format(kernel=kernel), _TAIL.format(name=name)
        pieces += [head, gap, tail, config, ")", between]
        # The arguments stay where they are: only their opening parenthesis becomes a comma.
        empty = close + 2 < len(found) and found[close + 2].text == ")"
        pieces.append("" if empty else ", ")
        position = found[close + 1].end
        index = close + 2
    return "".join([*pieces, text[position:]])


def _kernel_start(found: list[_Token], launch: int) -> int | None:
    """The first token of the kernel's name: `a::b<...>` before the launch."""
    at = launch - 1
    if at >= 0 and found[at].text in (">", ">>>"):
        at = _template_start(found, at)
    if at < 0 or found[at].kind != "word":
        return None
    while at >= 1 and found[at - 1].text == "::":
        if at >= 2 and found[at - 2].kind == "word":
            at -= 2
        else:
            return at - 1
    return at


def _template_start(found: list[_Token], at: int) -> int:
    """The token before the `<` that the bracket at `at` closes; -1 when there is none."""
    depth = parentheses = 0
    while at >= 0:
        text = found[at].text
        if text in _CLOSE:
            parentheses += 1
        elif text in _OPEN:
            parentheses -= 1
        elif parentheses == 0 and text in (">", ">>>"):
            depth += len(text)
        elif parentheses == 0 and text == "<":
            depth -= 1
            if depth == 0:
                return at - 1
        at -= 1
    return -1


def _closing_launch(found: list[_Token], opening: int) -> int | None:
    """The `>>>` that ends the configuration, followed by the arguments."""
    depth = 0
    for at in range(opening + 1, len(found)):
        text = found[at].text
        if text in _OPEN:
            depth += 1
        elif text in _CLOSE:
            depth -= 1
        elif depth == 0 and text == ">>>":
            if at + 1 < len(found) and found[at + 1].text == "(":
                return at
        elif text == ";" or depth < 0:
            return None
    return None


def _name(found: list[_Token], first: int, launch: int) -> str:
    """The simple name of the kernel."""
    name = found[first].text
    for at in range(first, launch):
        if found[at].text == "<":
            break
        if found[at].kind == "word":
            name = found[at].text
    return name


def _broken(text: str, token: _Token, file: str) -> UsageError:
    line = text.count("\n", 0, token.start) + 1
    return UsageError(f"{file}:{line}: this kernel launch <<<...>>>(...) is not complete")
