# SPDX-License-Identifier: Apache-2.0
"""Random tile programs that are valid, with inputs for which results are finite and well behaved.

Every value carries a bound of its magnitude, which operations keep small, and whether it is `sure`:
computed by operations whose rounding is fixed (IEEE 754 or whole numbers), so that comparisons,
roundings and conversions to whole numbers cannot tip over on another machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from npuforge.dtypes import encode, find

from .program_ops import Emitter, Value

Draw = st.DrawFn
SIZES = (0, 1, 2, 7, 8, 9, 31, 33, 64, 127, 256, 509, 1000, 1531)
ROWS = (0, 1, 2, 5, 8, 17, 40, 61)
COLUMNS = (1, 2, 3, 7, 8, 9, 16, 31, 33, 64, 71, 100)


class Case(NamedTuple):
    """A program to run. `bounds` holds the largest possible magnitude of each output, `sure` those
    outputs of which every bit is determined."""

    text: str
    inputs: dict[str, np.ndarray[Any, Any]]
    attributes: dict[str, int | float | bool]
    bounds: dict[str, float]
    sure: frozenset[str]


@dataclass(slots=True)
class Parts:
    """A kernel while it is written."""

    loads: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    annotations: list[str] = field(default_factory=list)
    inputs: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)
    sure: set[str] = field(default_factory=set)


def array(draw: Draw, dtype: str, shape: tuple[int, ...], low: float, high: float) -> Any:
    """Numbers between the bounds, in steps that float16 holds exactly."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if find(dtype).kind == "float":
        values = np.round(random.uniform(low, high, shape) * 64) / 64
        return encode(values.astype(np.float32), dtype).data
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(np.bool_)
    return random.integers(int(low), int(high), shape, endpoint=True).astype(dtype)


def _input(draw: Draw, parts: Parts, emitter: Emitter, name: str, shape: tuple[int, ...]) -> None:
    dtype = draw(st.sampled_from(emitter.input_types))
    low, high = draw(st.sampled_from([(-4.0, 4.0), (0.25, 3.0), (-1.0, 1.0)]))
    if find(dtype).kind in ("int", "uint"):
        low, high = (0.0, 100.0) if find(dtype).kind == "uint" else (-100.0, 100.0)
    inout = find(dtype).kind != "bool" and draw(st.integers(0, 5)) == 5
    parts.parameters.append(name)
    parts.annotations.append(f"{name}: tl.{'inout' if inout else 'input'}(tl.{dtype})")
    parts.inputs[name] = array(draw, dtype, shape, low, high)
    value = Value(emitter.allocate("tile", dtype), "tile", dtype, low, high, sure=True)
    emitter.values.append(value)
    parts.loads.append(emitter.move("load", name, value))
    if inout:
        emitter.inouts[name] = value.buffer


def _outputs(draw: Draw, parts: Parts, emitter: Emitter, shapes: dict[str, str]) -> None:
    """Store what is there at the end: tensors updated in place, and one or two results."""
    current = {value.buffer: value for value in emitter.values}
    for name, buffer in emitter.inouts.items():
        _store(parts, emitter, name, current[buffer])
    free = [v for v in emitter.values if v.kind in shapes and v.buffer in emitter.computed]
    if not free:
        value = emitter.copy_of(draw)
        free = [value]
    for number in range(min(len(free), draw(st.integers(1, 2)))):
        value = free[-1 - number]
        name = f"out{number}"
        parts.parameters.append(name)
        parts.annotations.append(f"{name}: tl.output(tl.{value.dtype}, {shapes[value.kind]})")
        _store(parts, emitter, name, value)


def _store(parts: Parts, emitter: Emitter, name: str, value: Value) -> None:
    parts.stores.append(emitter.move("store", name, value))
    parts.bounds[name] = value.magnitude
    if value.sure:
        parts.sure.add(name)


def _indented(lines: list[str], depth: int) -> str:
    return "".join("    " * depth + line + "\n" for line in lines)


