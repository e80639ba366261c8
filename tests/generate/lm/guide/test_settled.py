# SPDX-License-Identifier: Apache-2.0
"""What is given where a question leaves no choice: as the planner writes it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.generate.lm.taught import applied, written

from npuforge.generate.lm.guide.facts.laid_again import laid_again
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.moved import moved
from npuforge.generate.lm.guide.guide import Guide
from npuforge.generate.lm.guide.joins import counts
from npuforge.generate.lm.guide.settled import settled

Function = Callable[..., torch.Tensor]
_NUMBERS = "4.0 KB in, 1 KB out\n</think>\n"


def _taught(function: Function, *shapes: tuple[int, ...]) -> tuple[str, str, str]:
    """A question, and the planner's outline and program."""
    given = written(applied(function, len(shapes)), *map(torch.rand, shapes))
    return given.asked, given.outline, given.taught


_ELEMENTS: dict[str, tuple[Function, list[tuple[int, ...]]]] = {
    "stream": (lambda x, y: torch.exp(y) - x, [(30, 70), (30, 70)]),
    "columns": (lambda x, w: x * w, [(300, 70), (70,)]),
    "rows": (lambda x, s: x / s, [(300, 70), (300, 1)]),
    "wide rows": (lambda x, w: x + w, [(40, 9000), (9000,)]),
    "rows of each": (lambda x, w: x * w[:, None], [(4, 30, 70), (30,)]),
    "columns of each": (lambda x, w: x - w, [(4, 30, 70), (4, 1, 70)]),
    "both repeated": (lambda x, y: x[:, None] * y, [(300,), (70,)]),
    "numbered rows": (lambda x: x / (torch.arange(30.0)[:, None] + 1), [(4, 30, 70)]),
    "joined": (lambda x, y: torch.cat([x, y], 1), [(30, 7), (30, 9)]),
    "after nothing": (lambda x: torch.cat([torch.zeros(x.shape[0], 2), x], 1), [(30, 7)]),
    "another type": (lambda x: x.to(torch.float16), [(30, 70)]),
    "long rows again": (lambda x, y: x.expand(y.shape[0], x.shape[0]), [(9000,), (4, 7)]),
    "short rows again": (lambda x, y: x.expand(y.shape[0], x.shape[0]), [(90,), (4, 7)]),
    "before ones": (lambda x: torch.cat([x, torch.ones(3, x.shape[1])]), [(30, 7)]),
}
_PARTS: dict[str, tuple[Function, tuple[int, ...]]] = {
    "columns": (lambda x: x[:, 8:20], (300, 70)),
    "to the end": (lambda x: x[:, 5:], (300, 70)),
    "rows": (lambda x: x[1], (3, 7000)),
    "in the middle": (lambda x: x[:, 4], (30, 8, 50)),
    "every second": (lambda x: x[:, 1::2], (30, 8, 50)),
}


@pytest.mark.parametrize("name", _ELEMENTS)
def test_the_outline_is_the_planners(name: str) -> None:
    function, shapes = _ELEMENTS[name]
    asked, said, _ = _taught(function, *shapes)
    assert Guide(asked).line("<think>\n").then == said


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x.sum(-1), (30, 70)),
        (lambda x: torch.softmax(x, -1), (30, 70)),
        (lambda x: x.flip(1), (30, 70)),
        (lambda x: x.reshape(10, 210) * 2, (30, 70)),
        (lambda x: ((x + 1) * x).exp().log().abs().sqrt(), (30, 70)),
    ],
)
def test_where_there_is_a_choice_nothing_is_said(
    function: Function, shape: tuple[int, ...]
) -> None:
    asked, _, _ = _taught(function, shape)
    assert settled(Meaning.read(asked)) == ""


_AGAIN: dict[str, tuple[Function, list[tuple[int, ...]]]] = {
    "as often as there are rows": (lambda x, y: x.expand(len(y), len(x)), [(9000,), (4, 7)]),
    "as often as the module says": (lambda x: x.expand(5, len(x)), [(9000,)]),
    "a square": (lambda x: x.expand(len(x), len(x)), [(9000,)]),
}


