# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in the text of an answer's C++.

Three kinds of code: bindings (they include PyTorch's headers), device code (functions that are
marked `__aicore__`), and the rest of the host. Names are looked for among tokens, so that macros
are seen too; loops, handlers and static variables in the syntax tree.

On the device a tensor's address means nothing to the host: code of the host that looks through one
works only here, so every loop that does is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.kinds import cheat, once
from npuforge.bench.cheats.names import NAMES
from npuforge.twin.rewrite import tokens
from npuforge.untrusted.inputs import read_source

SUFFIXES = (".cpp", ".cc", ".cxx", ".asc", ".h", ".hpp")
_PARSER = Parser(Language(tree_sitter_cpp.language()))
_TORCH = ("torch/", "ATen/", "pybind11/", "pytorch_npu_helper")
_SPACES = ("at", "torch", "F", "functional", "native")
_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_DEVICE = ("__aicore__", "__global__")
# Words of the device's language, and words of C++ of the same length in their place.
_AS_CPP = {b"__aicore__": b"inline    ", b"__global__": b"inline    ", b"__gm__": b"const "}
_LAUNCHES = ("call", "config", "call_untyped")  # what launches are rewritten to
_TYPE_WORDS = re.compile(r"[A-Z]|k[A-Z]")
_PYTHON = re.compile(r"_?Py[A-Z]")
_ADDRESS = re.compile(r"\bdata_ptr\b|\baccessor\b")
# Words before a name that still leave it a call.
_BEFORE_CALLS = {"return", "else", "do", "case", "throw", "co_return", "and", "or", "not"}


@dataclass(frozen=True)
class _Token:
    text: str
    is_word: bool
    line: int


