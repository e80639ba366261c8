# SPDX-License-Identifier: Apache-2.0
"""A kernel of the program as a C++ class: members, `Init`, `Process`, one function per block."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from npuforge.lower.buffers import BufferPlan, Kind, Plan, plan_buffers
from npuforge.lower.context import Context, device_type
from npuforge.lower.cpp import TYPES, Printer
from npuforge.lower.geometry import Geometry
from npuforge.lower.names import Namer
from npuforge.lower.past_the_end import BLOCK, read_past_the_end
from npuforge.lower.placement import Slot, place
from npuforge.lower.reuse import shared_memory
from npuforge.lower.stages import Body, emit_body
from npuforge.lower.streams import streamed_parameters
from npuforge.tile.expr import Call, Const, Expr, Program, Var, add, align_up, fold, mul
from npuforge.tile.ir import Kernel, PointerParameter

_INDENT = "    "
_WORK = "work space"  # no buffer of a program is called so
_COUNT = "programCount"  # not GetBlockNum(): a launch may share its blocks with wider ones


@dataclass(frozen=True, slots=True)
class KernelCode:
    """A class of the emitted source, and what it takes to use it."""

    class_name: str
    lines: list[str]
    kernel: Kernel
    plan: Plan
    slots: list[Slot]
    derived: dict[str, Expr]  # sizes the host computes from the kernel's parameters
    streamed: dict[str, str]  # parameters read once: the argument of Init that says so
    ub_bytes: Expr  # over the kernel's parameters
    helpers: list[str]
    scalar_functions: set[str]
    uses_wait: bool
    counts_programs: bool  # Init takes the number of blocks that run this kernel
    body: Body


def emit_kernel(kernel: Kernel, class_name: str) -> KernelCode:
    """The class of a kernel."""
    names = Namer()
    names.name("pipe")
    for own in ("work", "workBuf"):  # those of the helpers
        names.fresh(own)
    count_name = names.fresh(_COUNT)
    counted: set[str] = set()
    facts = kernel.facts

    def leaf(expr: Expr) -> str:
        match expr:
            case Var(name=name):
                return names.name(name)
            case Program("id"):
                return "static_cast<int64_t>(GetBlockIdx())"
            case Program():
                counted.add(count_name)
                return count_name
            case _:
                raise AssertionError(f"{expr} in a kernel")

    for parameter in kernel.parameters:
        names.name(parameter.name, "Gm" if isinstance(parameter, PointerParameter) else "")
    geometry = Geometry(kernel, facts)
    plan = plan_buffers(kernel)
    for first, *others in shared_memory(kernel, plan):
        plan.memory |= {other.name: first.name for other in others}
    context = Context(facts, geometry, plan, names, Printer(facts, "device", leaf))
    derived = _name_pitches(kernel, context)
    body = emit_body(kernel, context)
    sizes = _sizes(plan, geometry, read_past_the_end(kernel))
    if context.scratch:
        sizes.append((_WORK, _largest(context.scratch), 1))
    slots = place(kernel, sizes, plan.holder)
    for slot in slots:
        _derive(slot.size, names.name(slot.name, "Bytes"), derived, context)
    streamed = {name: names.name(name, "Streams") for name in streamed_parameters(kernel)}
    lines = _class(class_name, kernel, context, body, slots, derived, streamed, sorted(counted))
    return KernelCode(
        class_name,
        lines,
        kernel,
        plan,
        slots,
        derived,
        streamed,
        _total(slots),
        list(context.helpers),
        context.printer.used,
        context.uses_wait,
        bool(counted),
        body,
    )


def _sizes(plan: Plan, geometry: Geometry, longer: Set[str]) -> list[tuple[str, Expr, int]]:
    """Name, bytes of a copy and copies of everything that takes memory."""
    wanted: dict[str, list[Expr]] = {}
    for name, planned in plan.buffers.items():
        size = geometry.bytes(planned.buffer)
        if name in longer:
            size = add(size, Const(BLOCK))
        wanted.setdefault(plan.holder(name), []).append(size)
    return [(name, _largest(sizes), plan.buffers[name].depth) for name, sizes in wanted.items()]


def _name_pitches(kernel: Kernel, context: Context) -> dict[str, Expr]:
    """Padded row lengths, each under one name."""
    derived: dict[str, Expr] = {}
    for buffer in kernel.buffers:
        if context.geometry.has_pads(buffer):
            pitch = context.geometry.pitch(buffer)
            _derive(pitch, context.names.name(buffer.name, "Pitch"), derived, context)
    return derived


def _derive(expr: Expr, name: str, derived: dict[str, Expr], context: Context) -> None:
    """Give an expression a name, unless it is a constant or has one."""
    if not isinstance(expr, Const | Var) and expr not in context.printer.aliases:
        derived[name] = expr
        context.printer.aliases[expr] = name


def _largest(sizes: list[Expr]) -> Expr:
    distinct = {id(size): size for size in sizes}.values()  # the same one many times over
    unique = list(dict.fromkeys(fold(size) for size in distinct))
    constants = [size.value for size in unique if isinstance(size, Const)]
    others: list[Expr] = [size for size in unique if not isinstance(size, Const)]
    if constants:
        others.append(Const(max(constants)))
    size = others[0] if len(others) == 1 else Call("max", tuple(others))
    return align_up(size, 32)


def _total(slots: list[Slot]) -> Expr:
    total: Expr = Const(0)
    for slot in slots:
        total = add(total, mul(slot.size, Const(slot.copies)))
    return total


def _class(
    class_name: str,
    kernel: Kernel,
    context: Context,
    body: Body,
    slots: list[Slot],
    derived: dict[str, Expr],
    streamed: dict[str, str],
    counted: list[str],
) -> list[str]:
    lines = [f"// {line}" for line in kernel.doc.splitlines()]
    lines += [
        f"class {class_name} {{",
        "public:",
        f"{_INDENT}__aicore__ inline {class_name}() {{}}",
    ]
    lines += ["", *_indent(_init(kernel, context, slots, list(derived), streamed, counted))]
    lines += ["", *_indent(_function("Process", [], body.process))]
    lines += ["", "private:"]
    for function in body.functions:
        lines += [*_indent(_function(function.name, function.parameters, function.lines)), ""]
    kept = [*(name for name in derived if _is_pitch(name)), *counted]
    lines += _indent(_members(kernel, context, body, kept))
    lines += ["};"]
    return lines


def _indent(lines: list[str]) -> list[str]:
    return [_INDENT + line if line else line for line in lines]


def _function(name: str, parameters: list[tuple[str, str]], body: list[str]) -> list[str]:
    listed = ", ".join(f"{type_} {parameter}" for type_, parameter in parameters)
    return [f"__aicore__ inline void {name}({listed})", "{", *_indent(body), "}"]


def _init(
    kernel: Kernel,
    context: Context,
    slots: list[Slot],
    derived: list[str],
    streamed: dict[str, str],
    counted: list[str],
) -> list[str]:
    parameters = [("GM_ADDR", f"{context.names.name(p.name, 'Gm')}Addr") for p in kernel.pointers]
    parameters += [(TYPES[p.type], context.names.name(p.name)) for p in kernel.scalars]
    parameters += [("int64_t", name) for name in (*derived, *streamed.values(), *counted)]
    parameters.append(("TPipe*", "pipe"))
    body = []
    for pointer in kernel.pointers:
        name = context.names.name(pointer.name, "Gm")
        kind = device_type(pointer.tensor.dtype)
        body.append(f"{name}.SetGlobalBuffer(reinterpret_cast<__gm__ {kind}*>({name}Addr));")
        if pointer.name in streamed:
            hint = f"{name}.SetL2CacheHint<CacheRwMode::READ>(CacheMode::CACHE_MODE_DISABLE);"
            body += [f"if ({streamed[pointer.name]} != 0) {{", _INDENT + hint, "}"]
    for scalar in kernel.scalars:
        name = context.names.name(scalar.name)
        body.append(f"this->{name} = {name};")
    kept = [*(name for name in derived if _is_pitch(name)), *counted]
    body += [f"this->{name} = {name};" for name in kept]
    body += [_init_buffer(slot, context) for slot in slots]
    return _function("Init", parameters, body)


def _init_buffer(slot: Slot, context: Context) -> str:
    size = context.text(slot.size)
    planned = context.plan.buffers.get(slot.name)
    if planned is not None and planned.kind.queued:
        queue = context.names.name(slot.name, "Queue")
        return f"pipe->InitBuffer({queue}, {slot.copies}, {size});"
    return f"pipe->InitBuffer({_buffer_member(slot.name, context)}, {size});"


def _buffer_member(name: str, context: Context) -> str:
    return "workBuf" if name == _WORK else context.names.name(name, "Buf")


def _is_pitch(name: str) -> bool:
    """Pitches are needed after Init, sizes in bytes are not."""
    return name.endswith("Pitch")


def _members(kernel: Kernel, context: Context, body: Body, kept: list[str]) -> list[str]:
    lines = []
    for pointer in kernel.pointers:
        kind = device_type(pointer.tensor.dtype)
        lines.append(f"GlobalTensor<{kind}> {context.names.name(pointer.name, 'Gm')};")
    lines += [
        _buffer_declaration(planned, context)
        for name, planned in context.plan.buffers.items()
        if context.plan.holder(name) == name
    ]
    if context.scratch:
        lines.append("TBuf<TPosition::VECCALC> workBuf;")
    for planned in context.plan.buffers.values():
        if planned.spread:
            kind = device_type(planned.buffer.dtype)
            lines.append(f"LocalTensor<{kind}> {context.local(planned.buffer)};")
    lines += [f"{TYPES[s.type]} {context.names.name(s.name)};" for s in kernel.scalars]
    lines += [f"int64_t {name};" for name in kept]
    lines += [f"{type_} {name};" for type_, name in body.scalar_members]
    return lines


def _buffer_declaration(planned: BufferPlan, context: Context) -> str:
    name = planned.buffer.name
    queue = context.names.name(name, "Queue")
    match planned.kind:
        case Kind.IN:
            return f"TQue<TPosition::VECIN, {planned.depth}> {queue};"
        case Kind.OUT:
            return f"TQue<TPosition::VECOUT, {planned.depth}> {queue};"
        case Kind.BIND:
            both = "TPosition::VECIN, TPosition::VECOUT"
            return f"TQueBind<{both}, {planned.depth}> {queue};"
        case Kind.WORK | Kind.EXCLUSIVE:
            return f"TBuf<TPosition::VECCALC> {_buffer_member(name, context)};"
