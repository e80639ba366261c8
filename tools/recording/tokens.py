# SPDX-License-Identifier: Apache-2.0
"""Texts as tokens in which names that the text itself declares are told from all other words.

A name carries its scope: 0 is the file, every function has a number of its own. What is declared
nowhere (an operation, a function of the API, an attribute) is plain text, and cannot be renamed.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

FILE = 0


class Token(NamedTuple):
    """A piece of a text; layout is none."""

    kind: Literal["text", "name", "comment"]
    text: str
    scope: int = FILE


# ---- tile programs ----------------------------------------------------------------------------
_LAYOUT = (tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
_STRUCTURE = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def program_tokens(text: str) -> list[Token]:
    """The tokens of a tile program; `SyntaxError` for what is no Python."""
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    spans = [
        (node.decorator_list[0].lineno if node.decorator_list else node.lineno, node.end_lineno)
        for node in functions
    ]
    declared = [_bound(node) for node in functions]
    whole = {node.name for node in functions}
    keywords = {
        (node.lineno, node.col_offset) for node in ast.walk(tree) if isinstance(node, ast.keyword)
    }
    found: list[Token] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        word = token.string
        if token.type in _LAYOUT:
            continue
        if token.type == tokenize.COMMENT:
            found.append(Token("comment", word))
        elif token.type in _STRUCTURE:
            found.append(Token("text", tokenize.tok_name[token.type]))
        elif token.type != tokenize.NAME or _last(found) == "." or (line, column) in keywords:
            found.append(Token("text", word))
        else:
            inside = (n for n, (first, last) in enumerate(spans) if first <= line <= (last or 0))
            place = next(inside, None)
            if place is not None and word in declared[place]:
                found.append(Token("name", word, place + 1))
            else:
                found.append(Token("name" if word in whole else "text", word))
    return found


def _bound(function: ast.FunctionDef) -> set[str]:
    """Parameters of a function, and the names that it assigns."""
    nodes = list(ast.walk(function))
    names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = (node for node in nodes if isinstance(node, ast.Name))
    return names | {node.id for node in stored if isinstance(node.ctx, ast.Store)}


def _last(tokens: Sequence[Token]) -> str:
    return tokens[-1].text if tokens else ""


# ---- C++ ----------------------------------------------------------------------------------------
_PIECE = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eE][+-]|[\w.'])*)"
    r"|(?P<sign>::|->|\+\+|--|<<|[-+*/%&|^=!<>]=|&&|\|\||\S)",
    re.DOTALL,
)
_DECLARING = ("class", "struct", "enum", "typename", "namespace", "using", "define")
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "return else case new delete throw goto sizeof public private protected const constexpr "
        "static inline extern if for while switch do operator template typedef unsigned signed "
        "long short virtual explicit auto default break continue",
    )
)
_AFTER_NAMES = frozenset((";", "=", ",", ")", "(", "[", "{", ":", "}"))
_FIELD = re.compile(r"TILING_DATA_FIELD_DEF\w*\(\s*\w+\s*,\s*(?:\d+\s*,\s*)?(\w+)")
_ACCESSOR = re.compile(r"((?:set|get)_)(\w+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of C++; `attached` to the piece before where no blank is between them."""

    kind: str
    text: str
    attached: bool


def declared_names(text: str) -> set[str]:
    """The names that a C++ file declares anywhere."""
    pieces = [piece for piece in _pieces(text) if piece.kind != "comment"]
    found = {match[1] for match in _FIELD.finditer(text)}
    return found | {piece.text for n, piece in enumerate(pieces) if _declares(pieces, n)}


def source_tokens(text: str, elsewhere: Collection[str]) -> list[Token]:
    """The tokens of a C++ file; `elsewhere` are the names that its project declares."""
    every = list(_pieces(text))
    code = [piece for piece in every if piece.kind != "comment"]
    regions = _functions(code)
    local: dict[int, set[str]] = {number: set() for number in set(regions) - {FILE}}
    for n, piece in enumerate(code):
        if regions[n] != FILE and _declares(code, n):
            local[regions[n]].add(piece.text)
    found: list[Token] = []
    place = 0
    for piece in every:
        if piece.kind == "comment":
            found.append(Token("comment", piece.text))
            continue
        scope = regions[place]
        member = place > 0 and code[place - 1].text in (".", "->", "::")
        place += 1
        accessor = _ACCESSOR.fullmatch(piece.text)
        if piece.kind != "word":
            found.append(Token("text", piece.text))
        elif scope != FILE and not member and piece.text in local[scope]:
            found.append(Token("name", piece.text, scope))
        elif piece.text in elsewhere:
            found.append(Token("name", piece.text))
        elif accessor is not None and accessor[2] in elsewhere:
            found += [Token("text", accessor[1]), Token("name", accessor[2])]
        else:
            found.append(Token("text", piece.text))
    return found


def _pieces(text: str) -> Iterator[Piece]:
    end = 0
    for match in _PIECE.finditer(text):
        yield Piece(match.lastgroup or "", match[0], match.start() == end)
        end = match.end()


def _declares(pieces: Sequence[Piece], n: int) -> bool:
    """Tell whether a word follows a type (`int64_t tile = ...`) or a word that declares."""
    if pieces[n].kind != "word" or n == 0 or n + 1 == len(pieces):
        return False
    before = pieces[n - 1]
    if before.text in _DECLARING:
        return True
    if pieces[n].text in _KEYWORDS or pieces[n + 1].text not in _AFTER_NAMES:
        return False
    if before.kind == "word":
        return before.text not in _KEYWORDS or before.text == "auto"
    # A blank before the sign makes it an operation: `a * b`, but `T* b`.
    return before.text in ("*", "&", ">") and before.attached


def _functions(pieces: Sequence[Piece]) -> list[int]:
    """Return each piece's function, to which its parameters belong, or the file."""
    regions = [FILE] * len(pieces)
    opened: list[int] = []  # of parentheses outside of functions
    last_list: tuple[int, int] | None = None
    number = depth = 0
    for n, piece in enumerate(pieces):
        if depth:
            regions[n] = number
            depth += {"{": 1, "}": -1}.get(piece.text, 0)
        elif piece.text == "(":
            opened.append(n)
        elif piece.text == ")" and opened:
            last_list = (opened.pop(), n)
        elif piece.text == "{" and last_list is not None and _ends_list(pieces, last_list[1], n):
            number += 1
            depth = 1
            regions[last_list[0] : n + 1] = [number] * (n + 1 - last_list[0])
    return regions


def _ends_list(pieces: Sequence[Piece], closed: int, brace: int) -> bool:
    """Tell whether at most `const` and the like stand between a parameter list and a brace."""
    between = pieces[closed + 1 : brace]
    return all(piece.text in ("const", "noexcept", "override") for piece in between)
