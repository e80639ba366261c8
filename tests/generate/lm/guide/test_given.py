# SPDX-License-Identifier: Apache-2.0
"""Lines of kernels that follow from the question, and are given."""

from __future__ import annotations

import pytest

from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose
from npuforge.generate.lm.guide.rules.casts import straight, wide_already
from npuforge.generate.lm.guide.rules.left import left_first, too_early
from npuforge.generate.lm.guide.rules.loads import loading
from npuforge.generate.lm.guide.rules.reads import loop, numbers_first, opening, read_next
from npuforge.generate.lm.guide.rules.stated import instruction
from npuforge.generate.lm.guide.rules.stores import stored
from npuforge.generate.lm.guide.rules.wide import cast_first

_ASKED = Meaning.read(
    "xa: float16[na, nb]\nxb: float16[nb]\nxc: bool[na, nb]\nxd: float16[]\nxe: float16[na, 1]\n"
    "where na=8, nb=32\n"
    "v0 = mul.Tensor(xa, xb): float16[na, nb]\n"
    "v1 = bitwise_not(xc): bool[na, nb]\n"
    "v2 = mul.Tensor(v0, v1): float16[na, nb]\n"
    "v3 = add.Tensor(v2, xd): float16[na, nb]\n"
    "v4 = sub.Tensor(v3, xe): float16[na, nb]\n"
    "return v4, v2\n"
)
_ROWS = Purpose(
    f"{ROWS}, several at once",
    {"rows": "na", "cols": "nb"},
    ["xb", "xd", "xa", "xc", "xe"],
    ["v0", "v1", "v2", "v3", "v4"],
    {"y0": None, "y1": None},
)
_IN = "            "
_LOADED = (
    f"{_IN}xa_in = tl.alloc_ub((tile, cols), dtype=tl.float16)\n"
    f"{_IN}tl.load(xa + start * cols, xa_in[:n, :], stride=cols)\n"
)
_WIDE = (
    f"{_IN}xa_wide = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
    f"{_IN}tl.cast(xa_wide[:n, :], xa_in[:n, :])\n"
)
_ALL = "{0} + start * cols, {0}_in[:n, :], stride=cols"


@pytest.mark.parametrize(
    ("quote", "shape", "read"),
    [
        ("# xa: float16[na, nb]", "(tile, cols), dtype=tl.float16", _ALL.format("xa")),
        ("# xc: bool[na, nb]", "(tile, cols), dtype=tl.bool", _ALL.format("xc")),
        ("# xb: float16[nb]", "cols, dtype=tl.float16, buffers=1", "xb, xb_in[:]"),
        ("# xd: float16[]", "8, dtype=tl.float16, buffers=1", "xd, xd_in[:1]"),
        ("# xe: float16[na, 1]", "tile, dtype=tl.float16", "xe + start, xe_in[:n]"),
    ],
)  # fmt: skip
def test_rows_and_columns_say_how_a_tensor_is_read(quote: str, shape: str, read: str) -> None:
    name = quote[2:4]
    lines = loading(f"{_IN}{quote}", _ROWS, _ASKED)
    assert lines == f"{_IN}{name}_in = tl.alloc_ub({shape})\n{_IN}tl.load({read})\n"


def test_what_is_moved_is_read_as_the_model_would() -> None:
    moved = Meaning.read(
        "xa: float16[na, nb]\nv0 = flip(xa, [0]): float16[na, nb]\n"
        "v1 = slice.Tensor(v0, 1, 0, 4): float16[na, 4]\nreturn v1\n"
    )
    purpose = Purpose(f"{STREAM}: each", {"cols": "na * nb"}, ["xa"], ["v0"], {"y": None})
    assert loading(f"{_IN}# xa: float16[na, nb]", purpose, moved) == ""


def test_a_cast_that_was_forgotten_comes_before_the_value() -> None:
    body = f"{_LOADED}{_IN}# v0 = mul.Tensor(xa, xb): float16[na, nb]\n"
    last = f"{_IN}v0 = tl.alloc_ub((tile, cols), dtype=tl.float32)"
    assert cast_first(f"{body}{last}\n", last, _ROWS, _ASKED) == f"{_WIDE}{last}"
    assert cast_first(f"{body}{_WIDE}{last}\n", last, _ROWS, _ASKED) is None


