# SPDX-License-Identifier: Apache-2.0
"""Buffer reuse: working buffers that are never needed at the same time share their memory.

A working buffer lives from its first to its last access in program order. An access inside a loop
that does not hold the whole life of the buffer stretches it over that loop. A buffer that may carry
contents from round to round (first read, first written under a condition or in a loop that may not
run, or used through views of different sizes) lives throughout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from npuforge.lower.buffers import Kind, Plan, runs_once
from npuforge.tile.facts import Facts
from npuforge.tile.ir import Buffer, For, If, Kernel, Op, ReadScalar, Stage, Stmt, View
from npuforge.tile.ir import walk as walk_statements


@dataclass(frozen=True, slots=True)
class _Loop:
    """A stretch of positions, and whether at least one round of it runs."""

    start: int
    stop: int
    runs: bool


@dataclass(slots=True)
class _Life:
    """Positions of the first and last access, and the loops around each access."""

    first: int
    last: int
    loops: list[tuple[_Loop, ...]] = field(default_factory=list)
    carried: bool = False


@dataclass(slots=True)
class _Walk:
    """Program order: every operation has a position, every loop a stretch of them."""

    facts: Facts
    position: int = 0
    lives: dict[str, _Life] = field(default_factory=dict)


def shared_memory(kernel: Kernel, plan: Plan) -> list[list[Buffer]]:
    """Working buffers in groups; the members of a group may share memory."""
    lives = _lives(kernel, plan)
    groups: list[tuple[list[Buffer], list[tuple[int, int]]]] = []
    for buffer in kernel.buffers:
        if plan.buffers[buffer.name].kind is not Kind.WORK:
            continue
        span = lives.get(buffer.name, (0, 0))
        for members, spans in groups:
            if all(span[1] < first or last < span[0] for first, last in spans):
                members.append(buffer)
                spans.append(span)
                break
        else:
            groups.append(([buffer], [span]))
    return [members for members, _ in groups]


def _lives(kernel: Kernel, plan: Plan) -> dict[str, tuple[int, int]]:
    walk = _Walk(kernel.facts)
    _visit(kernel.body, (), walk, conditional=False)
    end = walk.position
    pieced = _pieced_together(kernel)
    found: dict[str, tuple[int, int]] = {}
    for name, life in walk.lives.items():
        if plan.buffers[name].kind is not Kind.WORK:
            continue
        shared = _common(life.loops)
        written = all(loop.runs for loop in life.loops[0][len(shared) :])
        if life.carried or not written or name in pieced:
            found[name] = (0, end)
            continue
        first, last = life.first, life.last
        for loops in life.loops:
            for loop in loops[len(shared) :]:
                first, last = min(first, loop.start), max(last, loop.stop)
        found[name] = (first, last)
    return found


def _common(paths: Sequence[tuple[_Loop, ...]]) -> tuple[_Loop, ...]:
    """The loops that hold every access."""
    shared = paths[0]
    for path in paths[1:]:
        length = 0
        while length < min(len(shared), len(path)) and shared[length] == path[length]:
            length += 1
        shared = shared[:length]
    return shared


def _visit(
    body: Sequence[Stmt], loops: tuple[_Loop, ...], walk: _Walk, *, conditional: bool
) -> None:
    for statement in body:
        match statement:
            case For(body=inner):
                runs = runs_once(statement, walk.facts)
                loop = _Loop(walk.position, walk.position + _length(inner), runs)
                _visit(inner, (*loops, loop), walk, conditional=conditional)
            case If(then=then, orelse=orelse):
                _visit(then, loops, walk, conditional=True)
                _visit(orelse, loops, walk, conditional=True)
            case Stage(body=inner):
                _visit(inner, loops, walk, conditional=conditional)
            case Op() | ReadScalar():
                _note(statement, loops, walk, conditional)
                walk.position += 1
            case _:
                walk.position += 1


def _length(body: Sequence[Stmt]) -> int:
    """Positions a block takes."""
    total = 0
    for statement in body:
        match statement:
            case For(body=inner) | Stage(body=inner):
                total += _length(inner)
            case If(then=then, orelse=orelse):
                total += _length(then) + _length(orelse)
            case _:
                total += 1
    return total


def _note(
    statement: Op | ReadScalar,
    loops: tuple[_Loop, ...],
    walk: _Walk,
    conditional: bool,
) -> None:
    for buffer, reads in _touched(statement):
        life = walk.lives.get(buffer.name)
        if life is None:
            # Contents from before the first access are needed: the buffer must keep them.
            life = _Life(walk.position, walk.position, carried=reads or conditional)
            walk.lives[buffer.name] = life
        life.last = walk.position
        life.loops.append(loops)


def _touched(statement: Op | ReadScalar) -> Iterator[tuple[Buffer, bool]]:
    """Buffers a statement uses, and whether it reads them."""
    if isinstance(statement, ReadScalar):
        yield statement.view.buffer, True
        return
    read = {operand.buffer.name for operand in statement.ins if isinstance(operand, View)}
    for operand in statement.ins:
        if isinstance(operand, View):
            yield operand.buffer, True
    for out in statement.outs:
        if out.buffer.name not in read:
            yield out.buffer, False


def _views(body: Sequence[Stmt]) -> Iterator[View]:
    for statement in walk_statements(body):
        match statement:
            case Op(outs=outs, ins=ins):
                yield from outs
                yield from (operand for operand in ins if isinstance(operand, View))
            case ReadScalar(view=view):
                yield view
            case _:
                pass


def _pieced_together(kernel: Kernel) -> set[str]:
    """Buffers used through different views, so that a part may stem from an earlier round."""
    seen: dict[str, set[tuple[object, ...]]] = {}
    for view in _views(kernel.body):
        shape = tuple((axis.start, axis.extent) for axis in view.axes if axis.dim is not None)
        seen.setdefault(view.buffer.name, set()).add(shape)
    return {name for name, shapes in seen.items() if len(shapes) > 1}
