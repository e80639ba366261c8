# SPDX-License-Identifier: Apache-2.0
"""Computation pass: each operation of a compute block as calls of AscendC.

One function for each form of operation. A whole tile is one call wherever its rows lie without
gaps; the library's functions do what takes several instructions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from npuforge.dtypes import DType
from npuforge.lower import library
from npuforge.lower.casts import cast_steps
from npuforge.lower.context import Context, device_type
from npuforge.lower.geometry import BLOCK_BYTES, element_bytes
from npuforge.lower.scratch import scratch_size
from npuforge.tile import ops
from npuforge.tile.expr import Binary, Call, Const, Expr, Type, align_up, fold, mul
from npuforge.tile.forms import broadcast_of
from npuforge.tile.ir import Op, View
from npuforge.tile.source import Finding, TileError

Lines = list[str]

_SCALAR_API = {"add": "Adds", "mul": "Muls", "maximum": "Maxs", "minimum": "Mins"}
_HELPER_STEM = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "maximum": "Max",
    "minimum": "Min",
}
# Stem of the library's functions along a row, of everything, and the neutral element they take.
_REDUCTIONS = {
    "reduce_sum": ("RowReduceSum", "ColReduceSum", "ReduceAllSum", None),
    "reduce_max": ("RowReduceMax", "ColReduceMax", "ReduceAllMax", None),
    "reduce_min": ("RowReduceMin", "ColReduceMin", "ReduceAllMin", None),
    "reduce_prod": ("RowReduceByMul", "ColReduceProd", "ReduceAllByMul", 1.0),
}
_SCANS = {
    "cumsum": ("Sum", 0.0),
    "cumprod": ("Prod", 1.0),
    "cummax": ("Max", -math.inf),
    "cummin": ("Min", math.inf),
}


def emit_op(op: Op, context: Context) -> Lines:
    """The operation as statements."""
    return _FORMS[ops.table()[op.name].form](op, context)


def _dtype(view: View) -> DType:
    assert view.buffer.dtype is not None, "the checks refuse masks here"
    return view.buffer.dtype


def _views(op: Op) -> list[View]:
    return [operand for operand in op.ins if isinstance(operand, View)]


def _first_view(op: Op) -> View:
    return _views(op)[0]


def _scalar_in(op: Op, place: int) -> Expr:
    operand = op.ins[place]
    assert not isinstance(operand, View)
    return operand


# ---- element-wise -----------------------------------------------------------------------------
def _unary(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    info = ops.table()[op.name]
    if op.name == "neg":
        minus = context.scalar(Const(-1.0 if _dtype(dst).kind == "float" else -1), _dtype(dst))
        return context.each_row([dst, src], f"Muls({{0}}, {{1}}, {minus}, {{n}});")
    if info.api in _BITS:
        return _bits(info.api, [dst, src], context)
    if info.api:
        mode = f"RoundMode::{info.mode}, " if info.mode else ""
        return context.each_row([dst, src], f"{info.api}({{0}}, {{1}}, {mode}{{n}});")
    assert info.helper is not None
    name = context.helper(info.helper, context.most(dst.buffer))
    return context.each_row([dst, src], f"{name}({{0}}, {{1}}, {{n}}{_work(info.helper)});")


def _work(helper: str) -> str:
    return "" if library.helper(helper).scratch == "0" else ", work"


def _tiles(op: Op, context: Context) -> Lines:
    dst, (a, b) = op.outs[0], _views(op)
    info = ops.table()[op.name]
    if info.api in _BITS:
        return _bits(info.api, [dst, a, b], context)
    if info.api:
        return context.each_row([dst, a, b], f"{info.api}({{0}}, {{1}}, {{2}}, {{n}});")
    assert info.helper is not None
    name = context.helper(info.helper, context.most(dst.buffer))
    work = _work(info.helper)
    return context.each_row([dst, a, b], f"{name}({{0}}, {{1}}, {{2}}, {{n}}{work});")


_BITS = ("And", "Or", "Not")


def _bits(api: str, views: list[View], context: Context) -> Lines:
    """The hardware has these for 16 bits: longer numbers are taken as two of them."""
    halves = _dtype(views[0]).bits // 16
    as_short = "" if halves == 1 else ".ReinterpretCast<uint16_t>()"
    count = "{n}" if halves == 1 else f"({{n}}) * {halves}"
    tensors = ", ".join(f"{{{place}}}{as_short}" for place in range(len(views)))
    return context.each_row(views, f"{api}({tensors}, {count});")


def _binary(op: Op, context: Context) -> Lines:
    a, b = op.ins
    if not isinstance(b, View):
        assert isinstance(a, View)
        return _tile_scalar(op, a, b, context)
    if not isinstance(a, View):
        return _scalar_tile(op, a, b, context)
    dst = op.outs[0]
    first = broadcast_of(a, dst, context.facts)
    second = broadcast_of(b, dst, context.facts)
    if first == second == "same":
        return _tile_tile(op, a, b, context)
    if first == "same":
        return _repeated(op, a, b, str(second), context, swapped=False)
    return _repeated(op, b, a, str(first), context, swapped=True)


def _tile_scalar(op: Op, a: View, scalar: Expr, context: Context) -> Lines:
    dst = op.outs[0]
    if op.name == "div" and not _exact_reciprocal(scalar):
        return _divided(dst, a, scalar, context)
    api = _SCALAR_API.get(op.name, "Adds" if op.name == "sub" else "Muls")
    if op.name == "sub":
        zero = Const(0.0 if scalar.type is Type.FLOAT else 0)
        scalar = fold(Binary("-", zero, scalar))
    elif op.name == "div":
        scalar = fold(Binary("/", Const(1.0), scalar))
    value = context.scalar(scalar, _dtype(dst))
    return context.each_row([dst, a], f"{api}({{0}}, {{1}}, {value}, {{n}});")


def _exact_reciprocal(scalar: Expr) -> bool:
    """Whether a product with the reciprocal is the quotient: a power of two, in half's range."""
    if not isinstance(scalar, Const):
        return False
    fraction, exponent = math.frexp(scalar.value)
    return abs(fraction) == 0.5 and abs(exponent) < 14


