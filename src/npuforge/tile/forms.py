# SPDX-License-Identifier: Apache-2.0
"""Operand rules of operations, one function for each `form` of the table.

Every function takes the call as written and returns the typed operation, or notes what is wrong
(number and kind of operands, element types, shapes) and raises `Refused`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from npuforge.tile import views
from npuforge.tile.expr import ONE, Call, Const, Type, mul, text
from npuforge.tile.facts import Facts
from npuforge.tile.ir import Op, Operand, View
from npuforge.tile.ops import OpInfo
from npuforge.tile.scope import Refused, Scope
from npuforge.tile.source import Span

Broadcast = Literal["same", "row", "column"]
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
ROUNDINGS = ("none", "rint", "floor", "ceil", "round", "trunc", "odd")


def broadcast_of(operand: View, dst: View, facts: Facts) -> Broadcast | None:
    """How `operand` is repeated to the shape of `dst`; None where it cannot be."""
    small, large = operand.shape, dst.shape
    if len(small) == len(large) and all(map(facts.equal, small, large)):
        return "same"
    row = small[1:] if len(small) == len(large) == 2 and small[0] == ONE else small
    if len(row) == 1 and len(large) > 1 and facts.equal(row[0], large[-1]):
        return "row"
    if len(small) == len(large) and small[-1] == ONE:
        return "column" if all(map(facts.equal, small[:-1], large[:-1])) else None
    return None


@dataclass(slots=True)
class OpCall:
    """A call of an operation while it is typed."""

    info: OpInfo
    node: ast.Call
    scope: Scope

    @property
    def span(self) -> Span:
        return Span.of(self.node)

    def arguments(self, *names: str) -> list[ast.expr]:
        """The positional arguments, exactly as many as `names`."""
        if len(self.node.args) != len(names):
            raise self.scope.refuse(
                "TL-04",
                self.node,
                f"tl.{self.info.name} takes {len(names)} operands, not {len(self.node.args)}",
                f"write tl.{self.info.name}({', '.join(names)})",
            )
        return list(self.node.args)

    def keywords(self, **defaults: str | int | bool | None) -> dict[str, str | int | bool | None]:
        """Literal keyword arguments over their defaults."""
        found = dict(defaults)
        for keyword in self.node.keywords:
            if keyword.arg not in defaults:
                raise self.scope.refuse(
                    "TL-04",
                    keyword.value,
                    f"tl.{self.info.name} has no keyword {keyword.arg!r}",
                    f"known: {', '.join(defaults) or 'none'}",
                )
            value = keyword.value
            if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
                inner = value.operand
                if isinstance(inner, ast.Constant) and isinstance(inner.value, int):
                    found[keyword.arg] = -inner.value
                    continue
            if not isinstance(value, ast.Constant) or isinstance(value.value, float | bytes):
                raise self.scope.refuse("TL-04", value, f"{keyword.arg} is a literal")
            found[keyword.arg] = value.value  # type: ignore[assignment]
        return found

    def view(self, node: ast.expr) -> View:
        """A view whose element type the operation computes in."""
        found = views.view(node, self.scope)
        dtype = found.buffer.dtype
        if dtype is None:
            raise self.scope.refuse(
                "TL-07",
                node,
                f"{found.buffer.name!r} is a mask; tl.{self.info.name} needs elements",
            )
        if dtype.name not in self.info.dtypes:
            raise self.scope.refuse(
                "TL-09",
                node,
                f"tl.{self.info.name} does not exist for {dtype.name}",
                f"cast to one of {', '.join(self.info.dtypes)} with tl.cast first",
            )
        return found

    def plain_view(self, node: ast.expr, dtypes: tuple[str, ...]) -> View:
        """A view of one of `dtypes`, whatever the operation computes in."""
        found = views.view(node, self.scope)
        name = "mask" if found.buffer.dtype is None else found.buffer.dtype.name
        if name not in dtypes:
            raise self.scope.refuse(
                "TL-07", node, f"{found.buffer.name!r} is {name}; needed: {' or '.join(dtypes)}"
            )
        return found

    def mask(self, node: ast.expr) -> View:
        return self.plain_view(node, ("mask",))

    def operand(self, node: ast.expr, like: View) -> Operand:
        """A view or a scalar that fits elements of `like`."""
        if views.is_view(node, self.scope):
            return self.typed(self.view(node), like)
        value = self.scope.scalar(node)
        assert like.buffer.dtype is not None
        if like.buffer.dtype.kind == "float":
            if value.type is Type.INT:
                value = (
                    Const(float(value.value), value.span)
                    if isinstance(value, Const)
                    else Call("float", (value,), value.span)
                )
            wanted = Type.FLOAT
        else:
            wanted = Type.INT
        if value.type is not wanted:
            raise self.scope.refuse(
                "TL-07",
                node,
                f"{ast.unparse(node)} is {value.type.value}, the tile {like.buffer.dtype.name}",
            )
        return value

    def number(self, node: ast.expr, like: View, fix: str | None = None) -> Operand:
        """A scalar that fits elements of `like`."""
        found = self.operand(node, like)
        if isinstance(found, View):
            raise self.scope.refuse("TL-04", node, f"{ast.unparse(node)} is no scalar", fix)
        return found

    def typed(self, operand: View, like: View) -> View:
        """`operand`, which must have the element type of `like`."""
        if operand.buffer.dtype != like.buffer.dtype:
            raise self.scope.refuse(
                "TL-07",
                operand.span,
                f"{operand.buffer.name!r} is {_dtype(operand)}, "
                f"{like.buffer.name!r} is {_dtype(like)}",
                "convert with tl.cast into a buffer of the same dtype",
            )
        return operand

    def same_shape(self, operand: View, like: View) -> View:
        """`operand`, which must have the shape of `like`."""
        if broadcast_of(operand, like, self.scope.facts) != "same":
            raise self._shapes_differ(operand, like)
        return operand

    def broadcastable(self, operand: Operand, like: View) -> Operand:
        """A scalar, or a view with the shape of `like`, a row of it or a column of it."""
        if isinstance(operand, View) and broadcast_of(operand, like, self.scope.facts) is None:
            raise self._shapes_differ(operand, like)
        return operand

    def _shapes_differ(self, operand: View, like: View) -> Refused:
        return self.scope.refuse(
            "TL-08",
            operand.span,
            f"{operand.buffer.name!r} has shape {_shape(operand)}, "
            f"{like.buffer.name!r} {_shape(like)}",
            "slice both to the same sizes; a row is v, a column v[:, None]",
        )

    def op(
        self,
        outs: tuple[View, ...],
        ins: tuple[Operand, ...],
        attrs: Mapping[str, str | int | bool | None] | None = None,
    ) -> Op:
        return Op(self.info.name, outs, ins, attrs or {}, self.span)


def _dtype(view: View) -> str:
    return "a mask" if view.buffer.dtype is None else view.buffer.dtype.name


def _shape(view: View) -> str:
    return f"({', '.join(text(extent) for extent in view.shape)})"


# ---- forms ------------------------------------------------------------------------------------
def _unary(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    return call.op((dst,), (call.same_shape(call.typed(call.view(second), dst), dst),))


def _binary(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "a", "b")
    dst = call.view(first)
    a = call.broadcastable(call.operand(second, dst), dst)
    b = call.broadcastable(call.operand(third, dst), dst)
    views_given = [operand for operand in (a, b) if isinstance(operand, View)]
    if not views_given:
        raise call.scope.refuse(
            "TL-04", call.node, "both operands are scalars", "compute scalars with Python operators"
        )
    if all(broadcast_of(item, dst, call.scope.facts) != "same" for item in views_given):
        raise call.scope.refuse(
            "TL-08",
            call.node,
            "no operand has the shape of the result",
            "repeat one operand with tl.broadcast first",
        )
    return call.op((dst,), (a, b))


def _tiles(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "a", "b")
    dst = call.view(first)
    a = call.same_shape(call.typed(call.view(second), dst), dst)
    b = call.same_shape(call.typed(call.view(third), dst), dst)
    return call.op((dst,), (a, b))


def _shift(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "src", "bits")
    dst = call.view(first)
    src = call.same_shape(call.typed(call.view(second), dst), dst)
    return call.op((dst,), (src, call.scope.integer(third)))


def _scaled(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "src", "scale")
    dst = call.view(first)
    src = call.same_shape(call.typed(call.view(second), dst), dst)
    scale = call.number(third, dst)
    return call.op((dst,), (src, scale))


def _accumulate(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "a", "b")
    dst = call.view(first)
    a = call.same_shape(call.typed(call.view(second), dst), dst)
    b = call.same_shape(call.typed(call.view(third), dst), dst)
    return call.op((dst,), (dst, a, b))


def _accumulate_scaled(call: OpCall) -> Op:
    op = _scaled(call)
    return call.op(op.outs, (op.outs[0], *op.ins))


def _fill(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "value")
    dst = call.view(first)
    return call.op((dst,), (call.number(second, dst, "use tl.broadcast or copy"),))


def _copy(call: OpCall) -> Op:
    return _unary(call)


def _cast(call: OpCall) -> Op:
    attrs = call.keywords(round="none")
    first, second = call.arguments("dst", "src")
    dst, src = call.view(first), call.view(second)
    if _dtype(dst) == "bool" and _dtype(src) not in ("bool", "uint8"):
        raise call.scope.refuse(
            "TL-09",
            call.node,
            "tl.cast does not make truth values",
            "compare with zero into a mask, then tl.bool_from_mask",
        )
    if attrs["round"] not in ROUNDINGS:
        raise call.scope.refuse(
            "TL-04", call.node, f"unknown rounding {attrs['round']!r}", f"one of {ROUNDINGS}"
        )
    if attrs["round"] == "odd" and (_dtype(src), _dtype(dst)) != ("float32", "float16"):
        raise call.scope.refuse(
            "TL-09", call.node, f"no rounding to odd from {_dtype(src)} to {_dtype(dst)}"
        )
    return call.op((dst,), (call.same_shape(src, dst),), attrs)


def _broadcast(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    return call.op((dst,), (call.broadcastable(call.typed(call.view(second), dst), dst),))


def _iota(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "start", "step")
    dst = call.view(first)
    _one_dimension(call, dst)
    return call.op((dst,), (call.number(second, dst), call.number(third, dst)))


def _gather(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "src", "index")
    dst = call.view(first)
    src = call.typed(call.view(second), dst)
    index = call.same_shape(call.plain_view(third, ("int32",)), dst)
    for operand in (dst, src, index):
        _one_dimension(call, operand)
    return call.op((dst,), (src, index))


def _scatter(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "index", "src")
    dst = call.view(first)
    src = call.typed(call.view(third), dst)
    index = call.same_shape(call.plain_view(second, ("int32",)), src)
    for operand in (dst, src, index):
        _one_dimension(call, operand)
    return call.op((dst,), (dst, index, src))


def _compact(call: OpCall) -> Op:
    call.keywords()
    first, second, third, fourth = call.arguments("dst", "count", "src", "mask")
    dst = call.view(first)
    count = call.plain_view(second, ("int32",))
    src = call.same_shape(call.typed(call.view(third), dst), dst)
    mask = call.same_shape(call.mask(fourth), src)
    for operand in (dst, count):
        _one_dimension(call, operand)
    if not call.scope.facts.equal(count.shape[0], ONE):
        raise call.scope.refuse("TL-08", second, f"the count is one element, not {_shape(count)}")
    return call.op((dst, count), (src, mask))


def _gather_blocks(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "src", "index")
    dst = call.view(first)
    src = call.typed(call.view(second), dst)
    index = call.plain_view(third, ("int32",))
    _one_dimension(call, index)
    facts = call.scope.facts
    lanes = dst.buffer.lanes
    for tile in (dst, src):
        if tile.rank not in (1, 2) or not _whole_rows(tile, facts):
            raise call.scope.refuse("TL-08", tile.span, "blocks are those of whole rows")
    if not facts.multiple_of(dst.shape[-1], lanes):
        raise call.scope.refuse("TL-21", dst.span, f"rows of the result are {lanes} elements each")
    count = reduce(mul, dst.shape)
    if not facts.equal(mul(index.shape[0], Const(lanes)), count):
        raise call.scope.refuse(
            "TL-08", call.node, f"{_shape(dst)} are not {_shape(index)} blocks of {lanes} elements"
        )
    if not facts.multiple_of(index.shape[0], 8):
        raise call.scope.refuse("TL-21", index.span, "blocks are gathered by eights")
    return call.op((dst,), (src, index))


def _whole_rows(view: View, facts: Facts) -> bool:
    """Rows of the buffer, one after another."""
    last = view.axes[-1]
    return (view.rank == 1 or facts.equal(last.extent, view.buffer.shape[-1])) and all(
        axis.step == ONE for axis in view.axes
    )


def _transpose(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    src = call.typed(call.view(second), dst)
    facts = call.scope.facts
    if (
        dst.rank != 2
        or src.rank != 2
        or not facts.equal(dst.shape[0], src.shape[1])
        or not facts.equal(dst.shape[1], src.shape[0])
    ):
        raise call.scope.refuse(
            "TL-08", call.node, f"{_shape(src)} does not transpose to {_shape(dst)}"
        )
    return call.op((dst,), (src,))


def _reverse(call: OpCall) -> Op:
    op = _unary(call)
    _one_dimension(call, op.outs[0])
    return op


def _compare(call: OpCall) -> Op:
    first, second, third, fourth = call.arguments("mask", "a", "b", '"lt"')
    call.keywords()
    mask = call.mask(first)
    a = call.same_shape(call.view(second), mask)
    b = call.operand(third, a)
    if isinstance(b, View):
        b = call.same_shape(b, a)
    if not isinstance(fourth, ast.Constant) or fourth.value not in COMPARISONS:
        raise call.scope.refuse(
            "TL-04", fourth, "unknown comparison", f"one of {', '.join(COMPARISONS)}"
        )
    return call.op((mask,), (a, b), {"op": str(fourth.value)})


def _select(call: OpCall) -> Op:
    call.keywords()
    first, second, third, fourth = call.arguments("dst", "mask", "a", "b")
    dst = call.view(first)
    mask = call.same_shape(call.mask(second), dst)
    chosen: list[Operand] = []
    for node in (third, fourth):
        operand = call.operand(node, dst)
        chosen.append(call.same_shape(operand, dst) if isinstance(operand, View) else operand)
    return call.op((dst,), (mask, *chosen))


def _mask_pair(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("dst", "a", "b")
    dst = call.mask(first)
    return call.op((dst,), tuple(call.same_shape(call.mask(node), dst) for node in (second, third)))


def _mask_one(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "src")
    dst = call.mask(first)
    return call.op((dst,), (call.same_shape(call.mask(second), dst),))


def _mask_from(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("mask", "src")
    mask = call.mask(first)
    return call.op((mask,), (call.same_shape(call.view(second), mask),))


def _mask_to(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "mask")
    dst = call.view(first)
    return call.op((dst,), (call.same_shape(call.mask(second), dst),))


def _axis(call: OpCall, value: object, rank: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not -rank <= value < rank:
        raise call.scope.refuse(
            "TL-08", call.node, f"axis {value!r} of a tile with {rank} dimensions"
        )
    return value % rank


def _reduce(call: OpCall) -> Op:
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    src = call.typed(call.view(second), dst)
    axis = _axis(call, call.keywords(axis=None)["axis"], src.rank)
    if src.rank == 1:
        axis = None
    if src.rank > 2:
        raise call.scope.refuse(
            "TL-08", call.node, "reductions are of one or two dimensions", "loop over the first"
        )
    wanted = (ONE,) if axis is None else (src.shape[1 - axis],)
    if dst.rank != 1 or not call.scope.facts.equal(dst.shape[0], wanted[0]):
        raise call.scope.refuse(
            "TL-08",
            call.node,
            f"reducing {_shape(src)} gives ({text(wanted[0])}), the result is {_shape(dst)}",
        )
    return call.op((dst,), (src,), {"axis": axis})


def _arg_reduce(call: OpCall) -> Op:
    call.keywords()
    first, second, third = call.arguments("values", "indices", "src")
    values = call.view(first)
    indices = call.plain_view(second, ("int32",))
    src = call.typed(call.view(third), values)
    wanted = ONE if src.rank == 1 else src.shape[0]
    for out in (values, indices):
        if out.rank != 1 or not call.scope.facts.equal(out.shape[0], wanted) or src.rank > 2:
            raise call.scope.refuse(
                "TL-08", call.node, f"{_shape(src)} has ({text(wanted)}) rows, not {_shape(out)}"
            )
    return call.op((values, indices), (src,))


def _block_reduce(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    src = call.typed(call.view(second), dst)
    assert dst.buffer.dtype is not None
    lanes = 256 // dst.buffer.dtype.bits
    return _shrunk(call, dst, src, lanes)


def _pair_reduce(call: OpCall) -> Op:
    call.keywords()
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    return _shrunk(call, dst, call.typed(call.view(second), dst), 2)


def _shrunk(call: OpCall, dst: View, src: View, factor: int) -> Op:
    facts = call.scope.facts
    _one_dimension(call, dst)
    _one_dimension(call, src)
    expected = Call("cdiv", (src.shape[0], Const(factor)))
    same = facts.equal(facts.expand(dst.shape[0]), facts.expand(expected))
    low, high = facts.bounds(src.shape[0]), facts.bounds(dst.shape[0])
    constant = low[0] is not None and low == (low[0], low[0]) and high[0] == -(-low[0] // factor)
    if not same and not constant:
        raise call.scope.refuse(
            "TL-08",
            call.node,
            f"{factor} neighbours become one: {_shape(src)} gives ({text(expected)}), "
            f"not {_shape(dst)}",
        )
    return call.op((dst,), (src,))


def _scan(call: OpCall) -> Op:
    first, second = call.arguments("dst", "src")
    dst = call.view(first)
    src = call.same_shape(call.typed(call.view(second), dst), dst)
    axis = _axis(call, call.keywords(axis=-1)["axis"], src.rank)
    if src.rank > 2 or axis is None:
        raise call.scope.refuse("TL-08", call.node, "scans are along one of at most two axes")
    return call.op((dst,), (src,), {"axis": axis})


def _sorted(call: OpCall) -> tuple[View, View, View, Mapping[str, str | int | bool | None]]:
    attrs = call.keywords(descending=call.info.name == "topk")
    first, second, third = call.arguments("values", "indices", "src")
    values = call.view(first)
    indices = call.plain_view(second, ("int32",))
    src = call.typed(call.view(third), values)
    for operand in (values, indices, src):
        _one_dimension(call, operand)
    call.same_shape(indices, values)
    if not isinstance(attrs["descending"], bool):
        raise call.scope.refuse("TL-04", call.node, "descending is True or False")
    return values, indices, src, attrs


def _sort(call: OpCall) -> Op:
    values, indices, src, attrs = _sorted(call)
    call.same_shape(src, values)
    return call.op((values, indices), (src,), attrs)


def _topk(call: OpCall) -> Op:
    values, indices, src, attrs = _sorted(call)
    return call.op((values, indices), (src,), attrs)


def _insert(call: OpCall) -> Op:
    call.keywords()
    if len(call.node.args) < 2:
        call.arguments("dst", "index", "value")
    dst = views.element(call.node.args[0], call.node.args[1:-1], call.scope)
    if dst.buffer.dtype is None or dst.buffer.dtype.name not in call.info.dtypes:
        raise call.scope.refuse("TL-09", call.node, f"no scalar access to {_dtype(dst)}")
    return call.op((dst,), (call.number(call.node.args[-1], dst),))


def _one_dimension(call: OpCall, view: View) -> None:
    if view.rank != 1:
        raise call.scope.refuse(
            "TL-08", view.span, f"tl.{call.info.name} works on one dimension, not {_shape(view)}"
        )


FORMS: Mapping[str, Callable[[OpCall], Op]] = {
    "unary": _unary,
    "binary": _binary,
    "tiles": _tiles,
    "shift": _shift,
    "scaled": _scaled,
    "accumulate": _accumulate,
    "accumulate_scaled": _accumulate_scaled,
    "fill": _fill,
    "copy": _copy,
    "cast": _cast,
    "broadcast": _broadcast,
    "iota": _iota,
    "gather": _gather,
    "scatter": _scatter,
    "compact": _compact,
    "gather_blocks": _gather_blocks,
    "transpose": _transpose,
    "reverse": _reverse,
    "compare": _compare,
    "select": _select,
    "mask_pair": _mask_pair,
    "mask_one": _mask_one,
    "mask_from": _mask_from,
    "mask_to": _mask_to,
    "reduce": _reduce,
    "arg_reduce": _arg_reduce,
    "block_reduce": _block_reduce,
    "pair_reduce": _pair_reduce,
    "scan": _scan,
    "sort": _sort,
    "topk": _topk,
    "insert": _insert,
}


def typed_op(info: OpInfo, node: ast.Call, scope: Scope) -> Op:
    """The call of an operation, typed."""
    return FORMS[info.form](OpCall(info, node, scope))
