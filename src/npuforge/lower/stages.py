# SPDX-License-Identifier: Apache-2.0
"""Computation pass, structure: `Process` and one function for each block, with queue operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from npuforge.lower.ahead import runs_ahead
from npuforge.lower.buffers import Event, Kind
from npuforge.lower.compute import emit_op
from npuforge.lower.context import Context, device_type
from npuforge.lower.cpp import TYPES
from npuforge.lower.moves import emit_load, emit_store
from npuforge.lower.scalar_waits import waits_before
from npuforge.tile.expr import Expr, Type, Var
from npuforge.tile.expr import walk as walk_expr
from npuforge.tile.ir import (
    Buffer,
    For,
    If,
    Kernel,
    Let,
    Load,
    LoadScalar,
    Op,
    ReadScalar,
    Stage,
    StageKind,
    Stmt,
    Store,
    View,
    walk,
)

_FUNCTION_NAMES: dict[StageKind, str] = {
    "copyin": "CopyIn",
    "compute": "Compute",
    "copyout": "CopyOut",
}
_INDENT = "    "


@dataclass(slots=True)
class StageFunction:
    """A block of the program as a member function."""

    name: str
    parameters: list[tuple[str, str]]  # (type, name)
    lines: list[str]


@dataclass(slots=True)
class Body:
    """The executable part of a kernel class."""

    process: list[str] = field(default_factory=list)
    functions: list[StageFunction] = field(default_factory=list)
    scalar_members: list[tuple[str, str]] = field(default_factory=list)


def emit_body(kernel: Kernel, context: Context) -> Body:
    """`Process` and the functions of the blocks."""
    return _BodyEmitter(kernel, context).emit()


class _BodyEmitter:
    def __init__(self, kernel: Kernel, context: Context) -> None:
        self.kernel = kernel
        self.context = context
        self.parameters = {parameter.name for parameter in kernel.parameters}
        self.members = _scalars_shared_by_stages(kernel)
        self.moving = _assigned_in_rounds(kernel)
        self.types = _scalar_types(kernel)
        self.waiting = waits_before(kernel)
        self.body = Body()
        self.counts: dict[StageKind, int] = {"copyin": 0, "compute": 0, "copyout": 0}
        self.totals = {
            kind: sum(isinstance(s, Stage) and s.kind == kind for s in walk(kernel.body))
            for kind in self.counts
        }

    def emit(self) -> Body:
        self.body.scalar_members = [
            (TYPES[self.types[name]], self.context.names.name(name))
            for name in sorted(self.members)
        ]
        hoisted = self.moving & set(_assigned_outside_stages(self.kernel.body))
        hoisted -= self.members | self.parameters
        self.body.process = self.declarations(hoisted)
        self.body.process += self.statements(self.kernel.body, hoisted)
        return self.body

    def declarations(self, names: set[str]) -> list[str]:
        """Scalars that are assigned more than once are declared ahead."""
        return [f"{TYPES[self.types[n]]} {self.context.names.name(n)} = 0;" for n in sorted(names)]

    # ---- statements around blocks -----------------------------------------------------------
    def statements(self, body: Sequence[Stmt], declared: set[str]) -> list[str]:
        lines: list[str] = []
        declared = set(declared)
        for statement in body:
            lines += self.events(self.context.plan.at(statement, "before"))
            if id(statement) in self.waiting:
                lines.append(self.context.wait("V_S"))
            lines += self.statement(statement, declared)
            lines += self.events(self.context.plan.at(statement, "after"))
        return lines

    def statement(self, statement: Stmt, declared: set[str]) -> list[str]:
        text = self.context.text
        name = self.context.names.name
        match statement:
            case Let(variable, _, value):
                return [self.assignment(variable, value.type, text(value), declared)]
            case For() if runs_ahead(statement, self.kernel, self.context.plan):
                return self.loop_ahead(statement, declared)
            case For(counter, _, start, stop, step, body):
                i = name(counter)
                forward = f"++{i}" if step == 1 else f"{i} += {step}"
                head = f"for (int64_t {i} = {text(start)}; {i} < {text(stop)}; {forward}) {{"
                return [head, *_indented(self.statements(body, declared | {counter})), "}"]
            case If(condition, then, orelse):
                lines = [f"if ({text(condition)}) {{"]
                lines += _indented(self.statements(then, declared))
                if orelse:
                    lines += ["} else {", *_indented(self.statements(orelse, declared))]
                return [*lines, "}"]
            case Stage():
                return [self.stage(statement)]
            case Load():
                return emit_load(statement, self.context)
            case Store():
                return emit_store(statement, self.context)
            case Op():
                return emit_op(statement, self.context)
            case ReadScalar(variable, _, type_, view):
                place = text(self.context.geometry.offset(view))
                read = f"{self.context.local(view.buffer)}.GetValue({place})"
                if view.buffer.dtype is not None and view.buffer.dtype.name == "float16":
                    read = f"static_cast<float>({read})"
                return [self.assignment(variable, type_, read, declared)]
            case LoadScalar(variable, _, type_, pointer):
                tensor = name(pointer.tensor, "Gm")
                read = f"{tensor}.GetValue({text(pointer.offset)})"
                if pointer.dtype.name == "float16":
                    read = f"static_cast<float>({read})"
                return [self.assignment(variable, type_, read, declared)]

    def loop_ahead(self, loop: For, declared: set[str]) -> list[str]:
        """A loop whose loads are issued one round before their data is used."""
        text, name = self.context.text, self.context.names.name
        lets = [statement for statement in loop.body if isinstance(statement, Let)]
        place = next(i for i, inner in enumerate(loop.body) if isinstance(inner, Stage))
        stage = loop.body[place]
        assert isinstance(stage, Stage)
        counter = name(loop.counter)
        outer = self.fetch_arguments(loop, stage)
        inside = [let for let in lets[:place] if let.name in self.needed_by(stage, lets)]
        lines = self.statements((*inside, stage), {loop.counter, *(n for n, _ in outer)})
        fetch = self.context.names.fresh("Fetch")
        parameters = [("int64_t", counter), *((TYPES[type_], name(n)) for n, type_ in outer)]
        self.body.functions.append(StageFunction(fetch, parameters, lines))
        rounds = self.context.names.fresh("end")
        more = "".join(f", {name(n)}" for n, _ in outer)
        following = f"{counter} + {loop.step}"
        rest = loop.body[:place] + loop.body[place + 1 :]
        forward = f"++{counter}" if loop.step == 1 else f"{counter} += {loop.step}"
        start = text(loop.start)
        return [
            "// Loads run one round ahead of the computation.",
            f"const int64_t {rounds} = {text(loop.stop)};",
            f"if ({start} < {rounds}) {{",
            f"{_INDENT}{fetch}({start}{more});",
            "}",
            f"for (int64_t {counter} = {start}; {counter} < {rounds}; {forward}) {{",
            f"{_INDENT}if ({following} < {rounds}) {{",
            f"{_INDENT * 2}{fetch}({following}{more});",
            f"{_INDENT}}}",
            *_indented(self.statements(rest, declared | {loop.counter})),
            "}",
        ]

    def needed_by(self, stage: Stage, lets: Sequence[Let]) -> set[str]:
        """Scalars of the loop that the block needs, directly or through others."""
        wanted = {
            node.name
            for expr in _expressions(stage.body)
            for node in walk_expr(expr)
            if isinstance(node, Var)
        }
        for let in reversed(lets):
            if let.name in wanted:
                wanted |= {node.name for node in walk_expr(let.value) if isinstance(node, Var)}
        return wanted

    def fetch_arguments(self, loop: For, stage: Stage) -> list[tuple[str, Type]]:
        """Scalars from around the loop that fetching needs."""
        lets = [statement for statement in loop.body if isinstance(statement, Let)]
        own = {let.name for let in lets} | {loop.counter} | set(_assigned(stage.body))
        needed = self.needed_by(stage, lets) - own - self.parameters - self.members
        return [(name, self.types[name]) for name in sorted(needed)]

    def assignment(self, variable: str, type_: Type, value: str, declared: set[str]) -> str:
        """A declaration where the scalar is new, an assignment otherwise."""
        name = self.context.names.name(variable)
        if variable in declared or variable in self.members or variable in self.parameters:
            return f"{name} = {value};"
        declared.add(variable)
        return f"const {TYPES[type_]} {name} = {value};"

    # ---- blocks -----------------------------------------------------------------------------
    def stage(self, stage: Stage) -> str:
        """Emit the block's function; the call of it comes back."""
        number = self.counts[stage.kind]
        self.counts[stage.kind] += 1
        base = _FUNCTION_NAMES[stage.kind]
        name = base if self.totals[stage.kind] == 1 else f"{base}{number}"
        arguments = self.arguments(stage)
        scratch_before = len(self.context.scratch)
        ahead = (self.moving & set(_assigned(stage.body))) - self.members - self.parameters
        inner = self.statements(stage.body, ahead | {variable for variable, _ in arguments})
        lines = self.locals(stage)
        lines += self.declarations(ahead)
        if len(self.context.scratch) > scratch_before:
            lines.append("LocalTensor<uint8_t> work = workBuf.Get<uint8_t>();")
        lines += self.events(self.context.plan.at(stage, "start"), opening=True)
        lines += self.exclusive_waits(stage, at_start=True)
        lines += inner
        lines += self.exclusive_waits(stage, at_start=False)
        lines += self.events(self.context.plan.at(stage, "end"))
        parameters = [
            (TYPES[type_], self.context.names.name(variable)) for variable, type_ in arguments
        ]
        self.body.functions.append(StageFunction(name, parameters, lines))
        return f"{name}({', '.join(passed for _, passed in parameters)});"

    def arguments(self, stage: Stage) -> list[tuple[str, Type]]:
        """Scalars of `Process` that the block reads."""
        inside = set(_assigned(stage.body))
        found: dict[str, Type] = {}
        for expr in _expressions(stage.body):
            for node in walk_expr(expr):
                if (
                    isinstance(node, Var)
                    and node.name not in self.parameters
                    and node.name not in self.members
                    and node.name not in inside
                ):
                    found.setdefault(node.name, node.type)
        return list(found.items())

    def locals(self, stage: Stage) -> list[str]:
        """Tensors of the buffers that are not queues."""
        lines = []
        for buffer in _buffers(stage.body):
            if not self.context.kind(buffer).queued:
                kind = self.context.element(buffer)
                place = self.context.names.name(self.context.plan.holder(buffer.name), "Buf")
                lines.append(
                    f"LocalTensor<{kind}> {self.context.local(buffer)} = {place}.Get<{kind}>();"
                )
        return lines

    def events(self, events: Iterable[Event], *, opening: bool = False) -> list[str]:
        return [self.event(event, opening=opening) for event in events]

    def event(self, event: Event, *, opening: bool) -> str:
        planned = self.context.plan.buffers[event.buffer]
        kind = device_type(planned.buffer.dtype)
        tensor = self.context.local(planned.buffer)
        queue = self.context.names.name(event.buffer, "Queue")
        declare = f"LocalTensor<{kind}> " if opening and not planned.spread else ""
        match event.verb:
            case "alloc":
                return f"{declare}{tensor} = {queue}.AllocTensor<{kind}>();"
            case "enqueue":
                return f"{queue}.EnQue({tensor});"
            case "dequeue":
                return f"{declare}{tensor} = {queue}.DeQue<{kind}>();"
            case "free":
                return f"{queue}.FreeTensor({tensor});"

    def exclusive_waits(self, stage: Stage, *, at_start: bool) -> list[str]:
        """Transfers of buffers outside the queues: the pipes wait for each other."""
        held = [b for b in _buffers(stage.body) if self.context.kind(b) is Kind.EXCLUSIVE]
        if not held or stage.kind == "compute":
            return []
        also = {
            kind
            for statement in walk(self.kernel.body)
            if isinstance(statement, Load | Store) and statement.view.buffer in held
            for kind in ["load" if isinstance(statement, Load) else "store"]
        }
        if stage.kind == "copyin":
            pairs = ["V_MTE2"] if at_start else ["MTE2_V"]
            if "store" in also:
                pairs.append("MTE3_MTE2" if at_start else "MTE2_MTE3")
        else:
            pairs = ["V_MTE3"] if at_start else ["MTE3_V"]
        return [self.context.wait(pair) for pair in pairs]