def test_a_mask_is_counted_with_as_numbers() -> None:
    mask = f"{_IN}v1 = tl.alloc_mask((tile, cols))\n{_IN}tl.mask_not(v1[:n, :], xc_wide[:n, :])\n"
    quote = f"{_IN}# v2 = mul.Tensor(v0, v1): float16[na, nb]\n"
    last = f"{_IN}v2 = tl.alloc_ub((tile, cols), dtype=tl.float32)"
    given = cast_first(f"{mask}{quote}{last}\n", last, _ROWS, _ASKED)
    assert given is not None
    assert given.splitlines() == [
        f"{_IN}v1_ = tl.alloc_ub((tile, cols), dtype=tl.float32)",
        f"{_IN}tl.select(v1_[:n, :], v1[:n, :], 1.0, 0.0)",
        last,
    ]


def test_numbers_that_say_what_is_true_become_a_mask() -> None:
    asked = Meaning.read(
        "xa: float32[na]\nxb: float32[na]\nv0 = gt.Scalar(xa, 0): bool[na]\n"
        "v1 = gt.Scalar(xb, 0): bool[na]\nv2 = mul.Tensor(v0, v1): bool[na]\n"
        "v3 = bitwise_or.Tensor(v0, v2): bool[na]\nreturn v3\n"
    )
    purpose = Purpose(f"{STREAM}: each", {"cols": "na"}, ["xa", "xb"], [], {"y": None})
    made = f"{_IN}v2 = tl.alloc_ub(tile, dtype=tl.float32)\n{_IN}tl.mul(v2[:m], v0_[:m], v1_[:m])\n"
    quote = f"{_IN}# v3 = bitwise_or.Tensor(v0, v2): bool[na]\n"
    last = f"{_IN}v3 = tl.alloc_mask(tile)"
    given = cast_first(f"{made}{quote}{last}\n", last, purpose, asked)
    assert given is not None
    assert given.splitlines()[:2] == [
        f"{_IN}v2_ = tl.alloc_mask(tile)",
        f'{_IN}tl.compare(v2_[:m], v2[:m], 0.0, "ne")',
    ]


def test_a_result_of_16_bits_is_rounded_before_anything_is_stored() -> None:
    body = (
        f"{_IN}v2 = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
        f"{_IN}tl.mul(v2[:n, :], v0[:n, :], v1_[:n, :])\n"
        f"{_IN}y0_out = tl.alloc_ub((tile, cols), dtype=tl.float16)\n"
    )
    last = "        with tl.copyout():"
    given = left_first(f"{body}{last}\n", last, _ROWS, _ASKED)
    assert given is not None
    assert given.splitlines() == [
        f"{_IN}y1_out = tl.alloc_ub((tile, cols), dtype=tl.float16)",
        f'{_IN}tl.cast(y1_out[:n, :], v2[:n, :], round="rint")',
        last,
    ]
    rounded = given.rpartition("\n")[0]
    assert left_first(f"{body}{rounded}\n{last}\n", last, _ROWS, _ASKED) is None


def test_a_result_of_32_bits_is_computed_where_it_is_left() -> None:
    asked = Meaning.read(
        "xa: float32[na]\nv0 = exp(xa): float32[na]\nv1 = neg(v0): float32[na]\nreturn v1, v0\n"
    )
    leaves: dict[str, str | None] = {"y0": None, "y1": None}
    purpose = Purpose(f"{STREAM}: each", {"cols": "na"}, ["xa"], ["v0", "v1"], leaves)
    last = f"{_IN}v0 = tl.alloc_ub(tile, dtype=tl.float32)"
    body = f"{_IN}# v0 = exp(xa): float32[na]\n{last}\n"
    assert left_first(body, last, purpose, asked) == last.replace("v0 =", "y1_out =")
    # Whoever reads it afterwards by its own name means that buffer.
    read = f"{_IN}tl.neg(y0_out[:m], v0[:m])"
    assert asked.instead(read, {"y1_out", "y0_out"}) == read.replace("v0[", "y1_out[")


@pytest.mark.parametrize(("between", "fine"), [("", False), (f"{_IN}t0 = 1\n", True)])
def test_nothing_is_rounded_before_it_is_computed(between: str, fine: bool) -> None:
    last = f"{_IN}y0_out = tl.alloc_ub((tile, cols), dtype=tl.float16)"
    body = f"{_IN}# v4 = sub.Tensor(v3, xe): float16[na, nb]\n{between}{last}\n"
    said = too_early(body, last, _ROWS, _ASKED)
    assert said == (None if fine else "v4 comes before y0_out")


def test_numbers_are_taken_out_before_rows_are_gone_over() -> None:
    body = "    with tl.copyin():\n        tl.load(xb, xb_in[:])\n        tl.load(xd, xd_in[:1])\n"
    last = "    first = tl.program_id(0) * per_core"
    given = numbers_first(f"{body}{last}\n", last, _ROWS, _ASKED)
    assert given is not None
    assert given.splitlines() == [
        "    with tl.compute():",
        "        xd_wide = tl.alloc_ub(8, dtype=tl.float32)",
        "        tl.cast(xd_wide[:1], xd_in[:1])",
        "        sk1 = tl.extract_scalar(xd_wide[:1], 0)",
        last,
    ]
    assert numbers_first(f"{body}{given}\n", last, _ROWS, _ASKED) is None


