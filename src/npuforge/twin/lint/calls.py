# SPDX-License-Identifier: Apache-2.0
"""Calls between functions of the sources: to the host, and in circles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npuforge.twin.lint.names import api_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npuforge.twin.lint.context import Call, Context, DeviceFunction
    from npuforge.twin.lint.model import Function


def check(context: Context) -> None:
    """Calls to functions without `__aicore__`, then recursion."""
    for function in context.functions:
        for call in function.calls:
            _host_call(context, function, call)
        _host_constructors(context, function)
    _recursion(context)


def _candidates(context: Context, function: DeviceFunction, call: Call) -> list[Function]:
    """Functions of the sources the call may mean; none where something else may be meant."""
    name = call.name
    if name in context.model.program.macros or name in function.local_names:
        return []
    named = context.model.by_name.get(name, [])
    if call.receiver.strip() == "this":
        return [f for f in named if f.owner]
    if call.receiver:
        owner_name = function.receiver_class(call)
        if owner_name in context.model.classes:
            return [f for f in named if f.owner == owner_name]
        # An object of the toolkit may have a method of the same name.
        return [] if name in api_names() else [f for f in named if f.owner]
    if call.scope:
        owner = re.sub(r"<.*>", "", call.scope, flags=re.S).rpartition("::")[2].strip()
        if owner in ("AscendC", "std") or owner not in context.model.classes:
            return [f for f in named if not f.owner] if owner not in ("AscendC", "std", "") else []
        return [f for f in named if f.owner == owner]
    own = [f for f in named if f.owner and f.owner == function.function.owner]
    if own:
        return own  # a method hides functions of namespaces
    if context.model.uses_ascendc and name in api_names():
        return []
    return named


def _host_call(context: Context, function: DeviceFunction, call: Call) -> None:
    found = [f for f in _candidates(context, function, call) if f.name not in context.model.classes]
    fitting = [f for f in found if f.takes(len(call.arguments))]
    if not fitting or any(f.callable_on_device for f in fitting):
        return
    line = fitting[0].node.start_point[0] + 1
    message = f"{call.name} (line {line}) is a host function: it is not marked __aicore__"
    context.report("LNT-01", function.file, call.node, message)


def _host_constructors(context: Context, function: DeviceFunction) -> None:
    """`Kernel op;` needs a constructor that is marked, defaulted or constexpr."""
    for node in function.nodes("declaration"):
        type_node = node.child_by_field_name("type")
        if type_node is None or node.type != "declaration":
            continue
        name = re.sub(r"<.*>", "", function.file.of(type_node), flags=re.S).strip()
        constructors = [f for f in context.model.by_name.get(name, []) if f.owner == name]
        if not constructors or len(context.model.classes.get(name, [])) != 1:
            continue
        for declarator in node.children_by_field_name("declarator"):
            count = _argument_count(declarator.type, declarator.child_by_field_name("value"))
            if count is None:
                continue
            fitting = [f for f in constructors if f.takes(count)]
            if fitting and not any(f.callable_on_device for f in fitting):
                message = (
                    f"the constructor of {name} is a host function: it is not marked __aicore__"
                )
                context.report("LNT-01", function.file, declarator, message)


def _argument_count(kind: str, value: object) -> int | None:
    if kind == "identifier":
        return 0
    named = getattr(value, "named_children", None)
    if kind == "init_declarator" and getattr(value, "type", "") == "argument_list":
        return len(named or [])
    return None


def _recursion(context: Context) -> None:
    """Circles among calls that can mean one function only; templates may end at compile time."""
    callees: dict[Function, list[tuple[Function, DeviceFunction, Call]]] = {}
    for function in context.functions:
        if function.function.template:
            continue
        callees[function.function] = [
            (target, function, call)
            for call in function.calls
            for target in _certain_target(context, function, call)
        ]
    done: set[Function] = set()
    for start in callees:
        _search(context, start, callees, [], done)


def _search(
    context: Context,
    at: Function,
    callees: dict[Function, list[tuple[Function, DeviceFunction, Call]]],
    path: list[Function],
    done: set[Function],
) -> None:
    if at in done:
        return
    path.append(at)
    for target, caller, call in callees.get(at, ()):
        if target in path:
            circle = [f.name for f in path[path.index(target) :]] + [target.name]
            message = "recursion: " + " -> ".join(circle)
            context.report("LNT-08", caller.file, call.node, message)
        else:
            _search(context, target, callees, path, done)
    path.pop()
    done.add(at)


def _certain_target(context: Context, function: DeviceFunction, call: Call) -> Iterator[Function]:
    if call.scope or call.template_arguments or call.receiver.strip() not in ("", "this"):
        return
    owner = function.function.owner
    found = [
        f
        for f in _candidates(context, function, call)
        if f.owner in ("", owner) and f.takes(len(call.arguments))
    ]
    methods = [f for f in found if f.owner]
    found = methods or found
    if len(found) == 1 and not found[0].template and found[0].callable_on_device:
        yield found[0]
