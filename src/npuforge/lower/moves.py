# SPDX-License-Identifier: Apache-2.0
"""Transfers between global memory and tiles, with the padding that unaligned lengths need."""

from __future__ import annotations

from npuforge.lower.context import Context, device_type
from npuforge.lower.geometry import BLOCK_BYTES, element_bytes
from npuforge.tile.expr import ZERO, Expr, mul
from npuforge.tile.ir import Load, Pointer, Store, View

_ATOMICS = {"add": "SetAtomicAdd", "max": "SetAtomicMax", "min": "SetAtomicMin"}


def emit_load(load: Load, context: Context) -> list[str]:
    """Global memory to a tile."""
    return _move(load.view, load.pointer, load.strides, context, to_tile=True)


def emit_store(store: Store, context: Context) -> list[str]:
    """A tile to global memory."""
    lines = _move(store.view, store.pointer, store.strides, context, to_tile=False)
    if store.atomic is None:
        return lines
    kind = device_type(store.pointer.dtype)
    return [f"{_ATOMICS[store.atomic]}<{kind}>();", *lines, "SetAtomicNone();"]


def _move(
    view: View,
    pointer: Pointer,
    strides: tuple[Expr, ...],
    context: Context,
    *,
    to_tile: bool,
) -> list[str]:
    if view.rank == 3:
        return _planes(view, pointer, strides, context, to_tile=to_tile)
    offset = context.geometry.offset(view)
    if view.rank == 1:
        return [_stretch(view, offset, pointer, _cols(view), context, to_tile=to_tile)]
    rows, cols = view.shape
    pitch = context.rows(view).pitch
    gap_free = context.facts.equal(strides[0], cols) and context.facts.equal(pitch, cols)
    if gap_free and context.geometry.full_width(view):
        return [_stretch(view, offset, pointer, mul(rows, cols), context, to_tile=to_tile)]
    move = _rows(view, context.start(view), pointer, rows, strides[0], pitch, context, to_tile)
    return [move]


def _cols(view: View) -> Expr:
    return view.shape[-1]


def _global(pointer: Pointer, context: Context, more: str = "") -> str:
    name = context.names.name(pointer.tensor, "Gm")
    offset = "" if pointer.offset == ZERO else context.text(pointer.offset)
    place = " + ".join(part for part in (offset, more) if part)
    return f"{name}[{place}]" if place else name


def _stretch(
    view: View, offset: Expr, pointer: Pointer, count: Expr, context: Context, *, to_tile: bool
) -> str:
    """One contiguous stretch: plain where it is whole blocks, padded otherwise."""
    tile = context.at(view.buffer, offset)
    place = _global(pointer, context)
    number = context.text(count)
    size = element_bytes(view.buffer)
    if context.facts.multiple_of(count, BLOCK_BYTES // size):
        pair = f"{tile}, {place}" if to_tile else f"{place}, {tile}"
        return f"DataCopy({pair}, {number});"
    if to_tile:
        return f"{context.helper('LoadTile')}({tile}, {place}, {number});"
    return f"{context.helper('StoreTile')}({place}, {tile}, {number});"


def _rows(
    view: View,
    tile: str,
    pointer: Pointer,
    rows: Expr,
    stride: Expr,
    pitch: Expr,
    context: Context,
    to_tile: bool,
    more: str = "",
) -> str:
    place = _global(pointer, context, more)
    sizes = ", ".join(context.text(size) for size in (rows, _cols(view), stride, pitch))
    if to_tile:
        return f"{context.helper('LoadRows')}({tile}, {place}, {sizes});"
    return f"{context.helper('StoreRows')}({place}, {tile}, {sizes});"


def _planes(
    view: View, pointer: Pointer, strides: tuple[Expr, ...], context: Context, *, to_tile: bool
) -> list[str]:
    """A three-dimensional tile: one strided transfer for each plane."""
    counter = context.names.name("plane_index")
    plane = context.geometry.strides(view.buffer)[0]
    offset = context.geometry.offset(view)
    step = f"{counter} * {context.text(plane, 7)}"
    start = step if offset == ZERO else f"{context.text(offset)} + {step}"
    tile = f"{context.local(view.buffer)}[{start}]"
    more = f"{counter} * {context.text(strides[0], 7)}"
    pitch = context.geometry.pitch(view.buffer)
    line = _rows(view, tile, pointer, view.shape[1], strides[1], pitch, context, to_tile, more=more)
    planes = context.text(view.shape[0])
    return [
        f"for (int64_t {counter} = 0; {counter} < {planes}; ++{counter}) {{",
        f"    {line}",
        "}",
    ]
