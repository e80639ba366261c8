# SPDX-License-Identifier: Apache-2.0
"""Views of buffers (`buf`, `buf[:n]`, `buf[r, :c]`, `col[:, None]`) and pointers (`x + offset`)."""

from __future__ import annotations

import ast

from npuforge.tile.expr import ONE, ZERO, Call, Const, Expr, add, simplify, sub
from npuforge.tile.ir import Axis, Buffer, Pointer, Tensor, View
from npuforge.tile.scope import Scope
from npuforge.tile.source import Span


def view(node: ast.expr, scope: Scope) -> View:
    """The view that `node` names; raises `Refused` for anything else."""
    match node:
        case ast.Name(name):
            buffer = _buffer(name, node, scope)
            axes = tuple(Axis(dim, ZERO, extent) for dim, extent in enumerate(buffer.shape))
            return View(buffer, axes, Span.of(node))
        case ast.Subscript(ast.Name(name), index):
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            return _sliced(_buffer(name, node, scope), items, node, scope)
        case _:
            raise scope.refuse("TL-16", node, f"{ast.unparse(node)} is not a buffer or a view")


def element(node: ast.expr, indices: list[ast.expr], scope: Scope) -> View:
    """One element: `(buf, i)` or `(buf, r, c)`."""
    whole = view(node, scope)
    if whole.rank != len(indices):
        raise scope.refuse(
            "TL-16", node, f"{whole.rank} dimensions need {whole.rank} indices, not {len(indices)}"
        )
    places = iter(indices)
    axes = tuple(
        Axis(axis.dim, add(axis.start, scope.integer(next(places))), ONE, kept=False)
        if axis.kept
        else axis
        for axis in whole.axes
    )
    return View(whole.buffer, axes, Span.of(node))


def is_view(node: ast.expr, scope: Scope) -> bool:
    """Does `node` name a buffer or a part of one?"""
    if isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and isinstance(scope.names.get(node.id), Buffer)


def _buffer(name: str, node: ast.expr, scope: Scope) -> Buffer:
    binding = scope.names.get(name)
    if isinstance(binding, Buffer):
        return binding
    if binding is None:
        raise scope.unknown(node, name, f"no buffer is called {name!r}")
    raise scope.refuse(
        "TL-16",
        node,
        f"{name!r} is not a buffer",
        "operands are buffers from tl.alloc_ub; data in global memory is loaded first",
    )


def _sliced(buffer: Buffer, items: list[ast.expr], node: ast.expr, scope: Scope) -> View:
    axes: list[Axis] = []
    dim = 0
    for item in items:
        if isinstance(item, ast.Constant) and item.value is None:
            axes.append(Axis(None, ZERO, ONE))
            continue
        if dim == len(buffer.shape):
            raise scope.refuse("TL-16", node, f"{buffer.name!r} has {dim} dimensions")
        axes.append(_axis(buffer, dim, item, scope))
        dim += 1
    axes += [Axis(rest, ZERO, buffer.shape[rest]) for rest in range(dim, len(buffer.shape))]
    return View(buffer, tuple(axes), Span.of(node))


def _axis(buffer: Buffer, dim: int, item: ast.expr, scope: Scope) -> Axis:
    extent = buffer.shape[dim]
    if not isinstance(item, ast.Slice):
        index = scope.integer(item)
        _inside(buffer, dim, index, add(index, ONE), item, scope)
        return Axis(dim, index, ONE, kept=False)
    if item.step is not None:
        return _stepped(buffer, dim, item, item.step, scope)
    if item.lower is None and item.upper is None:
        return Axis(dim, ZERO, extent)
    start = ZERO if item.lower is None else scope.integer(item.lower)
    stop = extent if item.upper is None else scope.integer(item.upper)
    if any(isinstance(end, Const) and end.value < 0 for end in (start, stop)):
        raise scope.refuse("TL-16", item, "slices count from the start; no negative ends")
    _inside(buffer, dim, start, stop, item, scope)
    return Axis(dim, start, _extent(start, stop, scope))


