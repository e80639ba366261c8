# SPDX-License-Identifier: Apache-2.0
"""Conversions the scalar unit does not have, and pointers that change their address space.

Only what the declarations in the sources decide is judged: a variable whose type is visible, a
cast whose target is written out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from npuforge.twin.lint.context import Call, Context, DeviceFunction
    from npuforge.twin.lint.model import Variable

_UNSIGNED = re.compile(r"(?:const )?(?:std::)?(?:uint(?:8|16|32|64)_t|size_t|unsigned(?: \w+)*)")
_FLOAT = re.compile(r"(?:const )?float")
_SPACE_NAMES = {"": "no address space", "gm": "__gm__", "ubuf": "__ubuf__"}


def check(context: Context) -> None:
    """Every explicit cast, and every pointer handed on, in device functions."""
    for function in context.functions:
        for call in function.calls:
            if call.name in ("static_cast", "reinterpret_cast") and len(call.arguments) == 1:
                target = call.template_arguments[0] if call.template_arguments else None
                _cast(context, function, call.node, target, call.arguments[0])
                if target is not None and call.name == "reinterpret_cast":
                    _pointer_cast(context, function, call.node, target, call.arguments[0])
            elif call.name == "float" and len(call.arguments) == 1:
                _to_float(context, function, call.node, call.arguments[0])
            elif call.name == "SetGlobalBuffer" and call.arguments:
                _global_buffer(context, function, call)
            else:
                _pointer_arguments(context, function, call)
        for node in function.nodes("cast"):
            value = node.child_by_field_name("value")
            if value is not None:
                _cast(context, function, node, node.child_by_field_name("type"), value)
        for node in function.nodes("declaration"):
            _pointer_initialiser(context, function, node)


def _value(function: DeviceFunction, node: Node) -> Variable | None:
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    return function.variable(node)


def _scalar_type(context: Context, function: DeviceFunction, node: Node) -> str:
    """One of unsigned, float, literal (fits either), or empty where the sources do not tell."""
    if node.type == "parenthesized_expression" and node.named_children:
        return _scalar_type(context, function, node.named_children[0])
    if node.type == "number_literal":
        return "float" if re.search(r"[.fF]", function.file.of(node)) else "literal"
    if node.type == "sizeof_expression":
        return "unsigned"
    if node.type == "binary_expression":
        operator = node.child_by_field_name("operator")
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        if operator is None or function.file.of(operator) not in ("+", "-", "*", "/", "%"):
            return ""
        types = {_scalar_type(context, function, side) for side in sides if side is not None}
        if "float" in types and "" not in types:
            return "float"
        return "unsigned" if types in ({"unsigned"}, {"unsigned", "literal"}) else ""
    variable = function.variable(node) or _field(context, function, node)
    if variable is None or variable.pointer:
        return ""
    if _UNSIGNED.fullmatch(variable.type):
        return "unsigned"
    return "float" if _FLOAT.fullmatch(variable.type) else ""


def _field(context: Context, function: DeviceFunction, node: Node) -> Variable | None:
    """The member behind `object.member` where the object's class is in the sources, once."""
    if node.type != "field_expression":
        return None
    target, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
    owner = function.variable(target) if target is not None else None
    if owner is None or name is None:
        return None
    classes = context.model.classes.get(owner.type.rpartition("::")[2], [])
    return classes[0].members.get(function.file.of(name)) if len(classes) == 1 else None


def _cast(
    context: Context, function: DeviceFunction, node: Node, target: Node | None, value: Node
) -> None:
    text = " ".join(function.file.of(target).split()) if target is not None else ""
    if text == "float":
        _to_float(context, function, node, value)
        return
    constant = value.type == "number_literal"
    if (
        not constant
        and _UNSIGNED.fullmatch(text)
        and _scalar_type(context, function, value) == "float"
    ):
        message = f"explicit cast of the float {function.file.of(value)} to {text}"
        context.report("LNT-12", function.file, node, message)