@pytest.mark.parametrize("last", ["in0 = tl.alloc_ub(tile, dtype=tl.float16)", "# xe: float16[na]"])
def test_what_is_read_next_stands_in_its_place(last: str) -> None:
    body = "    with tl.copyin():\n        tl.load(xb, xb_in[:])\n        tl.load(xd, xd_in[:1])\n"
    given = read_next(f"{body}        {last}\n", f"        {last}", _ROWS, _ASKED)
    assert given == "        # xa: float16[na, nb]"


def test_a_kernel_that_has_read_everything_computes() -> None:
    body = "".join(f"            tl.load({name}, {name}_in[:])\n" for name in _ROWS.reads)
    last = "        with tl.copyin():"
    assert read_next(f"{body}{last}\n", last, _ROWS, _ASKED) == "        with tl.compute():"


@pytest.mark.parametrize(
    ("value", "made", "right"),
    [
        ("v0", "", "tl.mul(v0[:n, :], xa_wide[:n, :], xb_wide[:])"),
        ("v3", "v2 = tl.alloc_ub((tile, cols)", "tl.add(v3[:n, :], v2[:n, :], sk1)"),
        ("v4", "v3 = tl.alloc_ub((tile, cols)", "tl.sub(v4[:n, :], v3[:n, :], xe_wide[:n, None])"),
        ("v4", "", None),
        ("v1", "", None),
    ],
)
def test_an_instruction_that_follows_from_its_line(
    value: str, made: str, right: str | None
) -> None:
    body = (
        f"{_WIDE}{_IN}xb_wide = tl.alloc_ub(cols, dtype=tl.float32)\n"
        f"{_IN}xe_wide = tl.alloc_ub(tile, dtype=tl.float32)\n"
        f"{_IN}sk1 = tl.extract_scalar(xd_wide[:1], 0)\n"
        + (f"{_IN}{made}, dtype=tl.float32)\n" if made else "")
        + f"{_IN}# {_ASKED.lines[value]}\n"
        f"{_IN}{value} = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
        f"{_IN}tl.exp(whatever)\n"
    )
    given = instruction(body, _ROWS, _ASKED)
    assert given == (None if right is None else f"{_IN}{right}")


def test_a_cast_goes_straight_to_where_it_is_left() -> None:
    kernel = (
        f"{_WIDE}{_IN}y_out = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
        f'{_IN}tl.cast(y_out[:n, :], xa_wide[:n, :], round="rint")\n'
    )
    assert straight(kernel) == (
        f"{_IN}y_out = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
        f"{_IN}tl.cast(y_out[:n, :], xa_in[:n, :])\n"
    )
    assert straight(kernel.replace("xa_wide[:n, :], r", "xb_wide[:n, :], r")) is None


_HALVED = Meaning.read(
    "xa: float32[na, nb]\nwhere na=8, nb=32\nv0 = mul.Tensor(xa, 0.5): float32[na, nb]\n"
    "v1 = div.Tensor(v0, nb): float32[na, nb]\nreturn v1, v1\n"
)
_STREAM = Purpose(
    f"{STREAM}: each", {"cols": "na * nb"}, ["xa"], ["v0", "v1"], {"y0": None, "y1": None}
)


def test_a_stream_that_shares_nothing_begins_with_its_loop() -> None:
    begun = opening(_STREAM, _HALVED).splitlines()
    assert begun[0] == "    first = tl.program_id(0) * per_core"
    assert begun[-1] == "        m = min(tile, last - start)"
    assert "".join(f"{line}\n" for line in begun[1:]) == loop(begun[0], _STREAM, _HALVED)


def test_rows_are_gone_over_before_they_are_read() -> None:
    purpose = Purpose(_ROWS.way, {"rows": "na", "cols": "nb"}, ["xa"], ["v0"], {"y0": None})
    last = "    with tl.copyin():"
    assert (
        read_next(f"{last}\n", last, purpose, _HALVED) == "    first = tl.program_id(0) * per_core"
    )
    # What all rows share is read first.
    assert read_next(f"{last}\n", last, _ROWS, _ASKED) is None


def test_a_tensor_that_is_wide_is_not_cast() -> None:
    wide = f"{_IN}xa_wide = tl.alloc_ub(tile, dtype=tl.float32)"
    assert wide_already(wide, _HALVED) == "xa is float32 as it is"
    assert wide_already(wide, _ASKED) is None