class CppSource:
    """One file of an answer."""

    def __init__(self, path: Path, root: Path, own: frozenset[str]) -> None:
        self.path, self.root = path, root
        self.text = read_source(path)
        self.place = str(path.relative_to(root))
        self.own = own  # functions that the answer defines
        self.is_binding = any(
            any(name.startswith(_TORCH) for name in re.findall(r'[<"]([^<>"]+)[>"]', line))
            for line in self.text.splitlines()
            if line.lstrip().startswith("#include")
        )

    @staticmethod
    def defined(path: Path) -> set[str]:
        """Names that look like functions the file defines or declares: a word after a type."""
        found = tokens(read_source(path))
        return {
            name.text
            for before, name, after in zip(found, found[1:], found[2:], strict=False)
            if name.kind == "word"
            and after.text == "("
            and (before.kind == "word" or before.text in ("*", "&", ">"))
            and before.text not in _BEFORE_CALLS
            and name.text not in _NEVER_OWN
        }

    def cheats(self) -> list[Cheat]:
        found = [*self._names(), *self._includes()]
        if self.is_binding:
            found += [*self._torch_calls(), *self._loops(), *self._handlers(), *self._statics()]
        return once([*found, *self._device()])

    # ---- tokens ------------------------------------------------------------------------------
    @cached_property
    def _tokens(self) -> list[_Token]:
        made, line, position = [], 1, 0
        for token in tokens(self.text):
            line += self.text.count("\n", position, token.start)
            position = token.start
            made.append(_Token(token.text, token.kind == "word", line))
        return made

    def _around(self) -> Iterator[tuple[str, _Token, str, Sequence[_Token]]]:
        """Each word with the texts before and after it, and all tokens from it on."""
        found = self._tokens
        for at, token in enumerate(found):
            if token.is_word:
                before = found[at - 1].text if at else ""
                after = found[at + 1].text if at + 1 < len(found) else ""
                yield before, token, after, found[at : at + 12]

    def _names(self) -> Iterator[Cheat]:
        for before, token, after, rest in self._around():
            name = token.text
            if _PYTHON.match(name) or name.startswith("npuforge"):
                yield from self._inner_name(token, rest)
                continue
            kind = NAMES.cpp.kinds.get(name)
            if kind is None or before in (".", "->") or name in self.own:
                continue
            is_call = after == "(" and (not before.isidentifier() or before in _BEFORE_CALLS)
            if not (is_call or before in ("::", "pragma") or name in _ALWAYS):
                continue
            if kind != "host-compute":
                yield self._found(kind, token.line, name)
            elif self.is_binding and not self._copies_a_struct(rest):
                yield self._found(kind, token.line, f"{name} in the binding")

    def _inner_name(self, token: _Token, rest: Sequence[_Token]) -> Iterator[Cheat]:
        words = [item.text for item in rest[:5]]
        if words[:4] == ["npuforge", "::", "direct", "::"] and words[4] in _LAUNCHES:
            return
        if token.text != "npuforge_a":
            kind = NAMES.cpp.kinds.get(token.text, "harness")
            yield self._found(kind, token.line, token.text)

    def _copies_a_struct(self, rest: Sequence[_Token]) -> bool:
        """`memcpy(to, &tiling, sizeof(tiling))` fills a table, not a result."""
        return any(token.text == "sizeof" for token in rest)

    def _includes(self) -> Iterator[Cheat]:
        for number, line in enumerate(self.text.splitlines(), 1):
            if found := re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line):
                target = (self.path.parent / found.group(1)).resolve()
                if not target.is_relative_to(self.root.resolve()):
                    yield self._found("harness", number, f"includes {found.group(1)}")

    # ---- the tree ----------------------------------------------------------------------------
    @cached_property
    def _raw(self) -> bytes:
        return self.text.encode()

    @cached_property
    def _root(self) -> Node:
        parsed = self._raw
        for word, instead in _AS_CPP.items():
            parsed = parsed.replace(word, instead)
        return _PARSER.parse(parsed).root_node

    def _text(self, node: Node | None) -> str:
        """As the answer has it."""
        return "" if node is None else self._raw[node.start_byte : node.end_byte].decode()

    def _torch_calls(self) -> Iterator[Cheat]:
        for node in _walk(self._root):
            if node.type != "call_expression":
                continue
            function = node.child_by_field_name("function")
            if function is None:
                continue
            if function.type == "field_expression":
                name = self._text(function.child_by_field_name("field"))
                if name in NAMES.cpp.methods:
                    yield self._found("torch-compute", _line(node), f".{name}()")
            elif function.type in ("qualified_identifier", "template_function"):
                *spaces, name = self._text(function).partition("<")[0].replace(" ", "").split("::")
                inner = [space for space in spaces if space]
                harmless = name in NAMES.cpp.torch or _TYPE_WORDS.match(name)
                if inner and inner[0] in _SPACES and not harmless:
                    yield self._found("torch-compute", _line(node), "::".join([*inner, name]))

    def _loops(self) -> Iterator[Cheat]:
        """Loops that go through a tensor's memory."""
        for function in self._functions(device=False):
            pointers = {
                name
                for node in _walk(function)
                if node.type == "init_declarator"
                and _ADDRESS.search(self._text(node.child_by_field_name("value")))
                for name in self._declared(node)
            }
            for name, line in self._written_in_loops(function, pointers):
                yield self._found("host-compute", line, f"a loop writes {name}")

    def _written_in_loops(self, function: Node, pointers: set[str]) -> Iterator[tuple[str, int]]:
        """Pointers that loops of the function write through: `p[i] = ...`, `*p++ = ...`."""
        for loop in (node for node in _walk(function) if node.type in _LOOPS):
            for node in _walk(loop):
                left = node.child_by_field_name("left")
                if node.type != "assignment_expression" or left is None:
                    continue
                if left.type in ("subscript_expression", "pointer_expression"):
                    for name in set(re.findall(r"\w+", self._text(left))) & pointers:
                        yield name, _line(node)

    def _handlers(self) -> Iterator[Cheat]:
        for node in _walk(self._root):
            if node.type == "catch_clause" and not any(
                inner.type == "throw_statement" for inner in _walk(node)
            ):
                yield self._found("fallback", _line(node), "what is thrown is caught")

    def _statics(self) -> Iterator[Cheat]:
        for node in _walk(self._root):
            if node.type == "declaration" and re.match(
                r"(static|thread_local|inline)?\s*(std::)?(unordered_map|map|vector|deque|list)\b.*Tensor",
                self._text(node),
                re.DOTALL,
            ):
                parent = node.parent.type if node.parent is not None else ""
                if self._text(node).startswith(("static", "thread_local")) or parent in (
                    "translation_unit",
                    "declaration_list",
                ):
                    yield self._found("cached", _line(node), "tensors are kept between calls")

    def _device(self) -> Iterator[Cheat]:
        for function in self._functions(device=True):
            pointers = {
                name
                for node in _walk(function)
                if node.type in ("declaration", "parameter_declaration")
                and re.match(r"(const\s+)?__gm__\s+(float|half|bfloat16_t|T)\b", self._text(node))
                for name in re.findall(r"\*\s*(\w+)", self._text(node))
            }
            for node in _walk(function):
                if node.type == "call_expression":
                    called = self._text(node.child_by_field_name("function"))
                    name = called.removeprefix("::").removeprefix("std::")
                    if name in NAMES.cpp.device and name not in self.own:
                        yield self._found("untimed", _line(node), f"{called} in device code")
            for name, line in self._written_in_loops(function, pointers):
                yield self._found("untimed", line, f"a loop writes {name} past the instructions")

    def _functions(self, *, device: bool) -> Iterator[Node]:
        for node in _walk(self._root):
            if node.type == "function_definition":
                head = self._text(node).partition("{")[0]
                if any(word in head for word in _DEVICE) == device:
                    yield node

    def _found(self, kind: str, line: int, evidence: str) -> Cheat:
        return cheat(kind, f"{evidence} ({self.place}:{line})")

    def _declared(self, node: Node) -> list[str]:
        return re.findall(r"\w+", self._text(node.child_by_field_name("declarator")))[-1:]


_ALWAYS = {"environ", "asm", "__asm__"}
# Answers do not define these, whatever the tokens around them look like.
_NEVER_OWN = {name for name, kind in NAMES.cpp.kinds.items() if kind != "host-compute"}


def _walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack += reversed(one.children)


def _line(node: Node) -> int:
    return int(node.start_point[0]) + 1
