# SPDX-License-Identifier: Apache-2.0
"""Loop fusion: neighbouring loops over the same rounds become one, so that their transfers overlap.

    for t in range(n): A          for t in range(n): A; B
    for u in range(n): B    ->

Two loops fuse when nothing can tell the difference:

ROUNDS   start, stop and step are equal, and the first loop does not change them
BUFFERS  no buffer is used by both
TENSORS  no tensor one of them writes is touched by the other
SCALARS  neither carries a scalar from round to round; the second uses none the first assigns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from npuforge.tile.expr import Type, Var, names
from npuforge.tile.ir import (
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


def fuse_loops(kernel: Kernel) -> Kernel:
    """The kernel with neighbouring loops fused wherever that is legal."""
    return replace(kernel, body=_fused(kernel.body, kernel))


def _fused(body: Sequence[Stmt], kernel: Kernel) -> tuple[Stmt, ...]:
    done: list[Stmt] = []
    for statement in body:
        match statement:
            case For(body=inner):
                statement = replace(statement, body=_fused(inner, kernel))
            case If(then=then, orelse=orelse):
                statement = replace(
                    statement, then=_fused(then, kernel), orelse=_fused(orelse, kernel)
                )
            case _:
                pass
        last = done[-1] if done else None
        if (
            isinstance(last, For)
            and isinstance(statement, For)
            and _may_fuse(last, statement, kernel)
        ):
            done[-1] = replace(last, body=(*last.body, *_counted(last, statement), *statement.body))
        else:
            done.append(statement)
    return tuple(done)


def _counted(first: For, second: For) -> tuple[Stmt, ...]:
    """The second loop's counter, where it has another name."""
    if first.counter == second.counter:
        return ()
    value = Var(first.counter, Type.INT, first.version)
    return (Let(second.counter, second.version, value, second.span),)


@dataclass(slots=True)
class _Use:
    buffers: set[str]
    read: set[str]
    written: set[str]
    assigned: set[str]
    used: set[str]


def _may_fuse(first: For, second: For, kernel: Kernel) -> bool:
    facts = kernel.facts
    if first.carried or second.carried or first.step != second.step:
        return False
    if not facts.equal(first.start, second.start) or not facts.equal(first.stop, second.stop):
        return False
    a, b = _use(first.body, kernel), _use(second.body, kernel)
    return (
        not a.buffers & b.buffers
        and not a.written & (b.read | b.written)
        and not b.written & a.read
        and not a.assigned & (b.used - b.assigned)
    )


def _use(body: Sequence[Stmt], kernel: Kernel) -> _Use:
    tensor = kernel.tensor_names
    use = _Use(set(), set(), set(), set(), set())
    for statement in walk(body):
        for view in _views(statement):
            use.buffers.add(view.buffer.name)
            for axis in view.axes:
                use.used |= names(axis.start) | names(axis.extent)
        match statement:
            case Load(pointer=pointer, strides=strides):
                use.read.add(tensor[pointer.tensor])
                use.used |= names(pointer.offset).union(*map(names, strides))
            case Store(pointer=pointer, strides=strides):
                use.written.add(tensor[pointer.tensor])
                use.used |= names(pointer.offset).union(*map(names, strides))
            case LoadScalar(name=name, pointer=pointer):
                use.read.add(tensor[pointer.tensor])
                use.assigned.add(name)
                use.used |= names(pointer.offset)
            case ReadScalar(name=name):
                use.assigned.add(name)
            case Let(name=name, value=value):
                use.assigned.add(name)
                use.used |= names(value)
            case For(counter=counter, start=start, stop=stop):
                use.assigned.add(counter)
                use.used |= names(start) | names(stop)
            case If(condition=condition):
                use.used |= names(condition)
            case Op(ins=ins):
                for operand in ins:
                    if not isinstance(operand, View):
                        use.used |= names(operand)
            case Stage():
                pass
    return use


def _views(statement: Stmt) -> Iterator[View]:
    match statement:
        case Load(view=view) | Store(view=view) | ReadScalar(view=view):
            yield view
        case Op(outs=outs, ins=ins):
            yield from outs
            yield from (operand for operand in ins if isinstance(operand, View))
        case _:
            pass
