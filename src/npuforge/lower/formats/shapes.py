# SPDX-License-Identifier: Apache-2.0
"""What host code must know about the shapes it is called with before it may read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from npuforge.lower.cpp import TYPES, Printer
from npuforge.lower.host_code import HostCode
from npuforge.tile.expr import Expr, Shape, Type, Var, walk
from npuforge.tile.ir import Host, HostIf, HostLet, HostStmt, Launch, Require, Reserve, SameShape

ShapeText = Callable[[str, int | None], str]


def least_ranks(host: Host) -> dict[str, int]:
    """How many dimensions each input must at least have, where more than none."""
    found: dict[str, int] = {}
    same = {t.name: t.shape.tensor for t in host.tensors if isinstance(t.shape, SameShape)}
    inputs = {tensor.name for tensor in host.inputs}
    for expr in _expressions(host):
        for node in walk(expr):
            if isinstance(node, Shape) and node.axis is not None:
                tensor = node.tensor
                while tensor in same:
                    tensor = same[tensor]
                rank = node.axis + 1 if node.axis >= 0 else -node.axis
                if tensor in inputs:
                    found[tensor] = max(found.get(tensor, 0), rank)
    return found


def rank_conditions(host: Host, rank_of: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Conditions that refuse a call, and what is wrong then; `rank_of` writes a tensor's rank."""
    least = least_ranks(host)
    for tensor in host.inputs:
        if tensor.name in host.ranks:
            rank = host.ranks[tensor.name]
            yield f"{rank_of(tensor.name)} != {rank}", f"{tensor.name} must have {_count(rank)}"
        elif tensor.name in least:
            rank = least[tensor.name]
            problem = f"{tensor.name} must have at least {_count(rank)}"
            yield f"{rank_of(tensor.name)} < {rank}", problem


def _count(rank: int) -> str:
    return f"{rank} dimension{'' if rank == 1 else 's'}"


def shape_printer(
    code: HostCode, shape: ShapeText, attribute: Callable[[str], str], used: set[str]
) -> Printer:
    """Prints the extents of outputs: expressions over inputs' shapes and attributes."""
    types = {item.name: item.type for item in code.host.attributes}

    def leaf(expr: Expr) -> str:
        match expr:
            case Shape(tensor, axis):
                return shape(tensor, axis)
            case Var(name=name) if types.get(name) is Type.FLOAT:
                return f"static_cast<{TYPES[Type.FLOAT]}>({attribute(name)})"
            case Var(name=name) if name in types:
                return attribute(name)
            case _:
                raise AssertionError(f"{expr} in the shape of an output")

    return Printer(code.host.facts, "host", leaf, used)


def _expressions(host: Host) -> Iterator[Expr]:
    for tensor in host.tensors:
        if isinstance(tensor.shape, tuple):
            yield from tensor.shape
    yield from _in_body(host.body)


def _in_body(body: Sequence[HostStmt]) -> Iterator[Expr]:
    for statement in body:
        match statement:
            case Require(condition=value) | HostLet(value=value):
                yield value
            case Reserve(tensor):
                assert isinstance(tensor.shape, tuple)
                yield from tensor.shape
            case Launch(kernel, cores):
                yield cores
                yield from (scalar.value for scalar in kernel.scalars)
            case HostIf(condition, then, orelse):
                yield condition
                yield from _in_body(then)
                yield from _in_body(orelse)
