# SPDX-License-Identifier: Apache-2.0
"""C++ the device compiler does not take: libraries, double, heap, exceptions, virtual."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npuforge.twin.lint.names import libc_refused, std_refused, tables

if TYPE_CHECKING:
    from tree_sitter import Node

    from npuforge.twin.lint.context import Context, DeviceFunction

_LIBC_RULES = {
    "math": "LNT-04",
    "heap": "LNT-05",
    "streams": "LNT-21",
    "memory": "LNT-03",
    "other": "LNT-03",
}
_VECTOR_API = {
    "exp": "Exp", "log": "Ln", "sqrt": "Sqrt", "tanh": "Tanh", "pow": "Power", "fabs": "Abs",
    "abs": "Abs", "floor": "Floor", "ceil": "Ceil", "round": "Round", "sin": "Sin", "cos": "Cos",
    "erf": "Erf", "fmax": "Maxs", "fmin": "Mins",
}  # fmt: skip
_SCALAR_BUILTIN = {"sqrtf": "sqrt", "fabs": "abs", "fabsf": "abs", "fmaxf": "max", "fminf": "min"}


def check(context: Context) -> None:
    """Everything about single constructs inside device functions and their classes."""
    for function in context.functions:
        _double(context, function)
        _standard_library(context, function)
        _c_library(context, function)
        _constants(context, function)
        _statements(context, function)
        _static_locals(context, function)
    _virtual(context)


def _double(context: Context, function: DeviceFunction) -> None:
    for node in function.nodes("primitive"):
        if function.file.of(node) == "double" and (use := _use_of_double(function, node)):
            context.report("LNT-02", function.file, node, f"double {use} in device code")


def _use_of_double(function: DeviceFunction, node: Node) -> str:
    """How the type is used, or nothing where it only names a type (template argument, pointer)."""
    parent = node.parent
    if parent is None:
        return ""
    if parent.type == "call_expression":
        return "conversion"
    if parent.type == "type_descriptor":
        if parent.child_by_field_name("declarator") is not None:
            return ""
        user = parent.parent
        if user is not None and user.type == "cast_expression":
            return "conversion"
        named = user.prev_sibling if user is not None else None
        is_cast = named is not None and function.file.of(named) == "static_cast"
        return "conversion" if is_cast else ""
    declares = ("declaration", "parameter_declaration", "optional_parameter_declaration")
    if parent.type in (*declares, "function_definition"):
        text = function.file.of(parent).partition("{")[0]
        declarator = parent.child_by_field_name("declarator")
        if re.search(r"\bconstexpr\b", text) or declarator is None:
            return ""
        inner = declarator.child_by_field_name("declarator")
        pointers = (declarator.type, inner.type if inner is not None else "")
        return "" if "pointer_declarator" in pointers else "arithmetic"
    return ""


def _standard_library(context: Context, function: DeviceFunction) -> None:
    doubtful = tables()["std_doubtful"]["names"]
    for node in function.nodes("qualified"):
        parts = re.sub(r"\s+", "", function.file.of(node)).removeprefix("::").split("::")
        if parts[0] != "std" or len(parts) < 2:
            continue
        name = parts[1].partition("<")[0]
        if (group := std_refused().get(name)) is not None:
            rule = {"streams": "LNT-21", "math": "LNT-04"}.get(group, "LNT-03")
            message = f"std::{name} in device code"
            context.report(rule, function.file, node, message, fix=_instead(name), severity="error")
        elif name in doubtful:
            message = f"std::{name} in device code is not marked __aicore__"
            context.report("LNT-03", function.file, node, message, severity="warning")


def _instead(name: str) -> str | None:
    plain = name.removesuffix("f") if name not in _VECTOR_API else name
    if name in _SCALAR_BUILTIN or name in ("sqrt", "abs", "min", "max"):
        return f"Use the builtin {_SCALAR_BUILTIN.get(name, name)} on scalars."
    if plain in _VECTOR_API:
        return f"Use AscendC::{_VECTOR_API[plain]} on a tensor."
    return None


def _c_library(context: Context, function: DeviceFunction) -> None:
    for call in function.calls:
        group = libc_refused().get(call.name)
        if group is None or call.receiver or call.scope or call.template_arguments:
            continue
        if context.defined(call.name) or call.name in function.local_names:
            continue
        if not context.model.program.complete:
            continue
        context.report(
            _LIBC_RULES[group],
            function.file,
            call.node,
            f"{call.name} of the C library in device code",
            fix=_instead(call.name),
        )


def _constants(context: Context, function: DeviceFunction) -> None:
    constants, program = tables()["constants"], context.model.program
    if not program.complete:
        return
    for node in function.nodes("identifier"):
        name = function.file.of(node)
        headers = constants.get(name)
        if headers is None or context.defined(name) or name in function.local_names:
            continue
        if not program.macros.system_headers & set(headers):
            message = f"{name} is not defined: no <{headers[0]}> is included"
            context.report("LNT-20", function.file, node, message)


def _statements(context: Context, function: DeviceFunction) -> None:
    for node in function.nodes("heap"):
        if node.type == "new_expression" and node.child_by_field_name("placement") is not None:
            continue
        context.report("LNT-05", function.file, node, "new and delete in device code")
    for node in function.nodes("exception"):
        context.report("LNT-06", function.file, node, "exceptions in device code")
    for node in function.nodes("jump"):
        context.report("LNT-10", function.file, node, "goto or inline assembly in device code")
    for call in function.calls:
        if call.name in ("typeid", "dynamic_cast") and not call.receiver:
            context.report("LNT-07", function.file, call.node, f"{call.name} in device code")


def _static_locals(context: Context, function: DeviceFunction) -> None:
    for node in function.nodes("declaration"):
        text = function.file.of(node)
        if re.match(r"static\b", text) and not re.search(r"\bconst(expr)?\b", text):
            message = "a static local variable in device code is not constant"
            context.report("LNT-11", function.file, node, message)


def _virtual(context: Context) -> None:
    for classes in context.model.classes.values():
        for owner in classes:
            if not context.model.has_device_code(owner):
                continue
            body = owner.node.child_by_field_name("body")
            for node in body.children if body is not None else ():
                if node.type in ("field_declaration", "function_definition", "declaration") and any(
                    child.type == "virtual" for child in node.children
                ):
                    message = f"a virtual function in {owner.name}, which runs on the device"
                    context.report("LNT-09", owner.file, node, message)
            for clause in owner.node.children:
                if (
                    clause.type == "base_class_clause"
                    and "virtual" in owner.file.of(clause).split()
                ):
                    message = f"virtual inheritance of {owner.name}, which runs on the device"
                    context.report("LNT-09", owner.file, clause, message)