@pytest.mark.parametrize("name", _AGAIN)
def test_a_long_row_is_laid_down_again_as_the_planner_does_it(name: str) -> None:
    function, shapes = _AGAIN[name]
    asked, said, program = _taught(function, *shapes)
    assert Guide(asked).line("<think>\n").then == said
    head, _, body = program.partition("def op():\n")
    given = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{head}def op():\n").then
    assert given
    assert body.startswith(f"{given}\n\n")
    units = next(line for line in body.splitlines() if "k1_units = " in line)
    before, _, _ = program.partition(f"{units}\n")
    wrong = f"{units.rpartition(' * ')[0]} * 77"
    advice = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{wrong}\n")
    assert (advice.keep, advice.then) == (False, f"{units}\n")
    assert Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{units}\n").keep


def test_fixed_rows_are_laid_down_again_as_they_are() -> None:
    asked = "xa: bool[65536]\nv0 = expand(xa, [96, 65536]): bool[96, 65536]\nreturn v0\n"
    given = laid_again(Meaning.read(asked))
    assert given is not None
    assert given.outline().splitlines()[1:] == ["op: xa -> y"]
    assert "m = min(tile, 65536 - start)" in given.body()
    assert "tl.store(y + i0 * 65536 + start, in0[:m])" in given.body()
    assert laid_again(Meaning.read(asked.replace("65536", "64"))) is None


@pytest.mark.parametrize("name", _PARTS)
def test_a_part_of_a_tensor_is_moved_as_the_planner_moves_it(name: str) -> None:
    function, shape = _PARTS[name]
    asked, said, program = _taught(function, shape)
    assert Guide(asked).line("<think>\n").then == said
    head, _, body = program.partition("def op():\n")
    given = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{head}def op():\n").then
    assert given
    assert body.startswith(given)


def test_the_first_axes_are_turned() -> None:
    asked, _, _ = _taught(lambda x: x.permute(1, 0, 2), (30, 8, 50))
    part = moved(Meaning.read(asked))
    assert part is not None
    assert "tl.load(xa + i0 * cols + start * e2, in0[:n, :], stride=e2)" in part.body()
    assert "tl.store(y + i0 * e3 + start * cols, in0[:n, :], stride=cols)" in part.body()
    counted = "op: rows = na, cols = nc, e2 = nb * nc, e3 = na * nc"
    assert part.outline().splitlines()[1] == counted


def test_rows_that_do_not_fit_are_moved_in_parts() -> None:
    asked, _, _ = _taught(lambda x: x[:, 1:], (15, 76, 1000))
    part = moved(Meaning.read(asked))
    assert part is not None
    assert (str(part.outer), str(part.cols)) == ("na", "nc")
    assert moved(Meaning.read(asked.replace("nc=1000", "nc=40000"))) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("k1_share = tl.cdiv(na * nb,", "k1_share = tl.cdiv(na * nc,"),
        ("min(k1_fit, k1_share, nb))", "min(k1_fit, k1_share, nb * nc))"),
        ("k1_tiles = tl.cdiv(nb,", "k1_tiles = tl.cdiv(na,"),
        ("k1_units = k1_tiles * na", "k1_units = k1_tiles * nb"),
    ],
)
def test_the_host_counts_what_the_kernel_goes_over(right: str, wrong: str) -> None:
    asked, said, program = _taught(lambda x, w: x * w[:, None], (4, 30, 70), (30,))
    line = next(one for one in program.splitlines() if right in one)
    before, _, _ = program.partition(f"{line}\n")
    advice = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{line.replace(right, wrong)}\n")
    assert (advice.keep, advice.then) == (False, f"{line}\n")
    assert Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{line}\n").keep


def test_a_host_that_joins_counts_first() -> None:
    asked, _, program = _taught(lambda x, y: torch.cat([x, y], 1), (30, 7), (30, 9))
    assert counts(Meaning.read(asked)) == "    op_outer = na\n    op_run0 = nb\n    op_run1 = nc\n"
    assert counts(Meaning.read(asked)) in program


def test_how_much_is_joined_of_what_is_filled_is_given() -> None:
    asked, said, program = _taught(
        lambda x: torch.cat([x, torch.zeros(x.shape[0], 2, x.shape[2])], 1), (30, 7, 9)
    )
    before, line, _ = program.partition("    op_2_run1 = 2 * nc\n")
    assert line
    advice = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}    op_2_run1 = nb * nc\n")
    assert not advice.keep
    assert advice.then == line


