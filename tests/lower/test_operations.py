# SPDX-License-Identifier: Apache-2.0
"""Operations that neither the examples nor the random programs use, interpreter against kernel."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lower.differential import Differential

from npuforge.dtypes import encode
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.tile.source import TileError

RNG = np.random.default_rng(7)


def flat_program(
    inputs: str, outputs: str, buffers: str, loads: str, body: str, stores: str
) -> str:
    """One core, one tile of n elements."""
    names = [part.split(":")[0].strip() for part in (inputs + ", " + outputs).split("),")]

    def lines(text: str, depth: int) -> str:
        return "\n".join(" " * depth + line for line in text.strip().splitlines())

    return f"""import tile.language as tl


@ascend_kernel
def probe_kernel({", ".join(names)}, n):
{lines(buffers, 4)}
    with tl.copyin():
{lines(loads, 8)}
    with tl.compute():
{lines(body, 8)}
    with tl.copyout():
{lines(stores, 8)}


def probe_host({inputs}, {outputs}):
    n = {names[0]}.numel()
    tl.require(1 <= n <= 2048, "one tile")
    probe_kernel[1]({", ".join(names)}, n)
"""


def f32(*names: str) -> str:
    return "\n".join(f"{name} = tl.alloc_ub(n, dtype=tl.float32)" for name in names)


def i32(*names: str) -> str:
    return "\n".join(f"{name} = tl.alloc_ub(n, dtype=tl.int32)" for name in names)


def test_functions_of_two_tiles_and_products() -> None:
    text = flat_program(
        "x: tl.input(tl.float32), y: tl.input(tl.float32)",
        "p: tl.output(tl.float32, x.shape), m: tl.output(tl.float32, x.shape), "
        "r: tl.output(tl.float32, (1,)), s: tl.output(tl.float32, x.shape), "
        "v: tl.output(tl.float32, x.shape)",
        f32("a", "b", "c", "d", "f", "g") + "\ne = tl.alloc_ub(8, dtype=tl.float32)",
        "tl.load(x, a)\ntl.load(y, b)",
        """
tl.abs(c, a)
tl.pow(c, c, b)
tl.floor_mod(d, a, b)
tl.minimum(f, a, 1.25)
tl.maximum(f, f, 0.75)
tl.reduce_prod(e[:1], f)
tl.reverse(f, a)
tl.cummax(g, a)
""",
        "tl.store(p, c)\ntl.store(m, d)\ntl.store(r, e[:1])\ntl.store(s, f)\ntl.store(v, g)",
    )
    program = Differential(text)
    for n in (1, 7, 64, 130):
        x = RNG.uniform(0.8, 1.2, n).astype(np.float32)
        program.agree({"x": x, "y": RNG.uniform(0.5, 2.0, n).astype(np.float32)})


def test_a_conversion_to_the_same_type_is_a_copy() -> None:
    text = flat_program(
        "x: tl.input(tl.float32), i: tl.input(tl.int64)",
        "y: tl.output(tl.float32, x.shape), j: tl.output(tl.int64, x.shape)",
        f32("a", "b") + "\nc = tl.alloc_ub(n, dtype=tl.int64)\nd = tl.alloc_ub(n, dtype=tl.int64)",
        "tl.load(x, a)\ntl.load(i, c)",
        "tl.cast(b, a)\ntl.cast(d, c)",
        "tl.store(y, b)\ntl.store(j, d)",
    )
    program = Differential(text)
    for n in (1, 33, 1000):
        whole = RNG.integers(-(2**40), 2**40, n)
        program.agree({"x": RNG.standard_normal(n).astype(np.float32), "i": whole})


def test_sorting_and_positions() -> None:
    text = flat_program(
        "x: tl.input(tl.float32)",
        "v: tl.output(tl.float32, x.shape), i: tl.output(tl.int32, x.shape), "
        "a: tl.output(tl.float32, (1,)), k: tl.output(tl.int32, (1,))",
        f32("src", "values")
        + "\n"
        + i32("places")
        + "\nbest = tl.alloc_ub(8, dtype=tl.float32)\nplace = tl.alloc_ub(8, dtype=tl.int32)",
        "tl.load(x, src)",
        "tl.sort(values, places, src)\ntl.argmin(best[:1], place[:1], src)",
        "tl.store(v, values)\ntl.store(i, places)\ntl.store(a, best[:1])\ntl.store(k, place[:1])",
    )
    program = Differential(text)
    for n in (1, 31, 32, 33, 1000):
        program.agree({"x": RNG.permutation(n).astype(np.float32)})


def test_bits_and_whole_numbers() -> None:
    text = flat_program(
        "x: tl.input(tl.int32), w: tl.input(tl.int16)",
        "y: tl.output(tl.int32, x.shape), b: tl.output(tl.int16, w.shape), "
        "c: tl.output(tl.int32, x.shape)",
        i32("a", "d", "e")
        + "\nf = tl.alloc_ub(n, dtype=tl.int16)\ng = tl.alloc_ub(n, dtype=tl.int16)\n"
        + "m = tl.alloc_mask(n)",
        "tl.load(x, a)\ntl.load(w, f)",
        """
