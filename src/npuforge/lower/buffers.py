# SPDX-License-Identifier: Apache-2.0
"""Initialisation pass: which buffer becomes a queue, when its tensors are taken and given back.

A *generation* of a transferred buffer is one tile of data on its way: loaded, then used; or
computed, then stored. Inside one generation the tile stays where it is; the next one may lie
elsewhere (double buffering) and starts with undefined contents.

Kinds of buffers (names used below and in the printed form):

IN         loaded, then computed with                   TQue<VECIN>
OUT        computed, then stored                        TQue<VECOUT>
BIND       loaded, then stored unchanged                TQueBind<VECIN, VECOUT>
WORK       only computed with                           TBuf
EXCLUSIVE  anything else: its contents outlive a        TBuf, and the pipes wait for each other
           round, it is loaded again and again before   around every transfer
           it is used, or loaded, changed and stored

The scope of a buffer is the innermost statement list that holds all its accesses. Within it the
accesses must alternate between the two phases of the kind, a child statement belonging to one
phase as a whole; otherwise the buffer is EXCLUSIVE. A tile whose first write stands under a
condition, or in a loop that may not run, may be stored with contents of an earlier generation: it
is EXCLUSIVE too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from npuforge.tile.expr import Var, sub
from npuforge.tile.expr import walk as walk_expr
from npuforge.tile.facts import Facts
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
    Stmt,
    Store,
    View,
    walk,
)

Verb = Literal["alloc", "enqueue", "dequeue", "free"]
Moment = Literal["before", "start", "end", "after"]
_AccessKind = Literal["load", "store", "read", "write"]

_EVENTS = 8  # between two pipes


class Kind(Enum):
    """How a buffer is realised."""

    IN = "in"
    OUT = "out"
    BIND = "bind"
    WORK = "work"
    EXCLUSIVE = "exclusive"

    @property
    def queued(self) -> bool:
        return self in (Kind.IN, Kind.OUT, Kind.BIND)


@dataclass(frozen=True, slots=True)
class Event:
    """A queue operation on a buffer."""

    verb: Verb
    buffer: str


@dataclass(slots=True)
class BufferPlan:
    """One buffer: its kind, how many copies, and whether its tensor lives across stages."""

    buffer: Buffer
    kind: Kind
    depth: int
    spread: bool = False


@dataclass(slots=True)
class Plan:
    """All buffers of a kernel, and the queue operations at statements."""

    buffers: dict[str, BufferPlan]
    memory: dict[str, str] = field(default_factory=dict)  # buffer whose memory another one uses
    _events: dict[tuple[int, Moment], list[Event]] = field(default_factory=dict)

    def holder(self, name: str) -> str:
        """The buffer in whose memory this one lies: itself, unless memory is shared."""
        return self.memory.get(name, name)

    def at(self, statement: Stmt, moment: Moment) -> Sequence[Event]:
        """Queue operations at a moment of a statement."""
        return self._events.get((id(statement), moment), ())

    def add(self, statement: Stmt, moment: Moment, event: Event) -> None:
        self._events.setdefault((id(statement), moment), []).append(event)

    def text(self) -> str:
        """The plan as a table."""
        lines = [f"{'buffer':16} {'kind':10} {'copies':6} memory of"]
        lines += [
            f"{name:16} {plan.kind.value:10} {plan.depth:<6} {self.holder(name)}"
            for name, plan in self.buffers.items()
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Access:
    kind: _AccessKind
    path: tuple[tuple[int, int], ...]  # (index in list, branch entered) down to the stage's list
    index: int  # of the stage in its list
    conditional: bool  # inside the stage below an `if`, or in a loop that may not run
    fresh: bool  # a write by an operation that does not read the buffer


@dataclass(slots=True)
class _Child:
    statement: Stmt
    kinds: set[_AccessKind] = field(default_factory=set)
    first: _Access | None = None

    @property
    def direct(self) -> bool:
        return isinstance(self.statement, Stage)

    @property
    def conditional(self) -> bool:
        return _holds_condition(self.statement)


def plan_buffers(kernel: Kernel) -> Plan:
    """Kind, copies and queue operations of every buffer."""
    plan = Plan({})
    accesses: dict[str, list[_Access]] = {buffer.name: [] for buffer in kernel.buffers}
    for name, access in _accesses(kernel.body, (), kernel.facts):
        if name in accesses:
            accesses[name].append(access)
    for buffer in kernel.buffers:
        _plan_one(buffer, accesses[buffer.name], kernel, plan)
    _fit_events(plan)
    return plan


def _fit_events(plan: Plan) -> None:
    """Each copy of a queue's buffer takes an event between its two pipes, and there are eight: the
    last buffers that nobody asked to be doubled stay single."""
    for kind in (Kind.IN, Kind.OUT, Kind.BIND):
        own = [planned for planned in plan.buffers.values() if planned.kind is kind]
        for planned in reversed(own):
            if sum(one.depth for one in own) <= _EVENTS:
                break
            if planned.buffer.depth is None:
                planned.depth = 1


def _plan_one(buffer: Buffer, accesses: list[_Access], kernel: Kernel, plan: Plan) -> None:
    kinds = {access.kind for access in accesses}
    computed = bool(kinds & {"read", "write"})
    if not kinds & {"load", "store"}:
        plan.buffers[buffer.name] = BufferPlan(buffer, Kind.WORK, 1)
        return
    kind = Kind.EXCLUSIVE
    if kinds <= {"load", "read", "write"}:
        kind = Kind.IN
    elif "load" not in kinds:
        kind = Kind.OUT
    elif not computed:
        kind = Kind.BIND
    in_loop, children = _scope(accesses, kernel)
    runs = None
    if kind.queued and not any(_loads_again(child.statement, buffer) for child in children):
        runs = _phases(kind, children)
    if runs is None:
        plan.buffers[buffer.name] = BufferPlan(buffer, Kind.EXCLUSIVE, 1)
        return
    depth = buffer.depth or (2 if in_loop else 1)
    planned = BufferPlan(buffer, kind, depth)
    plan.buffers[buffer.name] = planned
    for first, second in runs:
        _span(plan, planned, first, "alloc", "enqueue")
        _span(plan, planned, second, "dequeue", "free")


def _loads_again(statement: Stmt, buffer: Buffer) -> bool:
    """Whether a loop loads to one place of a buffer in every round, which would be one generation:
    transfers to the same place need an order."""
    if not isinstance(statement, For):
        return isinstance(statement, Stage) and any(
            _loads_again(inner, buffer) for inner in statement.body
        )
    moving = {statement.counter}
    for inner in walk(statement.body):
        match inner:
            case Let(name=name) | ReadScalar(name=name) | LoadScalar(name=name):
                moving.add(name)
            case For(counter=counter):
                moving.add(counter)
            case Load(view=view) if view.buffer.name == buffer.name:
                starts = (node for axis in view.axes for node in walk_expr(axis.start))
                if not any(isinstance(node, Var) and node.name in moving for node in starts):
                    return True
            case _:
                pass
    return False


def _span(plan: Plan, planned: BufferPlan, run: list[_Child], opening: Verb, closing: Verb) -> None:
    """Put the two ends of a phase at the statements it begins and ends with."""
    name = planned.buffer.name
    begin, end = run[0], run[-1]
    plan.add(begin.statement, "start" if begin.direct else "before", Event(opening, name))
    plan.add(end.statement, "end" if end.direct else "after", Event(closing, name))
    if begin is not end or not begin.direct:
        planned.spread = True


def _phases(kind: Kind, children: list[_Child]) -> list[tuple[list[_Child], list[_Child]]] | None:
    """The alternating phases, or None where the accesses do not alternate."""
    opening: set[_AccessKind] = {"read", "write"} if kind is Kind.OUT else {"load"}
    closing: set[_AccessKind] = {"read", "write"} if kind is Kind.IN else {"store"}
    runs: list[tuple[list[_Child], list[_Child]]] = []
    for child in children:
        if child.kinds <= opening:
            if not runs or runs[-1][1]:
                if not _starts_afresh(kind, child):
                    return None
                runs.append(([], []))
            elif kind is not Kind.OUT and child.conditional:
                return None
            runs[-1][0].append(child)
        elif child.kinds <= closing:
            if not runs:
                return None
            runs[-1][1].append(child)
        else:
            return None
    return runs if all(second for _, second in runs) else None


def _starts_afresh(kind: Kind, child: _Child) -> bool:
    """Does this first statement of a generation need nothing of the one before?"""
    if kind is Kind.OUT:
        first = child.first
        return first is not None and first.fresh and not first.conditional
    return not child.conditional


def _holds_condition(statement: Stmt) -> bool:
    match statement:
        case If():
            return True
        case For(body=body) | Stage(body=body):
            return any(_holds_condition(inner) for inner in body)
        case _:
            return False


def _scope(accesses: list[_Access], kernel: Kernel) -> tuple[bool, list[_Child]]:
    """The innermost list that holds all accesses, and its children that have some."""
    paths = [(*access.path, (access.index, 0)) for access in accesses]
    shared = 0
    while all(len(path) > shared + 1 for path in paths) and len({p[shared] for p in paths}) == 1:
        shared += 1
    in_loop = False
    scope = kernel.body
    for index, branch in paths[0][:shared]:
        match scope[index]:
            case For(body=inner):
                in_loop = True
                scope = inner
            case If(then=then, orelse=orelse):
                scope = orelse if branch else then
            case _:
                raise AssertionError("only loops and conditions hold stages")
    children: dict[int, _Child] = {}
    for access, path in zip(accesses, paths, strict=True):
        index = path[shared][0]
        child = children.setdefault(index, _Child(scope[index]))
        child.kinds.add(access.kind)
        if child.first is None:
            in_branch = access.conditional or _may_be_skipped(scope, path[shared:], kernel.facts)
            child.first = _Access(access.kind, access.path, access.index, in_branch, access.fresh)
    return in_loop, [children[index] for index in sorted(children)]


def _may_be_skipped(
    scope: tuple[Stmt, ...], path: tuple[tuple[int, int], ...], facts: Facts
) -> bool:
    """Return whether a stage lies below a condition, or in a loop that may not run."""
    for index, _ in path[:-1]:
        match scope[index]:
            case For(body=inner) as loop:
                if not runs_once(loop, facts):
                    return True
                scope = inner
            case If():
                return True
            case _:
                return False
    return False


def runs_once(loop: For, facts: Facts) -> bool:
    """Return whether at least one round of a loop runs, whatever the sizes are."""
    rounds = facts.bounds(sub(loop.stop, loop.start))[0]
    return rounds is not None and rounds >= 1


def _accesses(
    body: tuple[Stmt, ...], path: tuple[tuple[int, int], ...], facts: Facts
) -> Iterator[tuple[str, _Access]]:
    """Accesses to buffers, each with the buffer's name, in program order."""
    for index, statement in enumerate(body):
        match statement:
            case For(body=inner):
                yield from _accesses(inner, (*path, (index, 0)), facts)
            case If(then=then, orelse=orelse):
                yield from _accesses(then, (*path, (index, 0)), facts)
                yield from _accesses(orelse, (*path, (index, 1)), facts)
            case Stage(body=inner):
                for name, kind, fresh, below in _in_stage(inner, False, facts):
                    yield name, _Access(kind, path, index, below, fresh)
            case _:
                pass


def _in_stage(
    body: tuple[Stmt, ...], conditional: bool, facts: Facts
) -> Iterator[tuple[str, _AccessKind, bool, bool]]:
    for statement in body:
        match statement:
            case For(body=inner) as loop:
                yield from _in_stage(inner, conditional or not runs_once(loop, facts), facts)
            case If(then=then, orelse=orelse):
                yield from _in_stage(then, True, facts)
                yield from _in_stage(orelse, True, facts)
            case Load(view=view):
                yield view.buffer.name, "load", False, conditional
            case Store(view=view):
                yield view.buffer.name, "store", False, conditional
            case ReadScalar(view=view):
                yield view.buffer.name, "read", False, conditional
            case Op(outs=outs, ins=ins):
                read = dict.fromkeys(one.buffer.name for one in ins if isinstance(one, View))
                for name in read:
                    yield name, "read", False, conditional
                for name in dict.fromkeys(view.buffer.name for view in outs):
                    yield name, "write", name not in read, conditional
            case _:
                pass
