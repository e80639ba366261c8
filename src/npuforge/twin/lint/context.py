# SPDX-License-Identifier: Apache-2.0
"""What every check works on: the model, one device function at a time, and the report."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tree_sitter import Node, Query, QueryCursor

from npuforge import rules
from npuforge.twin.lint.finding import Finding
from npuforge.twin.lint.model import Function, Model, Variable, variables
from npuforge.twin.lint.source import CPP, SourceFile

if TYPE_CHECKING:
    from collections.abc import Mapping

_INTEREST = Query(
    CPP,
    """
    (call_expression) @call
    (cast_expression) @cast
    (declaration) @declaration
    (qualified_identifier) @qualified
    (primitive_type) @primitive
    (new_expression) @heap
    (delete_expression) @heap
    (throw_statement) @exception
    (try_statement) @exception
    (goto_statement) @jump
    (gnu_asm_expression) @jump
    (identifier) @identifier
    (if_statement) @if
    (for_range_loop) @declaration
    """,
)


@dataclass(slots=True)
class Call:
    """A call with its callee taken apart."""

    node: Node
    name: str  # simple name, without scope and template arguments
    scope: str  # what stands before `::`, or ""
    receiver: str  # what stands before `.` or `->`, or ""
    template_arguments: list[Node]
    arguments: list[Node]


@dataclass
class DeviceFunction:
    """A device function with the syntax the checks look at."""

    function: Function
    captures: Mapping[str, list[Node]]
    members: Mapping[str, Variable]  # of its class, and globals

    @property
    def file(self) -> SourceFile:
        return self.function.file

    def nodes(self, kind: str) -> list[Node]:
        return self.captures.get(kind, [])

    @cached_property
    def calls(self) -> list[Call]:
        found = (_call(self.file, node) for node in self.nodes("call"))
        return [call for call in found if call is not None]

    @cached_property
    def locals(self) -> dict[str, Variable]:
        """Parameters and local variables; a name declared twice with two types is left out."""
        found: dict[str, Variable] = {}
        clashes: set[str] = set()
        pairs = [*self.function.parameters]
        for node in self.nodes("declaration"):
            pairs += variables(self.file, node)
        for name, variable in pairs:
            known = found.setdefault(name, variable)
            if (known.type, known.pointer, known.space) != (
                variable.type,
                variable.pointer,
                variable.space,
            ):
                clashes.add(name)
        return {name: variable for name, variable in found.items() if name not in clashes}

    @cached_property
    def local_names(self) -> set[str]:
        names = {name for name, _ in self.function.parameters}
        for node in self.nodes("declaration"):
            names |= {name for name, _ in variables(self.file, node)}
        return names

    def variable(self, node: Node) -> Variable | None:
        """The declaration behind `x`, `this->x` or a member name."""
        text = self.file.of(node)
        if node.type == "field_expression" and re.fullmatch(r"this\s*->\s*\w+", text):
            return self.members.get(text.rpartition(">")[2].strip())
        if node.type != "identifier":
            return None
        if text in self.local_names:
            return self.locals.get(text)
        return self.members.get(text)

    def receiver_class(self, call: Call) -> str | None:
        """The class of a call's object: "" for the function's own, None where it is unknown."""
        if call.receiver.strip() in ("", "this"):
            return ""
        if not re.fullmatch(r"(?:this\s*->\s*)?\w+", call.receiver):
            return None
        name = call.receiver.rpartition(">")[2].strip()
        variable = self.locals.get(name) if name in self.local_names else self.members.get(name)
        if variable is None:
            return None
        return variable.type.partition("<")[0].rpartition("::")[2].strip()


@dataclass
class Context:
    """The model and the findings so far."""

    model: Model
    findings: set[Finding] = field(default_factory=set)
    named: set[tuple[str, str]] = field(default_factory=set)  # (file, API name) already judged

    @cached_property
    def functions(self) -> list[DeviceFunction]:
        found = []
        for function in self.model.device_functions:
            captures = QueryCursor(_INTEREST).captures(function.node)
            owner = self.model.class_of(function)
            members = owner.members if owner is not None else {}
            found.append(DeviceFunction(function, captures, {**self.model.globals, **members}))
        return found

    def report(
        self,
        rule_id: str,
        file: SourceFile,
        node: Node,
        message: str,
        *,
        fix: str | None = None,
        severity: rules.Severity | None = None,
    ) -> None:
        rule = rules.get(rule_id)
        row, column = node.start_point
        self.findings.add(
            Finding(
                file=file.name,
                line=row + 1,
                column=column + 1,
                rule=rule_id,
                severity=severity or rule.severity,
                message=message,
                fix=fix or rule.fix,
            )
        )

    def defined(self, name: str) -> bool:
        """Whether the sources themselves define this name."""
        return (
            name in self.model.by_name
            or name in self.model.classes
            or name in self.model.program.macros
            or self._looks_declared(name)
        )

    def _looks_declared(self, name: str) -> bool:
        """`type name(` somewhere: a definition the parser did not understand counts as one."""
        pattern = re.compile(rb"(?<![\w.])([A-Za-z_][\w:<>]*)[\s&*]+" + name.encode() + rb"\s*\(")
        statements = {b"return", b"else", b"throw", b"case", b"co_return", b"do"}
        return any(
            match.group(1) not in statements
            for file in self.model.program.files
            for match in pattern.finditer(file.text)
        )


def _call(file: SourceFile, node: Node) -> Call | None:
    callee = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if callee is None or arguments is None:
        return None
    scope = receiver = ""
    if callee.type == "field_expression":
        target, callee_name = (
            callee.child_by_field_name("argument"),
            callee.child_by_field_name("field"),
        )
        if target is None or callee_name is None:
            return None
        receiver, callee = file.of(target), callee_name
        if callee.type == "dependent_name":
            callee = callee.named_children[0]
    while callee.type == "qualified_identifier":
        before, name = callee.child_by_field_name("scope"), callee.child_by_field_name("name")
        scope += ("::" if scope else "") + (file.of(before) if before is not None else "")
        if name is None:
            return None
        callee = name
    template_arguments: list[Node] = []
    if callee.type in ("template_function", "template_method"):
        name, given = callee.child_by_field_name("name"), callee.child_by_field_name("arguments")
        if name is None or given is None:
            return None
        template_arguments = given.named_children
        callee = name
    if callee.type not in ("identifier", "field_identifier", "primitive_type", "type_identifier"):
        return None
    given_arguments = [child for child in arguments.named_children if child.type != "comment"]
    return Call(node, file.of(callee), scope, receiver, template_arguments, given_arguments)