tl.shift_left(d, a, 3)
tl.shift_right(d, d, 1)
tl.sub(d, 7, d)
tl.bit_not(g, f)
tl.bit_and(g, g, f)
tl.bit_or(g, g, f)
tl.compare(m, a, 3, "lt")
tl.select(e, m, a, -1)
""",
        "tl.store(y, d)\ntl.store(b, g)\ntl.store(c, e)",
    )
    program = Differential(text)
    for n in (1, 63, 257):
        x = RNG.integers(-1000, 1000, n).astype(np.int32)
        program.agree({"x": x, "w": RNG.integers(-9, 9, n).astype(np.int16)})


def test_not_a_number_and_infinity() -> None:
    text = flat_program(
        "x: tl.input(tl.float32)",
        "y: tl.output(tl.bool, x.shape), z: tl.output(tl.bool, x.shape)",
        f32("a")
        + "\nm = tl.alloc_mask(n)\nk = tl.alloc_mask(n)\n"
        + "b = tl.alloc_ub(n, dtype=tl.bool)\nc = tl.alloc_ub(n, dtype=tl.bool)",
        "tl.load(x, a)",
        "tl.is_nan(m, a)\ntl.is_inf(k, a)\ntl.bool_from_mask(b, m)\ntl.mask_not(k, k)\n"
        "tl.bool_from_mask(c, k)",
        "tl.store(y, b)\ntl.store(z, c)",
    )
    program = Differential(text)
    x = RNG.standard_normal(100).astype(np.float32)
    x[[3, 50, 99]] = np.nan
    x[[0, 64]] = np.inf
    x[70] = -np.inf
    program.agree({"x": x})


def test_the_end_of_a_buffer_is_compared() -> None:
    """Comparisons read whole blocks, here past the end of what they are given."""
    text = flat_program(
        "x: tl.input(tl.float32), w: tl.input(tl.int32)",
        "y: tl.output(tl.float32, (8,)), z: tl.output(tl.float32, (8,)), "
        "k: tl.output(tl.bool, (8,))",
        f32("a")
        + "\n"
        + i32("d")
        + "\nm = tl.alloc_mask(8)\nb = tl.alloc_ub(8, dtype=tl.bool)\n"
        + "e = tl.alloc_ub(8, dtype=tl.float32)\nf = tl.alloc_ub(8, dtype=tl.float32)",
        "tl.load(x, a)\ntl.load(w, d)",
        """
tl.compare(m, a[tl.align_down(n - 1, 8) : tl.align_down(n - 1, 8) + 8], 0.0, "ge")
tl.select(e, m, 1.0, 0.0)
tl.compare(m, d[tl.align_down(n - 1, 8) : tl.align_down(n - 1, 8) + 8], 3, "lt")
tl.select(f, m, 1.0, 0.0)
tl.is_nan(m, a[tl.align_down(n - 1, 8) : tl.align_down(n - 1, 8) + 8])
tl.bool_from_mask(b, m)
""",
        "tl.store(y, e)\ntl.store(z, f)\ntl.store(k, b)",
    )
    program = Differential(text)
    for n in (64, 128, 2048):
        x = RNG.standard_normal(n).astype(np.float32)
        x[n - 3] = np.nan
        program.agree({"x": x, "w": RNG.integers(-9, 9, n).astype(np.int32)})


GROUPS = """import tile.language as tl