def _divided(dst: View, a: View, scalar: Expr, context: Context) -> Lines:
    """A tile divided by a number: a product with the reciprocal would round twice."""
    dtype = _dtype(dst)
    block = f"work.ReinterpretCast<{device_type(dtype)}>()"
    value = context.scalar(scalar, dtype)
    context.need_scratch(Const(BLOCK_BYTES))
    name = context.helper("DivBlock")
    return [
        f"Duplicate({block}, {value}, {BLOCK_BYTES // element_bytes(dst.buffer)});",
        *context.each_row([dst, a], f"{name}({{0}}, {{1}}, {block}, {{n}});"),
    ]


def _scalar_tile(op: Op, scalar: Expr, b: View, context: Context) -> Lines:
    dst = op.outs[0]
    value = context.scalar(scalar, _dtype(dst))
    if op.name in _SCALAR_API:
        return context.each_row([dst, b], f"{_SCALAR_API[op.name]}({{0}}, {{1}}, {value}, {{n}});")
    if op.name == "sub":
        minus = context.scalar(Const(-1.0 if scalar.type is Type.FLOAT else -1), _dtype(dst))
        return [
            *context.each_row([dst, b], f"Muls({{0}}, {{1}}, {minus}, {{n}});"),
            *context.each_row([dst, dst], f"Adds({{0}}, {{1}}, {value}, {{n}});"),
        ]
    if dst.buffer.name != b.buffer.name:
        return [
            *context.each_row([dst], f"Duplicate({{0}}, {value}, {{n}});"),
            *context.each_row([dst, b], "Div({0}, {0}, {1}, {n});"),
        ]
    kind = device_type(_dtype(dst))
    most = context.geometry.elements(dst.buffer)
    context.need_scratch(mul(most, Const(element_bytes(dst.buffer))))
    return [
        f"Duplicate(work.ReinterpretCast<{kind}>(), {value}, {context.text(most)});",
        *context.each_row([dst, b], f"Div({{0}}, work.ReinterpretCast<{kind}>(), {{1}}, {{n}});"),
    ]


def _tile_tile(op: Op, a: View, b: View, context: Context) -> Lines:
    dst = op.outs[0]
    rows = [context.rows(view) for view in (dst, a, b)]
    api = ops.table()[op.name].api
    if context.geometry.flat(rows) is not None:
        return context.each_row([dst, a, b], f"{api}({{0}}, {{1}}, {{2}}, {{n}});")
    name = context.helper(f"{_HELPER_STEM[op.name]}Tile", context.most(dst.buffer))
    arguments = ", ".join(
        f"{context.at(item.view.buffer, item.offset)}, {context.text(item.pitch)}" for item in rows
    )
    return [f"{name}({arguments}, {context.text(rows[0].rows)}, {context.text(rows[0].cols)});"]