def _kernel(
    name: str, parts: Parts, emitter: Emitter, sizes: str, before: list[str], rounds: list[str]
) -> str:
    """A kernel whose loop `rounds` holds the three blocks."""
    depth = 2 if rounds else 1
    return (
        f"@ascend_kernel\ndef {name}({', '.join(parts.parameters)}, {sizes}):\n"
        + _indented(emitter.allocations, 1)
        + _indented(before, 1)
        + _indented(rounds, 1)
        + _indented(["with tl.copyin():"], depth)
        + _indented(parts.loads, depth + 1)
        + _indented(["with tl.compute():"], depth)
        + _indented(emitter.lines or ["pass"], depth + 1)
        + _indented(["with tl.copyout():"], depth)
        + _indented(parts.stores, depth + 1)
    )


def _program(kernels: list[str], annotations: list[str], body: list[str]) -> str:
    head = "import tile.language as tl\n\n\n"
    arguments = "".join(f"    {annotation},\n" for annotation in annotations)
    host = f"def program_host(\n{arguments}):\n" + _indented(body, 1)
    return head + "\n\n".join([*kernels, host])


# ---- one dimension ------------------------------------------------------------------------------
_FLAT_LOOP = ["for t in range(tl.cdiv(count, tile)):"]
_FLAT_ROUND = ["    start = first + t * tile", "    n = min(tile, first + count - start)"]
_FLAT_BEFORE = [
    "first = tl.program_id(0) * per_core",
    "count = min(per_core, total - first)",
]


def _flat_host(draw: Draw, first: str) -> list[str]:
    """Work for each core and the size of a tile; sometimes chosen by a condition."""
    cores = draw(st.sampled_from(["1", "2", "3", "tl.num_cores()"]))
    tile = draw(st.sampled_from([8, 16, 64, 100, 256]))
    lines = [
        f"total = {first}.numel()",
        f"per_core = max(1, tl.cdiv(total, {cores}))",
        "n_cores = max(1, tl.cdiv(total, per_core))",
    ]
    if draw(st.booleans()):
        other = draw(st.sampled_from([8, 24, 64]))
        return [
            *lines, "if total > 100:", f"    tile = {tile}", "else:", f"    tile = {other}",
        ]  # fmt: skip
    return [*lines, f"tile = min(per_core, {tile})"]


@st.composite
def elementwise(draw: Draw) -> Case:
    """A graph of operations over a tensor seen as one dimension, tile by tile."""
    total = draw(st.sampled_from(SIZES))
    parts = Parts()
    types = (
        "float32",
        "float32",
        "float16",
        "int32",
        "int16",
        "uint16",
        "int8",
        "bool",
        "bfloat16",
    )
    emitter = Emitter(draw, {"tile": "tile"}, {"tile": "[:n]"}, 100, types)
    for number in range(draw(st.integers(1, 3))):
        _input(draw, parts, emitter, f"x{number}", (total,))
    attributes: dict[str, int | float | bool] = {}
    if draw(st.booleans()):
        attributes["alpha"] = draw(st.sampled_from([0.5, 1.25, -0.75]))
        emitter.scalars.append(("alpha", 1.25))
    emitter.block(draw(st.integers(1, 8)))
    if draw(st.booleans()):
        emitter.branch(draw(st.sampled_from(["n > 7", "t % 2 == 0", "n == tile or t == 0"])))
    _outputs(draw, parts, emitter, {"tile": "x0.shape"})
    sizes = ", ".join(["total", "per_core", "tile", *attributes])
    loop = [*_FLAT_LOOP, *_FLAT_ROUND]
    kernel = _kernel("work_kernel", parts, emitter, sizes, _FLAT_BEFORE, loop)
    described = [*parts.annotations, *(f"{name}: tl.attr(float)" for name in attributes)]
    launch = f"work_kernel[n_cores]({', '.join(parts.parameters)}, {sizes})"
    text = _program([kernel], described, [*_flat_host(draw, "x0"), launch])
    return Case(text, parts.inputs, attributes, parts.bounds, frozenset(parts.sure))