@ascend_kernel
def groups_kernel(x, y, z, n, blocks, pairs):
    a = tl.alloc_ub(n, dtype=tl.float32)
    b = tl.alloc_ub(blocks, dtype=tl.float32)
    c = tl.alloc_ub(pairs, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, a)
    with tl.compute():
        tl.block_reduce_max(b, a)
        tl.pair_reduce_sum(c, a)
    with tl.copyout():
        tl.store(y, b)
        tl.store(z, c)


def groups_host(
    x: tl.input(tl.float32),
    y: tl.output(tl.float32, (512 // 8,)),
    z: tl.output(tl.float32, (512 // 2,)),
):
    tl.require(x.numel() == 512, "512 elements")
    groups_kernel[1](x, y, z, 512, 64, 256)
"""


def test_reductions_of_blocks_and_pairs() -> None:
    Differential(GROUPS).agree({"x": RNG.standard_normal(512).astype(np.float32)})


PLANES = """import tile.language as tl


@ascend_kernel
def planes_kernel(x, y, c, h, w, oh, ow):
    core = tl.program_id(0)
    tile = tl.alloc_ub((c, oh, ow), dtype=tl.float32)
    out = tl.alloc_ub((c, oh, ow), dtype=tl.float32)
    line = tl.alloc_ub(ow, dtype=tl.float32)
    for t in range(1):
        with tl.copyin():
            tl.load(x + core * c * h * w + w + 1, tile, stride=(h * w, w))
        with tl.compute():
            tl.mul(out, tile, 2.0)
            tl.copy(line, out[0, 0, :])
            first = tl.extract_scalar(line, 0)
            tl.insert_scalar(line, 0, first + 1.0)
            tl.add(out, out, line)
        with tl.copyout():
            tl.store(y + core * c * oh * ow, out, stride=(oh * ow, ow))


def planes_host(
    x: tl.input(tl.float32),
    y: tl.output(tl.float32, (x.shape[0], x.shape[1], x.shape[2] - 1, x.shape[3] - 1)),
):
    n, c, h, w = x.shape
    tl.require(h >= 2 and w >= 2 and c * h * (w + 8) <= 4096, "a window within the image")
    planes_kernel[n](x, y, c, h, w, h - 1, w - 1)
"""


@pytest.mark.parametrize("shape", [(1, 1, 2, 2), (3, 2, 5, 9), (2, 4, 7, 33)], ids=str)
def test_three_dimensions_and_single_elements(shape: tuple[int, ...]) -> None:
    Differential(PLANES).agree({"x": RNG.standard_normal(shape).astype(np.float32)})


MEETING = """import tile.language as tl


@ascend_kernel
def start_kernel(top, low):
    a = tl.alloc_ub(8, dtype=tl.float32)
    b = tl.alloc_ub(8, dtype=tl.float32)
    with tl.compute():
        tl.fill(a, -1e30)
        tl.fill(b, 1e30)
    with tl.copyout():
        tl.store(top, a[:1])
        tl.store(low, b[:1])


@ascend_kernel
def meet_kernel(x, k, top, low, per_core):
    a = tl.alloc_ub(per_core, dtype=tl.float32)
    b = tl.alloc_ub(8, dtype=tl.float32)
    c = tl.alloc_ub(8, dtype=tl.float32)
    with tl.copyin():
        which = tl.load_scalar(k + tl.program_id(0))
    with tl.copyin():
        tl.load(x + which * per_core, a)
    with tl.compute():
        tl.reduce_max(b[:1], a)
        tl.reduce_min(c[:1], a)
    with tl.copyout():
        tl.store(top, b[:1], atomic="max")
        tl.store(low, c[:1], atomic="min")


def meet_host(
    x: tl.input(tl.float32),
    k: tl.input(tl.int32),
    top: tl.output(tl.float32, (1,)),
    low: tl.output(tl.float32, (1,)),
):
    n = k.numel()
    tl.require(1 <= n <= tl.num_cores(), "one core a part")
    start_kernel[1](top, low)
    meet_kernel[n](x, k, top, low, x.numel() // n)
"""


def test_cores_meet_in_largest_and_smallest() -> None:
    program = Differential(MEETING)
    for cores, part in [(1, 8), (5, 37), (40, 100)]:
        order = RNG.permutation(cores).astype(np.int32)
        x = RNG.standard_normal(cores * part).astype(np.float32)
        program.agree({"x": x, "k": order})


PLACES = """import tile.language as tl


@ascend_kernel
def places_kernel(x, index, least, y, kept, n, m):
    old = tl.alloc_ub(n, dtype=tl.@T@)
    new = tl.alloc_ub(n, dtype=tl.@T@)
    wide = tl.alloc_ub(m, dtype=tl.int64)
    places = tl.alloc_ub(m, dtype=tl.int32)
    chosen = tl.alloc_ub(m, dtype=tl.int32)
    got = tl.alloc_ub(m, dtype=tl.@T@)
    count = tl.alloc_ub(8, dtype=tl.int32)
    mask = tl.alloc_mask(m)
    with tl.copyin():
        tl.load(x, old)
        tl.load(index, wide)
        lowest = tl.load_scalar(least)
    with tl.compute():
        tl.cast(places, wide)
        tl.compare(mask, places, lowest, "ge")
        tl.compact(chosen, count[:1], places, mask)
        k = tl.extract_scalar(count, 0)
        tl.copy(new, old)
        if k > 0:
            tl.gather(got[:k], old, chosen[:k])
            tl.@OP@(new, chosen[:k], got[:k])
    with tl.copyout():
        tl.store(y, new)
        tl.store(kept, count[:1])


def places_host(
    x: tl.input(tl.@T@), index: tl.input(tl.int64), least: tl.input(tl.int32),
    y: tl.output(tl.@T@, x.shape), kept: tl.output(tl.int32, ()),
):
    places_kernel[1](x, index, least, y, kept, x.numel(), index.numel())
"""

# Moves of every width, and every way to combine.
_SCATTERS = [
    ("scatter_add", "float32"), ("scatter_mul", "float32"), ("scatter_max", "int32"),
    ("scatter_min", "float32"), ("scatter", "int32"), ("scatter", "bfloat16"),
    ("scatter", "float16"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "dtype"), _SCATTERS)
def test_scatter_and_compact(op: str, dtype: str) -> None:
    program = Differential(PLACES.replace("@T@", dtype).replace("@OP@", op))
    for n, m, least in [(1, 1, 0), (70, 33, 20), (300, 130, 1000), (16, 500, 3)]:
        x = encode(RNG.integers(-9, 9, n), dtype)
        index = RNG.integers(0, n, m)
        found = program.agree({"x": x, "index": index, "least": np.asarray(least, np.int32)})
        assert int(found["kept"].data) == int((index >= least).sum())


ROWS = """import tile.language as tl


@ascend_kernel
def pick_kernel(x, index, y, n, cols):
    places = tl.alloc_ub(n, dtype=tl.int32, buffers=1)
    tile = tl.alloc_ub(cols, dtype=tl.float32)
    out = tl.alloc_ub(cols, dtype=tl.float32)
    with tl.copyin():
        tl.load(index, places)
    for r in range(n):
        with tl.compute():
            place = tl.extract_scalar(places, r)
        with tl.copyin():
            tl.load(x + place * cols, tile)
        with tl.compute():
            tl.mul(out, tile, 2.0)
        with tl.copyout():
            tl.store(y + r * cols, out)


def pick_host(
    x: tl.input(tl.float32), index: tl.input(tl.int32),
    y: tl.output(tl.float32, (index.shape[0], x.shape[1])),
):
    pick_kernel[1](x, index, y, index.shape[0], x.shape[1])
"""


def test_elements_of_a_tile_that_stays_are_waited_for_once() -> None:
    program = Differential(ROWS)
    body = program.twin.source.split("void Process()")[1]
    assert body.index("WaitFor<HardEvent::V_S>") < body.index("for (")
    assert program.twin.source.count("WaitFor<HardEvent::V_S>") == 1
    x = RNG.standard_normal((9, 100)).astype(np.float32)
    program.agree({"x": x, "index": RNG.integers(0, 9, 40).astype(np.int32)})


def test_scatter_does_not_write_over_its_index() -> None:
    wrong = PLACES.replace("@T@", "int32").replace("@OP@(new, chosen", "scatter(chosen, chosen")
    with pytest.raises(TileError, match="TL-12"):
        lower(wrong)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_division_by_a_number_is_rounded_once(dtype: str) -> None:
    text = flat_program(
        f"x: tl.input(tl.{dtype}), w: tl.input(tl.float32)",
        f"y: tl.output(tl.{dtype}, x.shape), z: tl.output(tl.{dtype}, x.shape), "
        "v: tl.output(tl.float32, w.shape)",
        f"a = tl.alloc_ub(n, dtype=tl.{dtype})\nb = tl.alloc_ub(n, dtype=tl.{dtype})\n"
        f"c = tl.alloc_ub(n, dtype=tl.{dtype})\nd = tl.alloc_ub(n, dtype=tl.float32)\n"
        "e = tl.alloc_ub(n, dtype=tl.float32)",
        "tl.load(x, a)\ntl.load(w, d)",
        """
tl.div(b, a, 127.0)
tl.div(c, a, 4.0)
share = tl.extract_scalar(d, 0)
tl.div(e, d, share)
""",
        "tl.store(y, b)\ntl.store(z, c)\ntl.store(v, e)",
    )
    program = Differential(text)
    for n in (1, 7, 64, 2048):
        x = (RNG.normal(size=n) * 100).astype(dtype)
        w = RNG.uniform(0.3, 9, n).astype(np.float32)
        program.agree({"x": x, "w": w})
        found = program.twin.launch({"x": x, "w": w}, {}, mode="check").tensors
        np.testing.assert_array_equal(found["y"].values(), x / np.dtype(dtype).type(127))
        np.testing.assert_array_equal(found["z"].values(), x / np.dtype(dtype).type(4))
        np.testing.assert_array_equal(found["v"].values(), w / w[0])


@pytest.mark.parametrize("name", ["work", "work_buf", "work_space"])
def test_a_buffer_may_be_called_like_the_helpers_memory(name: str) -> None:
    source = f"""
import tile.language as tl


@ascend_kernel
def twice_kernel(x, y, size, tile):
    {name} = tl.alloc_ub(tile, dtype=tl.float32)
    out = tl.alloc_ub(tile, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, {name}[:size])
    with tl.compute():
        tl.tanh({name}[:size], {name}[:size])
        tl.tanh(out[:size], {name}[:size])
    with tl.copyout():
        tl.store(y, out[:size])


def twice_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    size = x.shape[0]
    tl.require(size <= 2048, "one tile")
    twice_kernel[1](x, y, size, tl.align_up(size, 8))
"""
    program = TwinProgram(lower(source))
    assert program.build.ok, program.build.diagnostics
    x = np.linspace(-3, 3, 77, dtype=np.float32)
    result = program.launch({"x": x}, mode="check")
    assert result.error is None
    np.testing.assert_allclose(result.tensors["y"].data, np.tanh(np.tanh(x)), atol=1e-6)


def test_more_doubled_buffers_than_events_stay_single() -> None:
    names = [f"in{number}" for number in range(5)]
    buffers = "\n    ".join(f"{name} = tl.alloc_ub(64, dtype=tl.float32)" for name in names)
    loads = "\n            ".join(
        f"tl.load(x + {n} * size + at, {name}[:n])" for n, name in enumerate(names)
    )
    sums = "\n            ".join(f"tl.add(out[:n], out[:n], {name}[:n])" for name in names[1:])
    source = f"""
import tile.language as tl


@ascend_kernel
def total_kernel(x, y, size):
    {buffers}
    out = tl.alloc_ub(64, dtype=tl.float32)
    for t in range(tl.cdiv(size, 64)):
        at = t * 64
        n = min(64, size - at)
        with tl.copyin():
            {loads}
        with tl.compute():
            tl.copy(out[:n], in0[:n])
            {sums}
        with tl.copyout():
            tl.store(y + at, out[:n])


def total_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (x.shape[1],))):
    tl.require(x.shape[0] == 5, "five rows")
    total_kernel[1](x, y, x.shape[1])
"""
    program = TwinProgram(lower(source))
    x = np.arange(5 * 1000, dtype=np.float32).reshape(5, 1000)
    result = program.launch({"x": x}, mode="check")
    assert (result.error, result.violations, result.races) == (None, [], [])
    np.testing.assert_array_equal(result.tensors["y"].data, x.sum(axis=0))
    (kernel,) = program.lowered.kernels
    copies = [planned.depth for planned in kernel.plan.buffers.values()]
    assert copies == [2, 2, 2, 1, 1, 2]