def _stepped(buffer: Buffer, dim: int, item: ast.Slice, step_node: ast.expr, scope: Scope) -> Axis:
    """`buf[a : a + n * s : s, :]`: n rows, s apart. The shape is n where it can be read off."""
    step = scope.integer(step_node)
    low = scope.facts.bounds(step)[0]
    if dim == len(buffer.shape) - 1:
        raise scope.refuse(
            "TL-16", item, "the last dimension has no step", "tl.gather picks elements of a row"
        )
    if low is None or low < 1:
        raise scope.refuse("TL-16", item, f"the step {ast.unparse(step_node)} may be below one")
    start = ZERO if item.lower is None else scope.integer(item.lower)
    stop = buffer.shape[dim] if item.upper is None else scope.integer(item.upper)
    count = _quotient(_extent(start, stop, scope), step, scope)
    axis = Axis(dim, start, count, step=step)
    _inside(buffer, dim, start, axis.end, item, scope)
    return axis


def _quotient(length: Expr, step: Expr, scope: Scope) -> Expr:
    """How many steps begin within `length`; `n * s` has n."""
    match length:
        case object(op="*", left=left, right=right):
            if scope.facts.equal(right, step):
                return left  # type: ignore[no-any-return]
            if scope.facts.equal(left, step):
                return right  # type: ignore[no-any-return]
        case _:
            pass
    return simplify(Call("cdiv", (length, step)))


def _extent(start: Expr, stop: Expr, scope: Scope) -> Expr:
    """`stop - start`, in its shortest form: `r + n - r` is `n`."""
    match stop:
        case _ if start == ZERO:
            return stop
        case object(op="+", left=left, right=right):
            if scope.facts.equal(left, start):
                return right  # type: ignore[no-any-return]
            if scope.facts.equal(right, start):
                return left  # type: ignore[no-any-return]
        case _:
            pass
    return sub(stop, start)


def _inside(
    buffer: Buffer, dim: int, start: Expr, stop: Expr, node: ast.expr, scope: Scope
) -> None:
    low = scope.facts.bounds(start)
    least_stop = scope.facts.bounds(stop)[0]
    most_extent = scope.facts.bounds(buffer.shape[dim])[1]
    if low[1] is not None and low[1] < 0:
        raise scope.refuse("TL-16", node, f"starts at {low[1]}, before the buffer")
    if least_stop is not None and most_extent is not None and least_stop > most_extent:
        raise scope.refuse(
            "TL-16",
            node,
            f"reaches element {least_stop} of {buffer.name!r}, which has at most {most_extent}",
        )


def pointer(node: ast.expr, scope: Scope) -> Pointer:
    """`x`, `x + offset`, `offset + x`, `x + a + b`, `x - a`."""
    tensor, offset = _split(node, scope)
    return Pointer(tensor.name, tensor.dtype, offset, Span.of(node))


def _split(node: ast.expr, scope: Scope) -> tuple[Tensor, Expr]:
    match node:
        case ast.Name(name):
            binding = scope.names.get(name)
            if isinstance(binding, Tensor):
                return binding, ZERO
        case ast.BinOp(left, ast.Add(), right):
            if _has_tensor(left, scope):
                tensor, offset = _split(left, scope)
                return tensor, add(offset, scope.integer(right))
            if _has_tensor(right, scope):
                tensor, offset = _split(right, scope)
                return tensor, add(scope.integer(left), offset)
        case ast.BinOp(left, ast.Sub(), right) if _has_tensor(left, scope):
            tensor, offset = _split(left, scope)
            return tensor, sub(offset, scope.integer(right))
        case _:
            pass
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id not in scope.names:
            raise scope.unknown(inner, inner.id, f"no tensor or number is called {inner.id!r}")
    raise scope.refuse(
        "TL-16",
        node,
        f"{ast.unparse(node)} is not a pointer",
        "a pointer is a tensor parameter plus an offset in elements, as in x + row * cols",
    )


def _has_tensor(node: ast.expr, scope: Scope) -> bool:
    """Is there a tensor among the summands?"""
    while isinstance(node, ast.BinOp):
        if _has_tensor(node.right, scope):
            return True
        node = node.left
    return isinstance(node, ast.Name) and isinstance(scope.names.get(node.id), Tensor)