# ---- rows ---------------------------------------------------------------------------------------
@st.composite
def rows(draw: Draw) -> Case:
    """Whole rows at a time: reductions and scans along both axes, rows and columns repeated."""
    shape = (draw(st.sampled_from(ROWS)), draw(st.sampled_from(COLUMNS)))
    parts = Parts()
    tile_rows = draw(st.sampled_from([1, 3, 8, 16]))
    emitter = Emitter(
        draw,
        {"tile": "(tile_rows, cols)", "column": "tile_rows", "row": "cols"},
        {"tile": "[:n, :]", "column": "[:n]", "row": ""},
        max(shape[1], tile_rows),
        (draw(st.sampled_from(["float32", "float32", "float16"])),),
    )
    for number in range(draw(st.integers(1, 2))):
        _input(draw, parts, emitter, f"x{number}", shape)
    emitter.block(draw(st.integers(2, 8)))
    _outputs(draw, parts, emitter, {"tile": "x0.shape", "column": "(x0.shape[0],)"})
    before = [
        "first = tl.program_id(0) * rows_per_core",
        "count = min(rows_per_core, rows - first)",
    ]
    loop = [
        "for t in range(tl.cdiv(count, tile_rows)):",
        "    start = first + t * tile_rows",
        "    n = min(tile_rows, count - t * tile_rows)",
    ]
    sizes = "rows, cols, rows_per_core, tile_rows"
    kernel = _kernel("rows_kernel", parts, emitter, sizes, before, loop)
    cores = draw(st.sampled_from(["1", "3", "tl.num_cores()"]))
    body = [
        "rows, cols = x0.shape",
        f"n_cores = max(1, min({cores}, rows))",
        "rows_per_core = tl.cdiv(rows, n_cores)",
        f"tile_rows = {tile_rows}",
        f"rows_kernel[n_cores]({', '.join(parts.parameters)}, {sizes})",
    ]
    text = _program([kernel], parts.annotations, body)
    return Case(text, parts.inputs, {}, parts.bounds, frozenset(parts.sure))


# ---- several kernels ----------------------------------------------------------------------------
@st.composite
def two_kernels(draw: Draw) -> Case:
    """A graph whose result goes through a workspace into a second graph, divided differently."""
    total = draw(st.sampled_from(SIZES))
    first, second = Parts(), Parts()
    types = ("float32",)
    emitter = Emitter(draw, {"tile": "tile"}, {"tile": "[:n]"}, 100, types)
    _input(draw, first, emitter, "x0", (total,))
    emitter.block(draw(st.integers(1, 4)))
    between = emitter.copy_of(draw)
    first.parameters.append("middle")
    first.stores.append(emitter.move("store", "middle", between))
    emitter_two = Emitter(draw, {"tile": "tile"}, {"tile": "[:n]"}, 100, types)
    passed = replace(between, buffer=emitter_two.allocate("tile", between.dtype))
    emitter_two.values.append(passed)
    second.parameters.append("middle")
    second.loads.append(emitter_two.move("load", "middle", passed))
    emitter_two.block(draw(st.integers(1, 4)))
    _outputs(draw, second, emitter_two, {"tile": "x0.shape"})
    for name, buffer in emitter.inouts.items():
        current = {value.buffer: value for value in emitter.values}
        _store(first, emitter, name, current[buffer])
    sizes = "total, per_core, tile"
    loop = [*_FLAT_LOOP, *_FLAT_ROUND]
    kernels = [
        _kernel("first_kernel", first, emitter, sizes, _FLAT_BEFORE, loop),
        _kernel("second_kernel", second, emitter_two, sizes, _FLAT_BEFORE, loop),
    ]
    body = [
        *_flat_host(draw, "x0"),
        f"middle = tl.workspace((total,), tl.{between.dtype})",
        f"first_kernel[n_cores]({', '.join(first.parameters)}, {sizes})",
        "wide = max(1, tl.cdiv(total, 2))",
        f"second_kernel[2]({', '.join(second.parameters)}, total, wide, min(wide, 64))",
    ]
    text = _program(kernels, [*first.annotations, *second.annotations], body)
    bounds = {**first.bounds, **second.bounds}
    return Case(text, first.inputs, {}, bounds, frozenset(first.sure | second.sure))