def _to_float(context: Context, function: DeviceFunction, node: Node, value: Node) -> None:
    if _scalar_type(context, function, value) == "unsigned":
        message = f"explicit cast of the unsigned {function.file.of(value)} to float"
        context.report("LNT-12", function.file, node, message)


def _written_space(function: DeviceFunction, node: Node) -> str | None:
    """The address space a written pointer type has; None where it is not a plain pointer type."""
    text = function.file.of(node)
    if not text.rstrip().endswith("*") or text.count("*") != 1:
        return None
    kinds = function.file.kinds(node.start_byte, node.end_byte)
    return next(iter(kinds), "")


def _pointer_cast(
    context: Context, function: DeviceFunction, node: Node, target: Node, value: Node
) -> None:
    source, space = _value(function, value), _written_space(function, target)
    if source is None or not source.pointer or space is None or _is_entry_pointer(function, source):
        return
    _compare(context, function, node, (source.space, space), "reinterpret_cast")


def _is_entry_pointer(function: DeviceFunction, variable: Variable) -> bool:
    """Unqualified pointers of a kernel entry are GM pointers."""
    return "global" in function.function.marks and not variable.space


def _global_buffer(context: Context, function: DeviceFunction, call: Call) -> None:
    """`SetGlobalBuffer((T*)x)` drops the `__gm__` the API asks for."""
    first = call.arguments[0]
    written: Node | None = None
    if first.type == "cast_expression":
        written = first.child_by_field_name("type")
    elif first.type == "call_expression":
        casts = [c for c in function.calls if c.node == first and c.name == "reinterpret_cast"]
        written = casts[0].template_arguments[0] if casts and casts[0].template_arguments else None
    if written is not None and _written_space(function, written) == "":
        message = f"SetGlobalBuffer takes a __gm__ pointer, not {function.file.of(written)}"
        context.report("LNT-13", function.file, first, message)


def _pointer_initialiser(context: Context, function: DeviceFunction, node: Node) -> None:
    type_node = node.child_by_field_name("type")
    for declarator in node.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value")
        inner = declarator.child_by_field_name("declarator")
        if value is None or inner is None or inner.type != "pointer_declarator":
            continue
        source = _value(function, value)
        if source is None or not source.pointer or type_node is None:
            continue
        kinds = function.file.kinds(node.start_byte, inner.end_byte)
        if "auto" in function.file.of(type_node) or _is_entry_pointer(function, source):
            continue
        _compare(context, function, value, (source.space, next(iter(kinds), "")), "initialisation")


def _pointer_arguments(context: Context, function: DeviceFunction, call: Call) -> None:
    """A pointer argument and its parameter, where only one function can be meant."""
    found = context.model.by_name.get(call.name, [])
    if len(found) != 1 or call.name in function.local_names or found[0].template:
        return
    target = found[0]
    if call.scope.startswith(("AscendC", "std")) or not target.device:
        return
    if call.receiver and function.receiver_class(call) not in ("", target.owner):
        return
    if len(target.parameters) < len(call.arguments):
        return
    for argument, (_, parameter) in zip(call.arguments, target.parameters, strict=False):
        written = argument.child_by_field_name("type")
        if argument.type == "cast_expression" and written is not None and parameter.pointer:
            if (space := _written_space(function, written)) is not None:
                _compare(context, function, argument, (space, parameter.space), "argument")
            continue
        source = _value(function, argument)
        if source is None or not source.pointer or not parameter.pointer:
            continue
        if _is_entry_pointer(function, source) or "auto" in parameter.type:
            continue
        _compare(context, function, argument, (source.space, parameter.space), "argument")


def _compare(
    context: Context, function: DeviceFunction, node: Node, spaces: tuple[str, str], how: str
) -> None:
    source, target = spaces
    known = _SPACE_NAMES
    if source == target or source not in known or target not in known:
        return
    message = f"{how} changes a pointer from {known[source]} to {known[target]}"
    context.report("LNT-13", function.file, node, message)
