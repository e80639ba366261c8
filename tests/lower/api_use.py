# SPDX-License-Identifier: Apache-2.0
"""Which names of the device API a source uses, and with how many arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_cpp.language()))
_DEFINITIONS = {
    "function_definition",
    "class_specifier",
    "struct_specifier",
    "parameter_declaration",
    "optional_parameter_declaration",
    "type_parameter_declaration",
    "variadic_type_parameter_declaration",
    "variadic_parameter_declaration",
    "declaration",
    "field_declaration",
}


@dataclass(slots=True)
class ApiUse:
    """Names that a source does not define itself."""

    functions: dict[str, set[int]] = field(default_factory=dict)
    members: dict[str, set[int]] = field(default_factory=dict)
    types: set[str] = field(default_factory=set)
    scoped: set[tuple[str, str]] = field(default_factory=set)  # `HardEvent::V_S`
    names: set[str] = field(default_factory=set)  # other identifiers: macros, constants

    def add(self, source: str) -> None:
        """Note what a source uses."""
        tree = _PARSER.parse(source.encode())
        defined = {name for node in _walk(tree.root_node) for name in _defined(node)}
        for node in _walk(tree.root_node):
            self._note(node, defined)

    def _note(self, node: Node, defined: set[str]) -> None:
        match node.type:
            case "call_expression":
                self._call(node, defined)
            case "type_identifier" if _text(node) not in defined:
                self.types.add(_text(node))
            case "qualified_identifier":
                scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
                if scope is not None and name is not None and _text(scope) not in defined:
                    self.scoped.add((_text(scope), _text(name)))
            case "identifier" if _text(node) not in defined:
                self.names.add(_text(node))

    def _call(self, node: Node, defined: set[str]) -> None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        assert function is not None
        assert arguments is not None
        count = arguments.named_child_count
        if function.type == "field_expression":
            name = function.child_by_field_name("field")
            table = self.members
        else:
            name = function
            table = self.functions
        while name is not None and name.type in (
            "template_function",
            "template_method",
            "dependent_name",
        ):
            inner = name.child_by_field_name("name")
            name = inner if inner is not None else name.named_children[0]
        if name is not None and _text(name) not in defined:
            table.setdefault(_text(name), set()).add(count)


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()


def _defined(node: Node) -> Iterator[str]:
    """Names that a definition introduces."""
    if node.type not in _DEFINITIONS:
        return
    name = node.child_by_field_name("name")
    if name is not None:
        yield _text(name)
    if node.type.endswith("type_parameter_declaration"):
        yield from (_text(child) for child in node.named_children)
    for child in node.children_by_field_name("declarator"):
        yield from _declared(child)


def _declared(node: Node) -> Iterator[str]:
    if node.type in ("identifier", "field_identifier"):
        yield _text(node)
        return
    inner = node.child_by_field_name("declarator")
    if inner is not None:
        yield from _declared(inner)
    elif node.type in ("reference_declarator", "parenthesized_declarator", "variadic_declarator"):
        for child in node.named_children:
            yield from _declared(child)