@st.composite
def cross_core_reduction(draw: Draw) -> Case:
    """One number from all cores: atomically, or in two steps through a workspace."""
    total = draw(st.sampled_from(SIZES))
    what = draw(st.sampled_from(["sum", "max", "min"]))
    neutral = {"sum": "0.0", "max": "-100.0", "min": "100.0"}[what]
    combine = {"sum": "add", "max": "maximum", "min": "minimum"}[what]
    parts = Parts(parameters=["x0", "partial"])
    emitter = Emitter(draw, {"tile": "tile"}, {"tile": "[:n]"}, 100, ("float32",))
    value = Value(emitter.allocate("tile", "float32"), "tile", "float32", -4.0, 4.0, sure=True)
    emitter.values.append(value)
    parts.loads.append(emitter.move("load", "x0", value))
    emitter.block(draw(st.integers(0, 3)))
    result = emitter.copy_of(draw, "float32")
    emitter.lines.append(f"tl.{combine}(acc[:n], acc[:n], {emitter.view(result)})")
    atomic = draw(st.booleans())
    emitter.allocations += [
        "acc = tl.alloc_ub(tile, dtype=tl.float32)",
        "one = tl.alloc_ub(8, dtype=tl.float32)",
    ]
    head = [*_FLAT_BEFORE, "with tl.compute():", f"    tl.fill(acc, {neutral})"]
    kernel = _kernel(
        "part_kernel", parts, emitter, "total, per_core, tile", head, [*_FLAT_LOOP, *_FLAT_ROUND]
    )
    cut = kernel.rindex("        with tl.copyout():")
    word = {"sum": "add", "max": "max", "min": "min"}[what]
    place = (
        f'partial, one[:1], atomic="{word}"' if atomic else "partial + tl.program_id(0), one[:1]"
    )
    kernel = kernel[:cut] + _indented(
        [
            "with tl.compute():", f"    tl.reduce_{what}(one[:1], acc)",
            "with tl.copyout():", f"    tl.store({place})",
        ], 1,
    )  # fmt: skip
    start = (
        "@ascend_kernel\ndef start_kernel(y):\n"
        "    zero = tl.alloc_ub(8, dtype=tl.float32)\n"
        f"    with tl.compute():\n        tl.fill(zero, {neutral})\n"
        "    with tl.copyout():\n        tl.store(y, zero[:1])\n"
    )
    finish = (
        "@ascend_kernel\ndef finish_kernel(parts, y, count):\n"
        "    tile = tl.alloc_ub(count, dtype=tl.float32)\n"
        "    one = tl.alloc_ub(8, dtype=tl.float32)\n"
        "    with tl.copyin():\n        tl.load(parts, tile)\n"
        f"    with tl.compute():\n        tl.reduce_{what}(one[:1], tile)\n"
        "    with tl.copyout():\n        tl.store(y, one[:1])\n"
    )
    body = _flat_host(draw, "x0")
    if atomic:
        body += ["start_kernel[1](y)", "part_kernel[n_cores](x0, y, total, per_core, tile)"]
    else:
        body += [
            "parts = tl.workspace((n_cores,), tl.float32)",
            "part_kernel[n_cores](x0, parts, total, per_core, tile)",
            "finish_kernel[1](parts, y, n_cores)",
        ]
    annotations = ["x0: tl.input(tl.float32)", "y: tl.output(tl.float32, (1,))"]
    text = _program([start if atomic else finish, kernel], annotations, body)
    bound = result.magnitude * (max(1, total) if what == "sum" else 1) + 100
    inputs = {"x0": array(draw, "float32", (total,), -4.0, 4.0)}
    return Case(text, inputs, {}, {"y": bound}, frozenset())


def cases() -> st.SearchStrategy[Case]:
    """Programs of every kind."""
    return st.one_of(elementwise(), rows(), two_kernels(), cross_core_reduction())