def test_an_extent_is_an_operand() -> None:
    body = (
        f"{_IN}v0 = tl.alloc_ub(tile, dtype=tl.float32)\n{_IN}# {_HALVED.lines['v1']}\n"
        f"{_IN}y0_out = tl.alloc_ub(tile, dtype=tl.float32)\n{_IN}tl.exp(whatever)\n"
    )
    given = instruction(body, _STREAM, _HALVED)
    assert given == f"{_IN}tl.div(y0_out[:m], v0[:m], float(nb))"


def test_results_that_are_one_value_share_its_buffer() -> None:
    store = f"{_IN}tl.store(y1 + start, y1_out[:m])"
    assert _HALVED.instead(store, {"y0_out"}) == store.replace("y1_out", "y0_out")
    assert _HALVED.instead(store, {"y0_out", "y1_out"}) is None


def test_a_number_out_of_a_tensor_is_read_from_its_buffer() -> None:
    asked = Meaning.read(
        "xa: float16[1]\nxb: float16[na]\nv0 = slice.Tensor(xb, 0, 0, 1): float16[1]\n"
        "v1 = squeeze.dims(v0, [0]): float16[]\nv2 = div.Tensor(xa, v1): float16[1]\nreturn v2\n"
    )
    purpose = Purpose(f"{STREAM}: each", {}, ["xa", "xb"], ["v0", "v1", "v2"], {"y": None})
    assert asked.looked_at("v1") == "xb"
    read = (
        f"{_IN}xb_in = tl.alloc_ub(8, dtype=tl.float16)\n{_IN}tl.load(xb, xb_in[:1])\n"
        f"{_IN}xa_wide = tl.alloc_ub(8, dtype=tl.float32)\n{_IN}# {asked.lines['v2']}\n"
    )
    last = f"{_IN}v2 = tl.alloc_ub(8, dtype=tl.float32)"
    given = cast_first(f"{read}{last}\n", last, purpose, asked)
    assert given is not None
    assert given.splitlines()[1] == f"{_IN}tl.cast(xb_wide[:1], xb_in[:1])"
    body = f"{read}{given}\n{_IN}tl.exp(whatever)\n"
    assert instruction(body, purpose, asked) == f"{_IN}tl.div(v2[:1], xa_wide[:1], xb_wide[:1])"


def test_results_are_stored_as_their_sizes_say() -> None:
    asked = Meaning.read(
        "xa: float32[na, nb]\nv0 = exp(xa): float32[na, nb]\n"
        "v1 = sum.dim_IntList(v0, [-1], True): float32[na, 1]\nreturn v1, v0\n"
    )
    leaves: dict[str, str | None] = {"y0": None, "y1": None}
    purpose = Purpose(_ROWS.way, {"rows": "na", "cols": "nb"}, ["xa"], ["v0", "v1"], leaves)
    last = "        with tl.copyout():"
    body = f"{_IN}y0_out = 1\n{_IN}y1_out = 2\n{last}\n"
    assert stored(body, last, purpose, asked).splitlines() == [
        f"{_IN}tl.store(y0 + start, y0_out[:n])",
        f"{_IN}tl.store(y1 + start * cols, y1_out[:n, :], stride=cols)",
    ]
    assert stored(body.replace("y0_out", "t0"), last, purpose, asked) == ""


_ENDS = {"nb + 1": "nb + 2", "4095": "4096"}


@pytest.mark.parametrize(
    ("end", "cols", "gone_over"),
    [
        ("nb + 1", "nb + 2", "cols"),
        ("nb + 1", "na * nb", None),
        ("nb + 1", None, None),
        ("4095", None, "4096"),
        ("4095", "na", None),
    ],
)
def test_what_is_made_of_nothing_is_gone_over(
    end: str, cols: str | None, gone_over: str | None
) -> None:
    meaning = Meaning.read(
        "xa: float32[na, nb]\nwhere na=8, nb=32\n"
        f"v0 = arange.start_step(-1, {end}): int64[{_ENDS[end]}]\nreturn v0\n"
    )
    counted = {} if cols is None else {"cols": cols}
    purpose = Purpose(f"{STREAM}: each core", counted, [], ["v0"], {"y": None})
    said = "".join(
        f"{line}\n"
        for line in (
            "    first = tl.program_id(0) * per_core",
            f"    last = min(first + per_core, {gone_over})",
            "    for t in range(tl.cdiv(last - first, tile)):",
            "        start = first + t * tile",
            "        m = min(tile, last - start)",
        )
    )
    assert opening(purpose, meaning) == ("" if gone_over is None else said)
