# SPDX-License-Identifier: Apache-2.0
"""Functions, classes and variables of the program, and which functions run on the device."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tree_sitter import Node, Query, QueryCursor

from npuforge.twin.lint.source import CPP, Program, SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCOPES = ("class_specifier", "struct_specifier")
_DEFINITIONS = Query(
    CPP,
    """
    (function_definition) @function
    (declaration declarator: (function_declarator)) @prototype
    (field_declaration declarator: (function_declarator)) @prototype
    (class_specifier body: (_)) @class
    (struct_specifier body: (_)) @class
    (using_declaration) @using
    (translation_unit (declaration) @global)
    (declaration_list (declaration) @global)
    """,
)
_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass(slots=True, eq=False)
class Variable:
    """A declared name: its base type without qualifiers, pointer depth and address space."""

    type: str
    pointer: bool
    space: str  # "gm", "ubuf" ... or "" for none
    node: Node


@dataclass(slots=True, eq=False)
class Function:
    """A function definition."""

    name: str
    owner: str  # class, or ""
    file: SourceFile
    node: Node
    body: Node | None
    marks: set[str]
    constexpr: bool
    template: bool
    arity: tuple[int, int]  # fewest and most arguments
    doubtful: bool  # an unknown macro stands among its specifiers
    parameters: list[tuple[str, Variable]]
    device: bool = False

    @property
    def callable_on_device(self) -> bool:
        return self.doubtful or self.constexpr or bool(self.marks & {"aicore", "global"})

    def takes(self, count: int) -> bool:
        return self.arity[0] <= count <= self.arity[1]


@dataclass(slots=True, eq=False)
class Class:
    """A class definition with its data members and bases."""

    name: str
    file: SourceFile
    node: Node
    members: dict[str, Variable]
    bases: list[str]
    template: bool


@dataclass(slots=True)
class Model:
    """The program, indexed by name."""

    program: Program
    functions: list[Function] = field(default_factory=list)
    by_name: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    classes: dict[str, list[Class]] = field(default_factory=lambda: defaultdict(list))
    prototypes: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    globals: dict[str, Variable] = field(default_factory=dict)
    uses_ascendc: bool = False  # `using namespace AscendC`

    @property
    def device_functions(self) -> list[Function]:
        return [function for function in self.functions if function.device]

    def class_of(self, function: Function) -> Class | None:
        """The class a method belongs to, when there is exactly one of that name."""
        found = self.classes.get(function.owner, [])
        return found[0] if len(found) == 1 else None

    def has_device_code(self, owner: Class) -> bool:
        return any(f.device and f.owner == owner.name for f in self.functions)


def build(program: Program, entry: str | None) -> Model:
    """Index the program and mark what runs on the device."""
    model = Model(program)
    for file in program.files:
        captures = QueryCursor(_DEFINITIONS).captures(file.root)
        for node in captures.get("using", ()):
            model.uses_ascendc |= file.of(node).split() == ["using", "namespace", "AscendC;"]
        for node in captures.get("global", ()):
            model.globals.update(variables(file, node))
        for node in captures.get("class", ()):
            if (found := _class(file, node)) is not None:
                model.classes[found.name].append(found)
        for node in captures.get("prototype", ()):
            name, owner = _name_and_owner(file, node.child_by_field_name("declarator"), node)
            model.prototypes[owner, name] |= file.kinds(node.start_byte, node.end_byte)
        for node in captures.get("function", ()):
            if (function := _function(file, node, program)) is not None:
                model.functions.append(function)
                model.by_name[function.name].append(function)
    for function in model.functions:
        function.marks |= model.prototypes.get((function.owner, function.name), set())
    _mark_device(model, entry)
    return model


def _mark_device(model: Model, entry: str | None) -> None:
    """Reachability by name from the kernel entries: generous, so that nothing real is missed."""
    roots = [f for f in model.functions if "global" in f.marks and (entry in (None, f.name))]
    if not roots:
        roots = [f for f in model.functions if f.marks & {"aicore", "global"}]
    macros = model.program.macros
    words_of_macro = {
        name: set(_WORD.findall(body))
        for table in (macros.objects, macros.functions)
        for name, body in table.items()
    }
    words: set[bytes] = set()
    operators = (f for f in model.functions if f.name.startswith("operator"))
    pending = [*roots, *(f for f in operators if "aicore" in f.marks)]
    while pending:
        function = pending.pop()
        if function.device:
            continue
        function.device = True
        fresh = set(_WORD.findall(function.file.text, *_span(function.node))) - words
        words |= fresh
        frontier = list(fresh)
        while frontier:
            name = frontier.pop().decode(errors="replace")
            for word in words_of_macro.get(name, ()):
                if word not in words:
                    words.add(word)
                    frontier.append(word)
            pending += [f for f in model.by_name.get(name, ()) if f.callable_on_device]


def _span(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def unwrap(declarator: Node | None) -> Node | None:
    """The innermost name of a declarator."""
    while declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in (
            "reference_declarator",
            "parenthesized_declarator",
        ):
            inner = declarator.named_children[0] if declarator.named_children else None
        if inner is None:
            return declarator
        declarator = inner
    return None


def _function_declarator(node: Node | None) -> Node | None:
    while node is not None and node.type != "function_declarator":
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[-1] if node.named_children else None
        node = inner
    return node


def _name_and_owner(file: SourceFile, declarator: Node | None, node: Node) -> tuple[str, str]:
    """The simple name of a function and the class it belongs to."""
    inner = _function_declarator(declarator)
    name_node = inner.child_by_field_name("declarator") if inner is not None else None
    if name_node is None:
        return "", ""
    if name_node.type == "qualified_identifier":
        parts = re.sub(r"<.*>", "", file.of(name_node), flags=re.S).split("::")
        return parts[-1].strip(), parts[-2].strip()
    return re.sub(r"<.*>", "", file.of(name_node), flags=re.S).strip(), enclosing_class(file, node)


def enclosing_class(file: SourceFile, node: Node) -> str:
    """The name of the nearest class around a node, or an empty string."""
    parent = node.parent
    while parent is not None and parent.type not in _SCOPES:
        parent = parent.parent
    name = parent.child_by_field_name("name") if parent is not None else None
    return re.sub(r"<.*>", "", file.of(name), flags=re.S).strip() if name is not None else ""


def _function(file: SourceFile, node: Node, program: Program) -> Function | None:
    declarator = _function_declarator(node.child_by_field_name("declarator"))
    if declarator is None:
        return None
    name, owner = _name_and_owner(file, declarator, node)
    body = node.child_by_field_name("body")
    head_end = body.start_byte if body is not None else node.end_byte
    head = file.text[node.start_byte : declarator.start_byte]
    parameters = declarator.child_by_field_name("parameters")
    defaulted = any(
        c.type in ("default_method_clause", "delete_method_clause") for c in node.children
    )
    names, arity = _parameters(file, parameters)
    return Function(
        name=name,
        owner=owner,
        file=file,
        node=node,
        body=body,
        marks=file.kinds(node.start_byte, head_end),
        constexpr=b"constexpr" in head or b"consteval" in head or defaulted,
        template=node.parent is not None and node.parent.type == "template_declaration",
        arity=arity,
        doubtful=_has_unknown_macro(node, head, program),
        parameters=names,
    )


def _has_unknown_macro(node: Node, head: bytes, program: Program) -> bool:
    """Whether a word like `LIB_DEVICE` of a header that is not here stands among the specifiers."""
    words = [w.decode() for w in _WORD.findall(head)]
    shouting = [w for w in words if w.isupper() and len(w) > 2]
    return any(child.type == "ERROR" for child in node.children) or any(
        w in program.macros or len(words) > 1 for w in shouting
    )


def _parameters(
    file: SourceFile, node: Node | None
) -> tuple[list[tuple[str, Variable]], tuple[int, int]]:
    names: list[tuple[str, Variable]] = []
    fewest = most = 0
    for child in node.named_children if node is not None else ():
        if child.type == "comment":
            continue
        if child.type in ("variadic_parameter_declaration", "..."):
            most = 1000
            continue
        if file.of(child) == "void":
            continue
        most += 1
        fewest += child.type != "optional_parameter_declaration"
        for name, variable in variables(file, child):
            names.append((name, variable))
    if node is not None and any(child.type == "..." for child in node.children):
        most = 1000
    return names, (fewest, most)


def variables(file: SourceFile, node: Node) -> Iterator[tuple[str, Variable]]:
    """The names a declaration introduces."""
    type_node = node.child_by_field_name("type")
    if type_node is None:
        return
    type_text = " ".join(file.of(type_node).split())
    for declarator in node.children_by_field_name("declarator"):
        pointer = _is_pointer(declarator)
        name = unwrap(declarator)
        if name is None or name.type not in ("identifier", "field_identifier"):
            continue
        kinds = file.kinds(node.start_byte, declarator.end_byte) - {"aicore", "global", "host"}
        space = "gm" if type_text == "GM_ADDR" else next(iter(kinds), "")
        yield file.of(name), Variable(type_text, pointer or type_text == "GM_ADDR", space, node)


def _is_pointer(declarator: Node) -> bool:
    node: Node | None = declarator
    while node is not None:
        if node.type in ("pointer_declarator", "array_declarator"):
            return True
        node = node.child_by_field_name("declarator")
    return False


def _class(file: SourceFile, node: Node) -> Class | None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return None
    members: dict[str, Variable] = {}
    for child in body.named_children:
        if child.type == "field_declaration":
            members.update(variables(file, child))
    bases = [
        file.of(base)
        for clause in node.children
        if clause.type == "base_class_clause"
        for base in clause.named_children
    ]
    simple = re.sub(r"<.*>", "", file.of(name), flags=re.S).strip()
    template = node.parent is not None and node.parent.type == "template_declaration"
    return Class(simple, file, node, members, bases, template)
