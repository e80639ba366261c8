# SPDX-License-Identifier: Apache-2.0
"""Where the scalar unit waits for the vector unit before it reads elements of tiles.

A wait in front of the outermost loop, block or reading around which nothing changes the tile is
enough: loads that follow from what is read then run beside the computation of other tiles.
"""

from __future__ import annotations

from npuforge.tile.ir import For, If, Kernel, Load, Op, ReadScalar, Stage, Stmt, walk


def waits_before(kernel: Kernel) -> set[int]:
    """Identities of the statements that a wait stands in front of."""
    found: set[int] = set()
    _visit(kernel.body, (), found)
    return found


def _visit(body: tuple[Stmt, ...], around: tuple[Stmt, ...], found: set[int]) -> None:
    for statement in body:
        match statement:
            case For(body=inner) | Stage(body=inner):
                _visit(inner, (*around, statement), found)
            case If(then=then, orelse=orelse):
                _visit(then, (*around, statement), found)
                _visit(orelse, (*around, statement), found)
            case ReadScalar(view=view):
                place: Stmt = statement
                for outer in reversed(around):
                    if _changes(outer, view.buffer.name):
                        break
                    place = outer
                found.add(id(place))
            case _:
                pass


def _changes(statement: Stmt, name: str) -> bool:
    for inner in walk((statement,)):
        match inner:
            case Load(view=view) if view.buffer.name == name:
                return True
            case Op(outs=outs) if any(view.buffer.name == name for view in outs):
                return True
            case _:
                pass
    return False