def test_a_join_is_given_what_its_outline_says() -> None:
    asked, said, program = _taught(lambda x, y: torch.cat([x, y], 1), (30, 7), (30, 9))
    launch = program.splitlines()[-1]
    wrong = launch.replace("nb + nc", "2")
    assert wrong != launch
    before = program.removesuffix(f"{launch}\n")
    advice = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{wrong}\n")
    assert (advice.keep, advice.then) == (False, f"{launch}\n")


def test_a_selection_goes_by_a_mask() -> None:
    function = lambda m, x: torch.where(m > 0.5, x, 0.0)  # noqa: E731
    asked, _, _ = _taught(function, (300,), (300,))
    asked = asked.replace("xa: float32", "xa: bool")
    asked = "".join(
        f"{line}\n" for line in asked.splitlines() if not line.startswith("v0")
    ).replace("where.self(v0,", "where.self(xa,")
    guide = Guide(asked)
    body = (
        "<think>\nop: A stream: each core takes a share of the elements.\nop: cols = na\n"
        f"op: xa, xb -> v1, v2 -> y\n{_NUMBERS}import tile.language as tl\n\n\n@ascend_kernel\n"
        "def op():\n    first = tl.program_id(0) * per_core\n"
        "    last = min(first + per_core, cols)\n"
        "    for t in range(tl.cdiv(last - first, tile)):\n        start = first + t * tile\n"
        "        m = min(tile, last - start)\n        with tl.copyin():\n"
        "            xa_in = tl.alloc_ub(tile, dtype=tl.bool)\n"
        "            tl.load(xa + start, xa_in[:m])\n"
        "            xb_in = tl.alloc_ub(tile, dtype=tl.float32)\n"
        "            tl.load(xb + start, xb_in[:m])\n        with tl.compute():\n"
        "            xa_wide = tl.alloc_mask(tile)\n"
        "            tl.mask_from_bool(xa_wide[:m], xa_in[:m])\n"
        "            y_out = tl.alloc_ub(tile, dtype=tl.float32)\n"
    )
    advice = guide.line(f"{body}            tl.select(y_out[:m], xa_in[:m], xb_in[:m], 0.0)\n")
    right = "            tl.select(y_out[:m], xa_wide[:m], xb_in[:m], 0.0)\n"
    assert (advice.keep, advice.then) == (False, right)


def test_a_column_is_repeated_before_it_meets_a_row() -> None:
    asked, said, program = _taught(lambda x, y: x[:, None] * y, (300,), (70,))
    before, _, _ = program.partition("            t0 = tl.alloc_ub(")
    room = "            y_out = tl.alloc_ub((tile, cols), dtype=tl.float32)\n"
    wrong = "            tl.mul(y_out[:n, :], xa_in[:], xb_in[:])\n"
    advice = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{room}{wrong}")
    assert not advice.keep
    assert "tl.broadcast(t0[:n, :], xa_in[:n, None])" in advice.then
    assert "tl.mul(y_out[:n, :], t0[:n, :], xb_in[:])" in advice.then


def test_a_number_of_elements_is_an_operand() -> None:
    asked, said, program = _taught(lambda x, y: y * (x * y.shape[1]), (300, 1), (300, 70))
    before, line, _ = program.partition("            tl.mul(v0[:n], xa_in[:n], float(cols))\n")
    assert line
    wrong = line.replace("float(cols)", "xa_in[:n]")
    advice = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{wrong}")
    assert (advice.keep, advice.then) == (False, line.replace("cols", "nb"))


def test_ranges_of_rows_are_counted_from_where_a_kernel_is() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x / torch.arange(1, x.shape[1] + 1, dtype=torch.float32)[:, None]

    asked, said, program = _taught(function, (4, 30, 70))
    quote = next(line for line in program.splitlines() if "# v0 = arange" in line)
    before, _, after = program.partition(f"{quote}\n")
    given = Guide(asked).line(f"<think>\n{said}{_NUMBERS}{before}{quote}\n").then
    assert given
    assert after.startswith(given)