def _repeated(
    op: Op, tile: View, vector: View, along: str, context: Context, *, swapped: bool
) -> Lines:
    """A row or a column against a tile; `swapped` when the vector is the first operand."""
    dst = op.outs[0]
    lines: Lines = []
    target, source = context.rows(dst), context.rows(tile)
    if dst.rank == 1:  # one element against a row
        along = "column"
    if not context.facts.equal(target.pitch, source.pitch) and dst.rank > 1:
        lines = _copy_tile(dst, tile, context)
        source = target
    stem = _HELPER_STEM[op.name]
    suffix = "Row" if along == "row" else "Col"
    reversed_order = swapped and op.name in ("sub", "div")
    name = f"{suffix}{stem}" if reversed_order else f"{stem}{suffix}"
    name = context.helper(name, context.most(dst.buffer))
    at = context.at
    tiles = [at(source.view.buffer, source.offset), context.start(vector)]
    if reversed_order:
        tiles.reverse()
    pitch = context.text(target.pitch)
    sizes = f"{context.text(target.rows)}, {context.text(target.cols)}, {pitch}"
    start = at(dst.buffer, target.offset)
    lines.append(f"{name}({start}, {tiles[0]}, {tiles[1]}, {sizes}{_work(name)});")
    return lines


def _shift(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    value = context.scalar(_scalar_in(op, 1), _dtype(dst))
    api = ops.table()[op.name].api
    return context.each_row([dst, src], f"{api}({{0}}, {{1}}, {value}, {{n}});")


def _accumulate(op: Op, context: Context) -> Lines:
    dst, (_, a, b) = op.outs[0], _views(op)
    return context.each_row([dst, a, b], "MulAddDst({0}, {1}, {2}, {n});")


def _accumulate_scaled(op: Op, context: Context) -> Lines:
    dst, (_, src) = op.outs[0], _views(op)
    value = context.scalar(_scalar_in(op, 2), _dtype(dst))
    return context.each_row([dst, src], f"Axpy({{0}}, {{1}}, {value}, {{n}});")


# ---- moving and converting --------------------------------------------------------------------
def _fill(op: Op, context: Context) -> Lines:
    dst = op.outs[0]
    value = context.scalar(_scalar_in(op, 0), _dtype(dst))
    return context.each_row([dst], f"Duplicate({{0}}, {value}, {{n}});")


def _copy(op: Op, context: Context) -> Lines:
    return _copy_tile(op.outs[0], _first_view(op), context)


def _copy_tile(dst: View, src: View, context: Context) -> Lines:
    name = context.helper("CopyTile", context.most(dst.buffer))
    return context.each_row([dst, src], f"{name}({{0}}, {{1}}, {{n}});")


def _cast(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    steps = cast_steps(_dtype(src), _dtype(dst), str(op.attrs["round"]))
    if steps is None:
        said = f"there is no conversion from {_dtype(src).name} to {_dtype(dst).name}"
        fix = "use buffers of a type that has one"
        raise TileError([Finding("TL-09", op.span, said, fix)])
    if not steps:
        return _copy_tile(dst, src, context)
    if len(steps) == 1:
        return context.each_row(
            [dst, src], f"Cast({{0}}, {{1}}, RoundMode::{steps[0].mode}, {{n}});"
        )
    name = context.helper("CastVia" if len(steps) == 2 else "CastVia2", context.most(src.buffer))
    middle = ", ".join(device_type(step.target) for step in steps[:-1])
    modes = ", ".join(f"RoundMode::{step.mode}" for step in steps)
    return context.each_row([dst, src], f"{name}<{middle}>({{0}}, {{1}}, {modes}, {{n}}, work);")


def _broadcast(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    along = broadcast_of(src, dst, context.facts)
    if along == "same":
        return _copy_tile(dst, src, context)
    name = "BroadcastRow" if along == "row" else "BroadcastCol"
    name = context.helper(name, context.most(dst.buffer))
    rows = context.rows(dst)
    sizes = ", ".join(context.text(size) for size in (rows.rows, rows.cols, rows.pitch))
    return [f"{name}({context.start(dst)}, {context.start(src)}, {sizes}{_work(name)});"]


def _iota(op: Op, context: Context) -> Lines:
    dst = op.outs[0]
    name = context.helper("Iota", context.most(dst.buffer))
    values = [context.scalar(_scalar_in(op, place), _dtype(dst)) for place in (0, 1)]
    count = context.text(dst.shape[0])
    return [f"{name}({context.start(dst)}, {values[0]}, {values[1]}, {count}{_work(name)});"]


def _gather(op: Op, context: Context) -> Lines:
    dst, (src, index) = op.outs[0], _views(op)
    name = context.helper("GatherElements", context.most(dst.buffer))
    tensors = ", ".join(context.start(view) for view in (dst, src, index))
    return [f"{name}({tensors}, {context.text(dst.shape[0])}{_work(name)});"]


def _scatter(op: Op, context: Context) -> Lines:
    """The scalar unit does it: it waits for the vector unit, which then waits for it."""
    _, index, src = _views(op)
    name = context.helper(ops.table()[op.name].helper or "ScatterElements")
    tensors = ", ".join(context.start(view) for view in (op.outs[0], index, src))
    call = f"{name}({tensors}, {context.text(src.shape[0])});"
    return [context.wait("V_S"), call, context.wait("S_V")]


def _compact(op: Op, context: Context) -> Lines:
    dst, count = op.outs
    src, mask = _views(op)
    name = context.helper("CompactElements")
    tensors = ", ".join(context.start(view) for view in (dst, src, mask))
    place = context.text(context.geometry.offset(count))
    return [
        context.wait("V_S"),
        f"{context.local(count.buffer)}.SetValue({place}, "
        f"{name}({tensors}, {context.text(src.shape[0])}));",
        context.wait("S_V"),
    ]


def _gather_blocks(op: Op, context: Context) -> Lines:
    dst, (src, index) = op.outs[0], _views(op)
    name = context.helper("GatherBlocks", context.most(index.buffer))
    tensors = ", ".join(context.start(view) for view in (dst, src, index))
    return [f"{name}({tensors}, {context.text(index.shape[0])}{_work(name)});"]


def _transpose(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    target, source = context.rows(dst), context.rows(src)
    name = context.helper("TransposeTile", context.most(src.buffer))
    text = context.text
    tiles = (
        f"{context.start(dst)}, {text(target.pitch)}, {context.start(src)}, {text(source.pitch)}"
    )
    return [f"{name}({tiles}, {text(source.rows)}, {text(source.cols)}{_work(name)});"]


def _reverse(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    name = context.helper("ReverseRow", context.most(dst.buffer))
    tensors = f"{context.start(dst)}, {context.start(src)}"
    return [f"{name}({tensors}, {context.text(dst.shape[0])}{_work(name)});"]


def _insert(op: Op, context: Context) -> Lines:
    dst = op.outs[0]
    value = context.scalar(_scalar_in(op, 0), _dtype(dst))
    place = context.text(context.geometry.offset(dst))
    return [
        context.wait("V_S"),
        f"{context.local(dst.buffer)}.SetValue({place}, {value});",
        context.wait("S_V"),
    ]


# ---- masks ------------------------------------------------------------------------------------
def _masked_count(tile: View, context: Context) -> str:
    """Elements a mask covers: all of a tile, pads of its rows included."""
    rows = context.rows(tile)
    return context.text(rows.cols if tile.rank == 1 else mul(rows.rows, rows.pitch))


def _compare(op: Op, context: Context) -> Lines:
    mask = op.outs[0]
    a, b = op.ins
    assert isinstance(a, View)
    mode = str(op.attrs["op"]).upper()
    count = _masked_count(a, context)
    tensors = f"{context.start(mask)}, {context.start(a)}"
    whole = _dtype(a).kind != "float"
    if isinstance(b, View) or whole:
        name = f"CompareInt{mode}" if whole and mode != "EQ" else f"CompareTiles{mode}"
        name = context.helper(name, context.most(a.buffer))
        other, lines = _as_tile(b, a, 0, name, context)
        return [*lines, f"{name}({tensors}, {other}, {count}{_work(name)});"]
    name = context.helper(f"CompareScalar{mode}", context.most(a.buffer))
    value = context.scalar(b, _dtype(a))
    return [f"{name}({tensors}, {value}, {count}{_work(name)});"]


def _as_tile(
    operand: View | Expr, like: View, place: int, helper: str, context: Context
) -> tuple[str, Lines]:
    """A view as it is; a scalar repeated behind the helper's temporary, in slot `place`."""
    if isinstance(operand, View):
        return context.start(operand), []
    most = context.most(like.buffer)
    before = align_up(scratch_size(library.helper(helper).scratch, most), 256)
    size = align_up(mul(most["n"], most["size"]), 256)
    offset = fold(Binary("+", before, mul(size, Const(place))))
    context.need_scratch(fold(Binary("+", offset, size)))
    kind = device_type(_dtype(like))
    tensor = f"work[{context.text(offset)}].ReinterpretCast<{kind}>()"
    value = context.scalar(operand, _dtype(like))
    return tensor, [f"Duplicate({tensor}, {value}, {_masked_count(like, context)});"]


def _select(op: Op, context: Context) -> Lines:
    dst = op.outs[0]
    mask, a, b = op.ins
    assert isinstance(mask, View)
    count = _masked_count(dst, context)
    if _dtype(dst).kind != "float":
        return _select_bits(op, mask, count, context)
    masked = context.start(mask)
    lines: Lines = []
    if isinstance(a, View):
        name = "SelectTiles" if isinstance(b, View) else "SelectTileScalar"
    elif isinstance(b, View):  # the tile comes first, so the mask is turned over
        name = "SelectTileScalar"
        a, b = b, a
        context.need_scratch(context.geometry.bytes(mask.buffer))
        lines = [f"{context.helper('MaskNot')}(work, {masked}, {count});"]
        masked = "work"
    else:
        name = "SelectScalars"
    shown = [
        context.start(item) if isinstance(item, View) else context.scalar(item, _dtype(dst))
        for item in (a, b)
    ]
    name = context.helper(name, context.most(dst.buffer))
    tensors = f"{context.start(dst)}, {masked}, {shown[0]}, {shown[1]}"
    return [*lines, f"{name}({tensors}, {count}{_work(name)});"]


def _select_bits(op: Op, mask: View, count: str, context: Context) -> Lines:
    """Whole numbers: their bits travel as floats, which select leaves alone."""
    dst = op.outs[0]
    name = context.helper("SelectTiles", context.most(dst.buffer))
    lines: Lines = []
    shown = []
    for place, operand in enumerate(op.ins[1:]):
        tensor, more = _as_tile(operand, dst, place, name, context)
        lines += more
        shown.append(f"{tensor}.ReinterpretCast<float>()")
    target = f"{context.start(dst)}.ReinterpretCast<float>()"
    return [*lines, f"{name}({target}, {context.start(mask)}, {shown[0]}, {shown[1]}, {count});"]


_MASK_HELPERS = {
    "mask_and": "MaskAnd",
    "mask_or": "MaskOr",
    "mask_not": "MaskNot",
    "mask_from_bool": "MaskFromBytes",
    "bool_from_mask": "BytesFromMask",
    "is_nan": "IsNanMask",
    "is_inf": "IsInfMask",
}


def _mask(op: Op, context: Context) -> Lines:
    dst, sources = op.outs[0], _views(op)
    largest = max((dst, *sources), key=lambda view: element_bytes(view.buffer))
    name = context.helper(_MASK_HELPERS[op.name], context.most(largest.buffer))
    tensors = ", ".join(context.start(view) for view in (dst, *sources))
    tiles = [view for view in (dst, *sources) if not view.buffer.is_mask]
    if tiles or dst.rank == 1:
        count = _masked_count(tiles[0] if tiles else dst, context)
    else:
        count = context.text(mul(context.geometry.bytes(dst.buffer), Const(8)))
    return [f"{name}({tensors}, {count}{_work(name)});"]


# ---- reductions, scans, order -------------------------------------------------------------------
def _reduce(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    by_row, by_column, whole, neutral = _REDUCTIONS[op.name]
    rows = context.rows(src)
    most = context.most(src.buffer)
    tensors = f"{context.start(dst)}, {context.start(src)}"
    first = "" if neutral is None else f", {context.scalar(Const(neutral), _dtype(src))}"
    sizes = ", ".join(context.text(size) for size in (rows.rows, rows.cols, rows.pitch))
    if op.attrs["axis"] == 1:
        name = context.helper(by_row, most)
        return [f"{name}({tensors}{first}, {sizes}{_work(name)});"]
    if op.attrs["axis"] == 0:
        name = context.helper(by_column, most)
        return [f"{name}({tensors}, {sizes}{_work(name)});"]
    whole = context.helper(whole, most)
    if src.rank == 1:
        return [f"{whole}({tensors}{first}, {context.text(rows.cols)}{_work(whole)});"]
    if not context.geometry.has_pads(src.buffer) and context.geometry.full_width(src):
        count = context.text(mul(rows.rows, rows.cols))
        return [f"{whole}({tensors}{first}, {count}{_work(whole)});"]
    name = context.helper(by_row, most)
    # Row results first, kept behind the temporary of either function.
    behind = align_up(
        Call("max", tuple(scratch_size(library.helper(n).scratch, most) for n in (name, whole))), 32
    )
    context.need_scratch(fold(Binary("+", behind, mul(most["rows"], most["size"]))))
    kind = device_type(_dtype(dst))
    partial = f"work[{context.text(behind)}].ReinterpretCast<{kind}>()"
    count = context.text(rows.rows)
    return [
        f"{name}({partial}, {context.start(src)}{first}, {sizes}, work);",
        f"{whole}({context.start(dst)}, {partial}{first}, {count}{_work(whole)});",
    ]


def _arg_reduce(op: Op, context: Context) -> Lines:
    values, indices = op.outs
    src = _first_view(op)
    rows = context.rows(src)
    name = "RowArgMax" if op.name == "argmax" else "RowArgMin"
    name = context.helper(name, context.most(src.buffer))
    tensors = ", ".join(context.start(view) for view in (values, indices, src))
    sizes = ", ".join(context.text(size) for size in (rows.rows, rows.cols, rows.pitch))
    return [f"{name}({tensors}, {sizes}{_work(name)});"]


def _group_reduce(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    api = ops.table()[op.name].api
    name = context.helper(f"{api}Tile", context.most(src.buffer))
    count = context.text(src.shape[0])
    return [f"{name}({context.start(dst)}, {context.start(src)}, {count}{_work(name)});"]


def _scan(op: Op, context: Context) -> Lines:
    dst, src = op.outs[0], _first_view(op)
    rows = context.rows(src)
    target = context.rows(dst)
    lines: Lines = []
    if dst.rank == 2 and not context.facts.equal(rows.pitch, target.pitch):
        lines = _copy_tile(dst, src, context)
        src = dst
    what, neutral = _SCANS[op.name]
    along_row = op.attrs["axis"] == dst.rank - 1
    name = f"{'Row' if along_row else 'Col'}Scan{what}"
    name = context.helper(name, context.most(dst.buffer))
    first = f", {context.scalar(Const(neutral), _dtype(src))}" if along_row else ""
    sizes = ", ".join(context.text(size) for size in (target.rows, target.cols, target.pitch))
    tensors = f"{context.start(dst)}, {context.start(src)}"
    return [*lines, f"{name}({tensors}{first}, {sizes}{_work(name)});"]


def _sort(op: Op, context: Context) -> Lines:
    values, indices = op.outs
    src = _first_view(op)
    info = ops.table()[op.name]
    assert info.helper is not None
    name = context.helper(info.helper, {**context.most(src.buffer), "k": values.buffer.shape[-1]})
    tensors = ", ".join(context.start(view) for view in (values, indices, src))
    order = "true" if op.attrs["descending"] else "false"
    sizes = context.text(src.shape[0])
    if op.name == "topk":
        sizes += f", {context.text(values.shape[0])}"
    return [f"{name}({tensors}, {sizes}, {order}{_work(name)});"]


_FORMS: Mapping[str, Callable[[Op, Context], Lines]] = {
    "unary": _unary,
    "binary": _binary,
    "tiles": _tiles,
    "shift": _shift,
    "scaled": _shift,
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
    "insert": _insert,
    "compare": _compare,
    "select": _select,
    "mask_pair": _mask,
    "mask_one": _mask,
    "mask_from": _mask,
    "mask_to": _mask,
    "reduce": _reduce,
    "arg_reduce": _arg_reduce,
    "block_reduce": _group_reduce,
    "pair_reduce": _group_reduce,
    "scan": _scan,
    "sort": _sort,
    "topk": _sort,
}
