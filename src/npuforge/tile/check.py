# SPDX-License-Identifier: Apache-2.0
"""Third pass: what types alone do not show.

ALIGNED    a view that an instruction or a transfer uses starts on a 32 byte boundary (TL-11)
ROWS       a view is made of contiguous rows (TL-16)
ALIAS      a result overlaps an operand wholly, in element-wise operations, or not at all (TL-12)
DEFINED    the first access to a buffer writes it (TL-13)
MASKS      a mask of two dimensions covers whole tiles whose rows lie equally far apart (TL-08)
"""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.tile import ops
from npuforge.tile.expr import ONE, ZERO, text
from npuforge.tile.facts import Facts
from npuforge.tile.ir import (
    Axis,
    Kernel,
    Load,
    Op,
    ReadScalar,
    Store,
    TileProgram,
    View,
    walk,
)
from npuforge.tile.source import Findings

# Forms whose result may be one of the operands.
_IN_PLACE = frozenset(
    {
        "unary", "binary", "tiles", "shift", "scaled", "accumulate", "accumulate_scaled", "copy",
        "select", "mask_pair", "mask_one", "scan",
    }
)  # fmt: skip


def check_program(program: TileProgram) -> None:
    """Raise `TileError` with every rule broken."""
    findings = Findings()
    for launch in program.launches():
        check_kernel(launch.kernel, findings)
    findings.stop_if_any()


def check_kernel(kernel: Kernel, findings: Findings) -> None:
    """Note every rule broken in one kernel."""
    facts = kernel.facts
    written: set[str] = set()
    _check_masks(kernel, findings)
    for statement in walk(kernel.body):
        match statement:
            case Load(view=view):
                _check_view(view, facts, findings, moved=True)
                written.add(view.buffer.name)
            case Store(view=view):
                _check_view(view, facts, findings, moved=True)
                _defined(view, written, findings)
            case ReadScalar(view=view):
                _defined(view, written, findings)
            case Op():
                _check_op(statement, facts, written, findings)
            case _:
                pass


def _check_masks(kernel: Kernel, findings: Findings) -> None:
    facts = kernel.facts
    for op in walk(kernel.body):
        if not isinstance(op, Op):
            continue
        views = [*op.outs, *(operand for operand in op.ins if isinstance(operand, View))]
        masks = [view for view in views if view.buffer.is_mask and view.rank == 2]
        for view in views if masks else ():
            *_, last = view.axes
            cols = view.buffer.shape[-1]
            whole = last.start == ZERO and facts.equal(last.extent, cols)
            starts = view.axes[0].step == ONE and (
                view.axes[0].start == ZERO or not view.buffer.is_mask
            )
            if len(view.buffer.shape) != 2 or not whole or not starts:
                findings.add(
                    "TL-08",
                    view.span,
                    f"{view.buffer.name!r} beside a mask of two dimensions has other rows",
                    "use views buf[:r, :] of two-dimensional buffers",
                )


def _check_op(op: Op, facts: Facts, written: set[str], findings: Findings) -> None:
    sources = [operand for operand in op.ins if isinstance(operand, View)]
    for view in (*op.outs, *sources):
        if view.rank:
            _check_view(view, facts, findings)
    updates = ops.table()[op.name].form == "scatter"  # its first operand is the result itself
    for place, source in enumerate(sources):
        _defined(source, written, findings)
        if updates and place == 0:
            continue
        for out in op.outs:
            if out.buffer.name == source.buffer.name:
                _check_alias(op, out, source, facts, findings)
    written |= {out.buffer.name for out in op.outs}


def _defined(view: View, written: set[str], findings: Findings) -> None:
    if view.buffer.name not in written:
        findings.add("TL-13", view.span, f"{view.buffer.name!r} is read before anything wrote it")
        written.add(view.buffer.name)


def _check_view(view: View, facts: Facts, findings: Findings, *, moved: bool = False) -> None:
    last = len(view.buffer.shape) - 1
    axes = {axis.dim: axis for axis in view.axes if axis.dim is not None}
    if not axes[last].kept:
        findings.add(
            "TL-16",
            view.span,
            f"a column of {view.buffer.name!r} is not contiguous",
            "transpose the tile, or keep the column in a buffer of its own",
        )
        return
    start = axes[last].start
    if not facts.multiple_of(start, view.buffer.lanes):
        count = view.buffer.lanes
        findings.add(
            "TL-11",
            view.span,
            f"{view.buffer.name!r} starts at element {text(start)}, "
            f"not known to be a multiple of {count}",
        )
    if len(view.buffer.shape) == 3 and view.rank == 3:
        middle = axes[1]
        whole = middle.start == ZERO and facts.equal(middle.extent, view.buffer.shape[1])
        if axes[0].step != ONE or middle.step != ONE:
            findings.add("TL-16", view.span, "views of three dimensions have no step")
        if not whole and not moved:  # transfers take a plane at a time
            findings.add(
                "TL-16",
                view.span,
                f"{view.buffer.name!r} is cut in its middle dimension",
                "loop over the first dimension and use two-dimensional views",
            )


def _check_alias(op: Op, out: View, source: View, facts: Facts, findings: Findings) -> None:
    if _same(out, source, facts):
        if ops.table()[op.name].form in _IN_PLACE:
            return
        why = f"tl.{op.name} cannot write over what it reads"
    elif _disjoint(out, source, facts):
        return
    else:
        why = f"the result may overlap {source.buffer.name!r} partly"
    findings.add("TL-12", out.span, why)


def _same(first: View, second: View, facts: Facts) -> bool:
    pairs = list(_pairs(first, second))
    return first.rank == second.rank and all(
        facts.equal(a.start, b.start)
        and facts.equal(a.extent, b.extent)
        and facts.equal(a.step, b.step)
        for a, b in pairs
    )


def _disjoint(first: View, second: View, facts: Facts) -> bool:
    for a, b in _pairs(first, second):
        if facts.at_most(a.end, b.start) or facts.at_most(b.end, a.start):
            return True
    return False


def _pairs(first: View, second: View) -> Iterator[tuple[Axis, Axis]]:
    by_dim = {axis.dim: axis for axis in second.axes if axis.dim is not None}
    for axis in first.axes:
        if axis.dim is not None:
            yield axis, by_dim[axis.dim]