def _indented(lines: Iterable[str]) -> list[str]:
    return [_INDENT + line if line else line for line in lines]


def _buffers(body: Sequence[Stmt]) -> list[Buffer]:
    """Buffers that statements touch, in order of first use."""
    found: dict[str, Buffer] = {}
    for statement in walk(body):
        views: list[View] = []
        match statement:
            case Load(view=view) | Store(view=view) | ReadScalar(view=view):
                views = [view]
            case Op(outs=outs, ins=ins):
                views = [*outs, *(operand for operand in ins if isinstance(operand, View))]
            case _:
                pass
        for view in views:
            found.setdefault(view.buffer.name, view.buffer)
    return list(found.values())


def _assigned(body: Sequence[Stmt]) -> Iterator[str]:
    for statement in walk(body):
        match statement:
            case Let(name=name) | ReadScalar(name=name) | LoadScalar(name=name):
                yield name
            case For(counter=counter):
                yield counter
            case _:
                pass


def _assigned_outside_stages(body: Sequence[Stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case Let(name=name):
                yield name
            case For(body=inner):
                yield from _assigned_outside_stages(inner)
            case If(then=then, orelse=orelse):
                yield from _assigned_outside_stages(then)
                yield from _assigned_outside_stages(orelse)
            case _:
                pass


def _view_expressions(view: View) -> Iterator[Expr]:
    for axis in view.axes:
        yield axis.start
        yield axis.extent


def _expressions(body: Sequence[Stmt]) -> Iterator[Expr]:
    """Every scalar expression in statements."""
    for statement in walk(body):
        match statement:
            case Let(value=value):
                yield value
            case For(start=start, stop=stop):
                yield start
                yield stop
            case If(condition=condition):
                yield condition
            case Load(view, pointer, strides) | Store(pointer, view, strides):
                yield from _view_expressions(view)
                yield pointer.offset
                yield from strides
            case Op(outs=outs, ins=ins):
                for view in outs:
                    yield from _view_expressions(view)
                for operand in ins:
                    if isinstance(operand, View):
                        yield from _view_expressions(operand)
                    else:
                        yield operand
            case ReadScalar(view=view):
                yield from _view_expressions(view)
            case LoadScalar(pointer=pointer):
                yield pointer.offset
            case _:
                pass


def _scalar_types(kernel: Kernel) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for statement in walk(kernel.body):
        match statement:
            case Let(name=name, value=value):
                found[name] = value.type
            case ReadScalar(name=name, type=type_) | LoadScalar(name=name, type=type_):
                found[name] = type_
            case For(counter=counter):
                found.setdefault(counter, Type.INT)
            case _:
                pass
    return found


def _scalars_shared_by_stages(kernel: Kernel) -> set[str]:
    """Scalars a block assigns and something outside it uses: they become members."""
    stages = [statement for statement in walk(kernel.body) if isinstance(statement, Stage)]
    shared: set[str] = set()
    for stage in stages:
        inside = set(_assigned(stage.body)) - {
            s.counter for s in walk(stage.body) if isinstance(s, For)
        }
        for name in inside:
            total = _mentions(kernel.body, name)
            if total > _mentions(stage.body, name):
                shared.add(name)
    return shared


def _mentions(body: Sequence[Stmt], name: str) -> int:
    read = sum(
        isinstance(node, Var) and node.name == name
        for expr in _expressions(body)
        for node in walk_expr(expr)
    )
    return read + sum(assigned == name for assigned in _assigned(body))


def _assigned_in_rounds(kernel: Kernel) -> set[str]:
    """Scalars with several values over time: carried by loops or joined after conditions."""
    found: set[str] = set()
    for statement in walk(kernel.body):
        match statement:
            case For(carried=carried):
                found |= {name for name, _ in carried}
            case If(joined=joined):
                found |= {name for name, _ in joined}
            case _:
                pass
    counts: dict[tuple[int, str], int] = {}
    for block in _blocks(kernel.body):
        for statement in block:
            if isinstance(statement, Let | ReadScalar | LoadScalar):
                key = (id(block), statement.name)
                counts[key] = counts.get(key, 0) + 1
    return found | {name for (_, name), count in counts.items() if count > 1}


def _blocks(body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    yield body
    for statement in walk(body):
        match statement:
            case For(body=inner) | Stage(body=inner):
                yield inner
            case If(then=then, orelse=orelse):
                yield then
                yield orelse
            case _:
                pass
