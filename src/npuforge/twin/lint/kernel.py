# SPDX-License-Identifier: Apache-2.0
"""The form of the kernel: its entry, tiling macros, events, pipes, and the names of the API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npuforge.twin.lint.names import api_names, nearest, tables

if TYPE_CHECKING:
    from tree_sitter import Node

    from npuforge import rules
    from npuforge.twin.lint.context import Context, DeviceFunction
    from npuforge.twin.lint.model import Class

_GLOBAL_NAME = re.compile(r"EVENT_ID\d|PIPE_(?:S|V|M|MTE1|MTE2|MTE3|FIX|ALL)")
_EVENT_CALLS = ("SetFlag", "WaitFlag", "set_flag", "wait_flag")
_LAST_EVENT = 7
_TPIPE = re.compile(r"(?:AscendC::)?TPipe")
_REFUSED_PARAMETER = re.compile(r"(?:std::\w+|(?:AscendC::)?(?:Local|Global)Tensor)\b.*", re.S)


def check(context: Context) -> None:
    """Everything about how the kernel uses AscendC."""
    _entries(context)
    for function in context.functions:
        _tiling_keys(context, function)
        _events(context, function)
        _barriers(context, function)
        _pipes(context, function)
        _api_names(context, function)
        _members(context, function)
    _tiling_data(context)
    for classes in context.model.classes.values():
        for owner in classes:
            if context.model.has_device_code(owner):
                _pipe_members(context, owner)


def _entries(context: Context) -> None:
    for function in context.model.functions:
        if "global" not in function.marks or "aicpu" in function.marks:
            continue
        file, node = function.file, function.node
        if "aicore" not in function.marks and not function.doubtful:
            message = f"{function.name} is __global__ without __aicore__"
            context.report("LNT-17", file, node, message)
        type_node = node.child_by_field_name("type")
        if function.owner:
            message = f"the kernel entry {function.name} is a member of {function.owner}"
            context.report("LNT-17", file, node, message)
        elif type_node is not None and file.of(type_node) in ("int", "float", "bool", "auto"):
            message = f"the kernel entry {function.name} returns {file.of(type_node)}, not void"
            context.report("LNT-17", file, node, message)
        for name, parameter in function.parameters:
            declarator = parameter.node.child_by_field_name("declarator")
            by_reference = declarator is not None and declarator.type == "reference_declarator"
            if by_reference or _REFUSED_PARAMETER.fullmatch(parameter.type):
                message = f"the kernel entry takes {name} as {file.of(parameter.node)}"
                context.report("LNT-18", file, parameter.node, message)


def _is_tiling_key(function: DeviceFunction, node: Node) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and "TILING_KEY_IS" in function.file.of(condition)


def _tiling_keys(context: Context, function: DeviceFunction) -> None:
    for node in function.nodes("if"):
        if not _is_tiling_key(function, node):
            continue
        alternative = node.child_by_field_name("alternative")
        if alternative is None:
            continue
        last = alternative.named_children[-1] if alternative.named_children else None
        if last is not None and last.type != "if_statement":
            message = "an else after TILING_KEY_IS: each key has its own if or else-if"
            context.report("LNC-06", function.file, alternative, message)


def _tiling_data(context: Context) -> None:
    calls = [(f, c) for f in context.functions for c in f.calls]
    none = [pair for pair in calls if pair[1].name == "REGISTER_NONE_TILING"]
    for function, call in calls:
        if call.name == "GET_TILING_DATA" and none:
            message = "GET_TILING_DATA in a kernel with REGISTER_NONE_TILING"
            fix = "Use GET_TILING_DATA_WITH_STRUCT(Type, name, tiling)."
            context.report("TIL-03", function.file, call.node, message, fix=fix)


def _events(context: Context, function: DeviceFunction) -> None:
    for call in function.calls:
        if call.name not in _EVENT_CALLS or call.receiver or not call.arguments:
            continue
        text = function.file.of(call.arguments[-1])
        literal = re.fullmatch(r"(?:EVENT_ID)?(\d+)[uU]?", text)
        if literal and int(literal.group(1)) > _LAST_EVENT:
            message = f"{call.name} with event id {literal.group(1)}: ids end at {_LAST_EVENT}"
            context.report("EVT-02", function.file, call.node, message)


def _barriers(context: Context, function: DeviceFunction) -> None:
    for call in function.calls:
        if call.name == "PipeBarrier" and [
            function.file.of(a).rpartition("::")[2] for a in call.template_arguments
        ] == ["PIPE_S"]:
            message = "PipeBarrier<PIPE_S> is not supported"
            context.report("EVT-06", function.file, call.node, message)


def _pipes(context: Context, function: DeviceFunction) -> None:
    """Two TPipes in one block, or in blocks of which one holds the other."""
    if any(call.name == "Destroy" for call in function.calls):
        return
    declared = [node for node in function.nodes("declaration") if _declares_pipe(function, node)]
    for first in declared:
        for second in declared:
            block = first.parent
            inside = block is not None and block.start_byte <= second.start_byte < block.end_byte
            if inside and first.start_byte < second.start_byte:
                message = "a second TPipe while the first is alive"
                context.report("QUE-01", function.file, second, message)


def _declares_pipe(function: DeviceFunction, node: Node) -> bool:
    type_node = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    return (
        type_node is not None
        and _TPIPE.fullmatch(function.file.of(type_node)) is not None
        and declarator is not None
        and declarator.type in ("identifier", "init_declarator")
        and not function.file.of(declarator).startswith(("*", "&"))
    )


def _pipe_members(context: Context, owner: Class) -> None:
    for name, member in owner.members.items():
        if (
            _TPIPE.fullmatch(member.type)
            and not member.pointer
            and "&" not in owner.file.of(member.node)
        ):
            message = f"TPipe {name} is a member of {owner.name}"
            context.report("QUE-02", owner.file, member.node, message)


def _api_names(context: Context, function: DeviceFunction) -> None:
    for node in sorted(function.nodes("qualified"), key=lambda n: n.start_byte):
        text = re.sub(r"\s+", "", function.file.of(node)).removeprefix("::")
        match = re.match(r"AscendC::(\w+)", text)
        if match is None or text.startswith(("AscendC::Std::", "AscendC::Impl")):
            continue
        _name(context, function, node, match.group(1))
    if not context.model.uses_ascendc or not context.model.program.complete:
        return
    for call in function.calls:
        plain = not (call.scope or call.receiver or call.name in function.local_names)
        if (plain and call.name in tables()["nonexistent"] and not context.defined(call.name)) or (
            plain and call.name in tables()["elsewhere"] and not context.defined(call.name)
        ):
            _name(context, function, call.node, call.name)


def _name(context: Context, function: DeviceFunction, node: Node, name: str) -> None:
    """Judge one name of AscendC, once per file: a kernel for another chip has hundreds."""
    if (function.file.name, name) in context.named or context.defined(name):
        return
    context.named.add((function.file.name, name))
    if _GLOBAL_NAME.fullmatch(name):
        message = f"AscendC::{name} does not exist: {name} is a global name"
        context.report("LNT-16", function.file, node, message, fix=f"Write {name}.")
    elif (right := tables()["elsewhere"].get(name)) is not None:
        rule = "ATM-04" if name.startswith("Atomic") else "DTY-21"
        message = f"{name} exists in AscendC, but not on architecture 2201"
        declared = name in tables()["elsewhere_declared"]["names"]
        severity: rules.Severity = "warning" if declared else "error"
        fix = f"Use {right}."
        context.report(rule, function.file, node, message, fix=fix, severity=severity)
    elif (right := tables()["nonexistent"].get(name)) is not None:
        message = f"{name} does not exist in AscendC; did you mean {right}?"
        context.report("LNT-14", function.file, node, message, fix=f"Use {right}.")
    elif name not in api_names() and not name.isupper():  # constants of the toolkit are many
        close = nearest(name)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        message = f"{name} is not a known name of AscendC{hint}"
        context.report("LNT-15", function.file, node, message)


def _members(context: Context, function: DeviceFunction) -> None:
    for call in function.calls:
        class_name = function.receiver_class(call) if call.receiver else ""
        right = tables()["members"].get(class_name or "", {}).get(call.name)
        if right is not None and class_name not in context.model.classes:
            message = f"{class_name} has no member {call.name}"
            context.report("LNT-19", function.file, call.node, message, fix=f"Use {right}.")
