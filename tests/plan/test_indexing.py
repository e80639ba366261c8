# SPDX-License-Identifier: Apache-2.0
"""Reading and writing at computed places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from tests.plan.graphs import OneOperation, compare
from tests.plan.modules import agree, captured, module_of

from npuforge.lower.compiler import lower
from npuforge.plan.plan import PlanError
from npuforge.plan.planner import plan
from npuforge.tile.interpret import interpret

FLOAT, INT = torch.float32, torch.int32


def noise(*shape: int, dtype: torch.dtype = FLOAT) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return (torch.randn(shape, generator=generator) * 9).to(dtype)


def places(below: int, *shape: int, least: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(below + sum(shape))
    return torch.randint(least, below, shape, generator=generator)


# ---- reading --------------------------------------------------------------------------------
def test_embedding() -> None:
    program = OneOperation("aten.embedding.default", ["a", "b"], [["b0", "b1", "a1"]])
    cases = [(9, 5, 3, 4), (100, 600, 7, 1), (3, 20_000, 1, 2), (5, 1, 40, 40)]
    program.agree(*[(noise(v, d), places(v, r, c)) for v, d, r, c in cases])


@pytest.mark.parametrize("dtype", [FLOAT, torch.bool, torch.int64])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_index_select(axis: int, dtype: torch.dtype) -> None:
    shape = ["a0", "a1", "a2"]
    shape[axis] = "b0"
    program = OneOperation("aten.index_select.default", ["a", axis, "b"], [shape])
    shapes = [(3, 4, 5), (2, 70, 30), (50, 2, 9)]
    program.agree(*[(noise(*s, dtype=dtype), places(s[axis], 2 * s[0])) for s in shapes])


def test_few_elements_of_long_rows() -> None:
    program = OneOperation("aten.index_select.default", ["a", 0, "b"], [["b0"]])
    text = program.agree((noise(70_000), places(70_000, 40)), (noise(3), places(3, 7)))
    assert "tl.gather" not in text
    text = program.agree((noise(30_000), places(30_000, 3000)), (noise(50), places(50, 7)))
    assert "tl.gather" in text


GATHERED = [FLOAT, torch.float16, torch.bfloat16, INT, torch.int8, torch.bool]


@pytest.mark.parametrize("dtype", GATHERED, ids=str)
def test_gather_along_rows(dtype: torch.dtype) -> None:
    program = OneOperation("aten.gather.default", ["a", 1, "b"], [["b0", "b1"]])
    cases = [(5, 7, 5, 3), (100, 16, 90, 40), (3, 9000, 3, 2500), (2, 30_000, 1, 300), (1, 1, 1, 1)]
    program.agree(*[(noise(r, d, dtype=dtype), places(d, n, k)) for r, d, n, k in cases])


def test_gather_reads_only_what_was_loaded() -> None:
    program = OneOperation("aten.gather.default", ["a", 1, "b"], [["b0", "b1"]])
    rows, picked = noise(128, 2), places(2, 128, 2)  # 48 cores have three rows, the last has two
    planned = plan(program.graph([rows, picked]))
    given = {"a": rows, "b": picked}
    feed = {o.name: given[o.source] for o in planned.operands if o.source is not None}
    found = interpret(lower(planned.variants[0].program).program, feed)
    (wanted,) = program.expected([rows, picked])
    (out,) = (o.name for o in planned.operands if o.result is not None)
    compare(found[out].values(), wanted, planned.variants[0].program)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gather_along_any_axis(axis: int) -> None:
    program = OneOperation("aten.gather.default", ["a", axis, "b"], [["b0", "b1", "b2"]])
    cases = [((4, 5, 6), (3, 4, 5)), ((3, 20, 9), (3, 20, 9))]
    program.agree(*[(noise(*x), places(x[axis], *i)) for x, i in cases])


def test_one_element_a_row_is_arithmetic() -> None:
    program = OneOperation("aten.gather.default", ["a", 1, "b"], [["b0", "1"]], {"b1": "1"})
    text = program.agree(*[(noise(r, d), places(d, r, 1)) for r, d in [(5, 9), (70, 1000)]])
    assert "tl.gather" not in text


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_index_by_one_tensor(axis: int) -> None:
    shape = ["a0", "a1", "a2"]
    shape[axis : axis + 1] = ["b0", "b1"]
    program = OneOperation("aten.index.Tensor", ["a", [None] * axis + ["b"]], [shape])
    cases = [(3, 4, 5), (6, 70, 3)]
    program.agree(*[(noise(*s), places(s[axis], 3, 2, least=-s[axis])) for s in cases])


def test_index_by_two_tensors() -> None:
    program = OneOperation("aten.index.Tensor", ["a", [None, "b", "c"]], [["a0", "b0", "c1"]])
    program.same = {"b1": "1", "c0": "1"}
    cases = [(3, 4, 5), (2, 70, 30)]
    program.agree(
        *[
            (noise(*s), places(s[1], 6, 1, least=-s[1]), places(s[2], 1, 3, least=-s[2]))
            for s in cases
        ]
    )


# ---- writing --------------------------------------------------------------------------------
class LastWins(OneOperation):
    """Equal indices: PyTorch leaves open which value stays, here it is the last."""

    def expected(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        x, index, values = (tensor.clone() for tensor in inputs)
        axis = sum(item is None for item in self.arguments[1])
        for place, row in enumerate(index):
            x.select(axis, int(row)).copy_(values.select(axis, place))
        return [x]


@pytest.mark.parametrize("dtype", [FLOAT, torch.bfloat16, torch.bool], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_index_put(axis: int, dtype: torch.dtype) -> None:
    indices = [None] * axis + ["b"]
    shape = ["a0", "a1", "a2"]
    program = LastWins("aten.index_put.default", ["a", indices, "c"], [shape])
    cases = [((3, 4, 5), 7), ((60, 9, 40), 30), ((2, 3, 700), 1), ((1, 2500, 3), 1100)]
    given = []
    for shape_, count in cases:
        values = list(shape_)
        values[axis] = count
        index = places(shape_[axis], count, least=-shape_[axis])
        given.append([noise(*shape_, dtype=dtype), index, noise(*values, dtype=dtype)])
    program.agree(*given)


@pytest.mark.parametrize("dtype", [FLOAT, torch.float16, INT], ids=str)
def test_sums_at_indices(dtype: torch.dtype) -> None:
    arguments = ["a", ["b"], "c", True]
    program = OneOperation("aten.index_put.default", arguments, [["a0", "a1"]])
    cases = [(4, 5, 30), (60, 700, 100), (1000, 3, 1500)]
    whole = [torch.randint(-4, 5, size).to(dtype) for d, n, k in cases for size in [(d, n), (k, n)]]
    program.agree(
        *[
            (whole[2 * place], places(d, k, least=-d), whole[2 * place + 1])
            for place, (d, _, k) in enumerate(cases)
        ]
    )


def test_one_number_at_indices_and_where_a_mask_is_true() -> None:
    program = OneOperation("aten.index_put.default", ["a", ["b"], "c"], [["a0", "a1"]])
    program.agree((noise(9, 40), places(9, 3), torch.tensor(2.5)))
    program.agree((noise(9, 40), noise(9, dtype=torch.bool), torch.tensor(2.5)))


def test_index_put_by_two_tensors() -> None:
    arguments = ["a", ["b", "c"], "d", True]
    program = OneOperation("aten.index_put.default", arguments, [["a0", "a1", "a2"]])
    program.same = {"c0": "b0"}
    index = places(4, 40), places(6, 40, least=-6)
    program.agree((noise(4, 6, 5), *index, torch.randint(-3, 3, (40, 5)).float()))


@pytest.mark.parametrize("axis", [0, 1])
def test_index_add_and_copy(axis: int) -> None:
    shape, same = ["a0", "a1"], {f"c{1 - axis}": f"a{1 - axis}", f"c{axis}": "b0"}
    order = torch.randperm(9)[:4]
    values = noise(4, 9) if axis == 0 else noise(9, 4)
    program = OneOperation("aten.index_add.default", ["a", axis, "b", "c"], [shape], same)
    program.agree((noise(9, 9), order, values))
    program = OneOperation("aten.index_copy.default", ["a", axis, "b", "c"], [shape], same)
    program.agree((noise(9, 9), order, values))


def _distinct(rows: int, below: int, count: int) -> torch.Tensor:
    return torch.stack([torch.randperm(below)[:count] for _ in range(rows)])


def test_scatter_into_a_single_row() -> None:
    program = OneOperation("aten.scatter.src", ["a", 0, "b", "c"], [["a0"]])
    order = torch.randperm(900, generator=torch.Generator().manual_seed(1))
    program.agree((noise(900), order[:70], noise(70)), (noise(3), order[:1] % 3, noise(1)))


@pytest.mark.parametrize("dtype", [FLOAT, torch.bfloat16, INT, torch.bool], ids=str)
def test_scatter(dtype: torch.dtype) -> None:
    program = OneOperation("aten.scatter.src", ["a", 1, "b", "c"], [["a0", "a1"]])
    cases = [(5, 20, 4, 9), (70, 300, 70, 1), (2, 30_000, 2, 3000)]
    program.agree(
        *[
            (noise(r, d, dtype=dtype), _distinct(n, d, k), noise(r, k + 3, dtype=dtype))
            for r, d, n, k in cases
        ]
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_of_a_number_along_any_axis(axis: int) -> None:
    program = OneOperation("aten.scatter.value", ["a", axis, "b", 4.5], [["a0", "a1", "a2"]])
    program.agree((noise(4, 9, 7), places((4, 9)[axis], 3, 4, 2)))


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin"])
def test_scatter_reduce(reduce: str) -> None:
    arguments = ["a", 2, "b", "c", reduce]
    program = OneOperation("aten.scatter_reduce.two", arguments, [["a0", "a1", "a2"]])
    x, v = torch.randint(-4, 5, (4, 3, 70)).float(), torch.randint(-4, 5, (3, 3, 50)).float()
    program.agree((x, places(70, 2, 2, 30), v))


@pytest.mark.parametrize("dtype", [FLOAT, torch.float16, INT], ids=str)
def test_scatter_add(dtype: torch.dtype) -> None:
    program = OneOperation("aten.scatter_add.default", ["a", -1, "b", "c"], [["a0", "a1"]])
    x, v = torch.randint(-4, 5, (40, 70)).to(dtype), torch.randint(-4, 5, (40, 1500)).to(dtype)
    program.agree((x, places(70, 40, 1500), v), (x[:1], places(70, 1, 3), v[:1, :3]))


@pytest.mark.parametrize("dtype", [FLOAT, torch.float16], ids=str)
def test_many_single_elements_are_put(dtype: torch.dtype) -> None:
    """What is noted of as many places as there is room for fits beside the elements."""

    def put(x: Any, places: Any, v: Any) -> Any:
        made = torch.zeros(x.shape[0] + 1, dtype=x.dtype)
        made[places] = v
        return made

    def case(extent: int, count: int) -> list[torch.Tensor]:
        chosen = torch.randperm(extent, generator=torch.Generator().manual_seed(extent))[:count]
        return [noise(extent - 1, dtype=dtype), chosen, noise(count, dtype=dtype)]

    agree(put, case(200_000, 5000), case(70, 60))


# ---- order ----------------------------------------------------------------------------------
def test_topk_and_sort() -> None:
    program = OneOperation("aten.topk.default", ["a", 3, -1, False], [["a0", "3"], ["a0", "3"]])
    program.agree([noise(5, 40)], [noise(60, 3)], [noise(2, 1000)])
    same = ["a0", "a1"]
    program = OneOperation("aten.sort.default", ["a", 0, True], [same, same])
    program.agree([noise(50, 7)], [noise(3, 2)])
    program = OneOperation("aten.sort.default", ["a", -1], [same, same])
    half = torch.randperm(500).reshape(2, 250).half()
    program.agree([half], [half[:, :5]])


def test_what_is_no_number_is_sorted_to_the_end() -> None:
    def middle(x: Any) -> Any:
        values, places = torch.sort(x, dim=-1)
        least, most = torch.topk(x, 3, largest=False).values, torch.topk(x, 3).values
        return values, places, values[:, 2:-2].sum(-1), least, most

    def case(rows: int, cols: int) -> list[torch.Tensor]:
        x = torch.randn(rows, cols, generator=torch.Generator().manual_seed(rows))
        x[0, 3], x[1, 1], x[1, 4], x[2, 0] = torch.nan, torch.inf, torch.nan, -torch.inf
        return [x]

    agree(middle, case(30, 70), case(4, 9), case(3, 2816), loose=10.0)


@pytest.mark.parametrize("axis", [0, 1])
def test_long_numbers_are_not_picked(axis: int) -> None:
    def picked(x: Any, index: Any) -> Any:
        return torch.gather(x, axis, index)

    given = [torch.ones(64, 80, dtype=torch.int64), torch.zeros(64, 40, dtype=torch.int64)]
    with pytest.raises(PlanError, match="int64 are not picked"):
        plan(captured(module_of(picked), given))


WHOLE = [torch.int8, torch.uint8, torch.int16, INT, torch.int64]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_whole_numbers_are_sorted(dtype: torch.dtype, descending: bool) -> None:
    """Of many that are equal the first stay first."""

    def ordered(x: Any) -> Any:
        return torch.sort(x, stable=True, dim=-1, descending=descending)

    def case(rows: int, cols: int, most: int) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(rows)
        least = 0 if dtype is torch.uint8 else -most
        return [torch.randint(least, most, (rows, cols), generator=generator).to(dtype)]

    most = 100 if dtype in (torch.int8, torch.uint8) else 30_000
    agree(ordered, case(5, 300, 4), case(60, 33, most), case(2, 1500, most), case(3, 2, 4))


def test_large_whole_numbers_are_told_apart_when_sorted() -> None:
    """float32 holds whole numbers up to 2^24 only."""

    def ordered(x: Any) -> Any:
        return torch.sort(x, stable=True)

    ends = [2**31 - 1, 2**31 - 2, -(2**31), -(2**31) + 1, 0, -1, 65535, 65536, -1]
    near = torch.tensor([ends, ends[::-1]], dtype=INT)
    agree(ordered, [near], [near // 3 * 2], [near.repeat(3, 228)[:, :2048]])


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_median(axis: int, keep: bool) -> None:
    def middle(x: Any) -> Any:
        return torch.median(x, dim=axis, keepdim=keep)

    def case(rows: int, cols: int) -> list[torch.Tensor]:
        x = torch.randperm(rows * cols, generator=torch.Generator().manual_seed(rows)).float()
        return [x.reshape(rows, cols)]

    agree(middle, case(30, 71), case(4, 8), case(3, 2))


def test_the_median_of_what_has_no_number_is_none() -> None:
    def middle(x: Any) -> Any:
        return torch.median(x, dim=-1).values

    x = torch.randn(5, 40, generator=torch.Generator().manual_seed(7))
    x[1, 3], x[2, 0], x[3, 39] = torch.nan, torch.inf, -torch.inf
    agree(middle, [x], [x[:, :9]])
