# SPDX-License-Identifier: Apache-2.0
"""Whole modules: schedules, element types, views, updates in place, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.plan.modules import agree, captured, module_of
from torch import nn
from torch.nn import functional

from npuforge.errors import UsageError
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan.cube import CUBE
from npuforge.plan.expand.rules import RULES
from npuforge.plan.plan import PlanError
from npuforge.plan.planner import plan


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


# Streams: chains of element-wise operations, types, broadcasting


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_chain_is_one_stream_in_every_floating_type(dtype: torch.dtype) -> None:
    def chain(x: Any, y: Any) -> Any:
        return torch.where(x > y, functional.gelu(x) * 2, torch.exp(-y.abs())), x - y

    planned = agree(
        chain,
        [normal(50, 70, dtype=dtype), normal(50, 70, dtype=dtype, seed=1)],
        [normal(3, 5, dtype=dtype), normal(3, 5, dtype=dtype, seed=1)],
    )
    assert planned.variants[0].program.count("@ascend_kernel") == 1


def test_what_is_used_twice_again_and_again_is_planned_once() -> None:
    def doubled(x: Any) -> Any:
        for _ in range(24):  # sixteen million ways from the result to x
            x = x * 0.25 + torch.sin(x)
        return x

    planned = plan(captured(module_of(doubled), [normal(50, 70)]), most=1)
    assert planned.variants[0].program.count("@ascend_kernel") == 1


def test_whole_numbers_and_truth_values() -> None:
    def mixed(a: Any, b: Any, flags: Any) -> Any:
        return a + b * 3, (a > b) & flags, torch.where(flags, a, -b)

    def case(n: int) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(n)
        a, b = (torch.randint(-50, 50, (n, 33), generator=generator) for _ in range(2))
        flags = torch.randint(0, 2, (n, 33), generator=generator).bool()
        return [a.to(torch.int32), b.to(torch.int32), flags]

    agree(mixed, case(40), case(7))


def test_whole_numbers_are_divided_downwards() -> None:
    def divided(a: Any, b: Any) -> Any:
        return a // 3, a % 7, torch.div(a, b, rounding_mode="trunc"), a // b

    def case(n: int) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(n)
        a = torch.randint(-90000, 90000, (n, 33), generator=generator, dtype=torch.int32)
        b = torch.randint(1, 50, (n, 33), generator=generator, dtype=torch.int32)
        return [a, b * torch.where(a > 500, -1, 1)]

    agree(divided, case(40), case(7))


def test_quotients_are_rounded_once() -> None:
    def levels(x: Any, scale: Any) -> Any:
        own = x.abs().amax(-1, keepdim=True) / 127
        row = x / scale
        return (
            torch.round(x / own).to(torch.int8),
            torch.floor(x / 0.3).to(torch.int32),
            row > torch.round(row * 3) / 3,
            torch.round(x / x.shape[1] * 1000).to(torch.int32),
            torch.round(x / scale[0] * 0.5).to(torch.int32),
        )

    # Halves of a step of the first result, which a second rounding would move.
    def case(rows: int, cols: int) -> list[torch.Tensor]:
        x = normal(rows, cols) * 3
        step = x.abs().amax(-1, keepdim=True) / 127
        x[:, 1:] = torch.where(
            x[:, 1:].abs() < step * 126, torch.floor(x[:, 1:] / step) * step + step / 2, x[:, 1:]
        )
        return [x, normal(cols).abs() + 0.1]

    agree(levels, case(60, 300), case(3, 7))


def test_numbers_that_follow_from_extents() -> None:
    def smoothed(x: Any, places: Any) -> Any:
        return functional.cross_entropy(x, places, label_smoothing=0.1)

    generator = torch.Generator().manual_seed(0)
    agree(smoothed, [normal(60, 70), torch.randint(0, 70, (60,), generator=generator)])


def test_rows_columns_and_single_numbers_are_repeated() -> None:
    def spread(x: Any, row: Any, column: Any, number: Any) -> Any:
        return (x * row + column) / number

    def case(rows: int, cols: int) -> list[torch.Tensor]:
        return [normal(2, rows, cols), normal(cols), normal(rows, 1), normal(1) + 3]

    planned = agree(spread, case(37, 100), case(5, 3))
    assert "[:n, None]" in planned.variants[0].program


def test_a_number_for_each_channel_of_images() -> None:
    def scaled(x: Any, scale: Any) -> Any:
        return x * scale.view(1, -1, 1, 1)

    agree(scaled, [normal(2, 5, 7, 9), normal(5)], [normal(3, 4, 2, 2), normal(4)])


def test_arguments_by_value_and_by_index() -> None:
    def indexed(x: Any) -> Any:
        return x * torch.arange(x.shape[1], dtype=torch.float32) + 0.5

    agree(indexed, [normal(20, 45)], [normal(3, 130)])


def test_more_tensors_than_the_queues_hold() -> None:
    def many(x: Any) -> Any:
        total = x[0]
        for k in range(1, 12):
            total = torch.sin(total) + x[k] * k
        return [total, total.sum(-1), *(torch.log(x[k].abs() + 1) for k in range(10))]

    planned = agree(many, [normal(12, 30, 70)], [normal(12, 3, 7)])
    assert planned.variants[0].program.count("@ascend_kernel") > 3


# Views


def test_views_cost_nothing_but_their_offsets() -> None:
    def halves(x: Any) -> Any:
        half = x.shape[-1] // 2
        left, right = x[..., :half], x[..., half : 2 * half]
        return torch.cat([left * right, left + right], dim=-1)

    agree(halves, [normal(6, 40)], [normal(3, 10)])


def test_what_lies_turned_is_transposed() -> None:
    def turned(x: Any, y: Any) -> Any:
        return x.transpose(1, 2) * 2 + y

    agree(
        turned,
        [normal(2, 130, 70), normal(2, 70, 130)],
        [normal(1, 5, 300), normal(1, 300, 5)],
    )


def test_what_lies_turned_beside_masks_is_laid_straight_first() -> None:
    def larger(x: Any, y: Any, rows: Any) -> Any:
        return torch.where(rows[:, None] & (x.t() > y), x.t(), y)

    agree(
        larger,
        [normal(33, 150), normal(150, 33, seed=1), normal(150, seed=2) > 0],
        [normal(300, 5), normal(5, 300, seed=1), normal(5, seed=2) > 0],
    )


def test_reversed_lines() -> None:
    agree(lambda x: x.flip(-1) + x, [normal(4, 5000)], [normal(3, 37)])


# Reductions


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_softmax_of_rows_that_fit_and_rows_that_do_not(dtype: torch.dtype) -> None:
    agree(
        lambda x: torch.softmax(x, -1),
        [normal(60, 100, dtype=dtype)],
        [normal(3, 7, dtype=dtype)],
    )
    planned = agree(
        lambda x: torch.log_softmax(x, -1),
        [normal(48, 30000, dtype=dtype)],
        [normal(4, 9000, dtype=dtype)],
    )
    assert planned.variants[0].program.count("for f in range") == 2


def test_softmax_down_the_columns() -> None:
    agree(lambda x: torch.softmax(x, 1), [normal(3, 20, 500)], [normal(2, 20, 37)])


def test_columns_are_folded_under_a_mask_of_one_row() -> None:
    def last_of(x: Any) -> Any:
        kept = torch.arange(x.shape[-1]) >= x.shape[-1] - 4
        return torch.where(kept, x, 0.5).sum(0)

    agree(last_of, [normal(32, 168)], [normal(9, 70)])


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2), (1, 2)])
def test_sums_over_any_axes(axes: tuple[int, ...]) -> None:
    agree(
        lambda x: (x * x).sum(axes),
        [normal(6, 70, 130)],
        [normal(3, 5, 7)],
        [normal(2, 300, 33)],
        loose=10.0,
    )


def test_a_fold_between_two_tensors_that_share_an_axis() -> None:
    def pairs(x: Any, g: Any) -> Any:
        return (x[:, :, None, :] * g[:, None, :, :]).sum(-1)

    agree(pairs, [normal(60, 4, 300), normal(60, 4, 300, seed=1)], loose=10.0)


def test_few_long_results_are_folded_in_parts() -> None:
    def statistics(x: Any) -> Any:
        return x.mean(), x.var(), x.max(), x.amin()

    planned = agree(statistics, [normal(400, 1000) + 5], [normal(3, 7)], loose=2.0)
    assert "part" in planned.variants[0].program


def test_products_and_norms() -> None:
    agree(
        lambda x: ((1 + x * 0.01).prod(-1), x.norm(p=1, dim=-1), x.norm(p=3, dim=-1)),
        [normal(30, 90)],
        [normal(3, 50)],
        loose=5.0,
    )


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_places_of_the_largest_and_smallest(axis: int) -> None:
    agree(
        lambda x: (x.argmax(axis), x.argmin(axis), x.max(axis)[0]),
        [normal(5, 60, 90)],
        [normal(3, 7, 50)],
    )


def test_places_found_in_parts_and_merged() -> None:
    planned = agree(lambda x: x.argmax(0), [normal(256, 512)], [normal(9, 70)])
    assert "part" in planned.variants[0].program


def test_layer_norm_in_a_tile_and_beyond() -> None:
    class Short(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(200)
            nn.init.normal_(self.norm.weight)
            nn.init.normal_(self.norm.bias)

        def forward(self, x: Any) -> Any:
            return functional.relu(self.norm(x))

    agree(Short, [normal(100, 200) + 100], [normal(3, 200)], loose=10.0)

    class Long(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm([7, 9000])

        def forward(self, x: Any) -> Any:
            return self.norm(x)

    agree(Long, [normal(60, 7, 9000) + 100], [normal(2, 7, 9000)], loose=10.0)


def test_batch_norm_updates_its_statistics() -> None:
    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm2d(6)
            nn.init.normal_(self.norm.weight)

        def forward(self, x: Any) -> Any:
            return self.norm(x)

    planned = agree(Norm, [normal(4, 6, 40, 50)], [normal(2, 6, 3, 5)], loose=2.0)
    assert [operand.role for operand in planned.operands].count("inout") == 3


def test_a_loss_over_rows_then_over_all() -> None:
    def loss(x: Any, y: Any) -> Any:
        return (1 - functional.cosine_similarity(x, y, dim=1)).mean()

    agree(loss, [normal(64, 300), normal(64, 300, seed=3)], [normal(5, 9), normal(5, 9, seed=3)])


def test_cross_entropy() -> None:
    def case(rows: int, classes: int) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(rows)
        return [normal(rows, classes), torch.randint(0, classes, (rows,), generator=generator)]

    agree(lambda x, y: functional.cross_entropy(x, y) * 2, case(300, 40), case(4, 7))


def test_an_optimizer_updates_its_tensors_in_place() -> None:
    def step(p: Any, g: Any, m: Any, v: Any) -> Any:
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.99).addcmul_(g, g, value=0.01)
        p.addcdiv_(m, v.sqrt() + 1e-8, value=-0.01)
        return p

    def case(*shape: int) -> list[torch.Tensor]:
        state = [normal(*shape, seed=k) for k in range(3)]
        return [*state, normal(*shape, seed=9).abs()]

    agree(step, case(30, 70), case(3, 5))


def test_a_tensor_rearranged_in_place_is_read_before_it_is_written() -> None:
    def rearranged(x: Any, places: Any) -> Any:
        x.copy_(x[places])
        return x * 2

    generator = torch.Generator().manual_seed(0)
    places = [torch.randint(0, n, (n,), generator=generator) for n in (40, 7)]
    agree(rearranged, [normal(40, 70), places[0]], [normal(7, 33), places[1]])


def test_the_place_of_an_extreme_in_a_single_line() -> None:
    def places(x: Any) -> Any:
        return x.abs().argmax().to(torch.int32) + 1, x.argmin()

    agree(places, [normal(2046)], [normal(7)], [normal(100_000)])


def test_a_fold_of_what_a_slice_leaves_needs_something_left() -> None:
    def middle(x: Any) -> Any:
        return x[:, 8:-8].mean(-1)

    agree(middle, [normal(60, 90)], [normal(3, 17)])
    planned = plan(captured(module_of(middle), [normal(60, 90)]), most=1)
    with pytest.raises(UsageError, match="folded has elements"):
        TwinProgram(lower(planned.variants[0].program)).launch({"x": normal(3, 16)}, mode="check")


def test_halves_that_meet_are_of_one_size() -> None:
    def gated(x: Any) -> Any:
        left, right = x.chunk(2, dim=-1)
        return functional.silu(left) * right

    planned = agree(gated, [normal(64, 130)], [normal(3, 14)])
    with pytest.raises(UsageError, match="of one size"):
        TwinProgram(lower(planned.variants[0].program)).launch({"x": normal(3, 7)}, mode="check")


def test_extents_that_only_this_example_makes_equal_are_required() -> None:
    def coloured(x: Any, bias: Any) -> Any:
        return functional.pixel_shuffle(x, 3) + bias[:, None, None]

    planned = agree(coloured, [normal(4, 27, 6, 10), normal(3)], [normal(2, 18, 3, 5), normal(2)])
    twin = TwinProgram(lower(planned.variants[0].program))
    with pytest.raises(UsageError, match="of one size"):
        twin.launch({"x": normal(2, 9, 3, 3), "bias": normal(9)}, mode="check")


# Scans


def test_running_sums_forwards_backwards_and_down() -> None:
    def scans(x: Any) -> Any:
        return x.cumsum(-1), x.flip(-1).cumsum(-1).flip(-1), x.cumsum(0)

    agree(scans, [normal(30, 3000)], [normal(5, 70)], loose=30.0)


@pytest.mark.parametrize("axis", [-1, 0])
def test_running_extremes_and_their_places(axis: int) -> None:
    def extremes(x: Any) -> Any:
        return *torch.cummax(x, axis), *torch.cummin(x, axis)

    def case(rows: int, cols: int) -> list[torch.Tensor]:
        x = normal(rows, cols).round()  # many are equal
        x[1, cols // 2 :: 7] = torch.nan
        x[2, ::5] = torch.inf
        return [x]

    agree(extremes, case(30, 3000), case(5, 70))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("axis", [-1, 0])
def test_running_sums_of_exponentials(axis: int, dtype: torch.dtype) -> None:
    def scanned(x: Any) -> Any:
        return torch.logcumsumexp(x, axis)

    def case(rows: int, cols: int) -> list[torch.Tensor]:
        x = normal(rows, cols) * 100.0  # exponentials overflow, and the first of them vanish
        x[1, :3] = -torch.inf
        x[2, 4:] = torch.inf
        x[3, 5] = torch.nan
        return [x.to(dtype)]

    agree(scanned, case(30, 700), case(5, 70), [normal(4, 1).to(dtype)])


def test_running_products_stay_in_order() -> None:
    def products(x: Any) -> Any:
        return x.cumprod(-1)

    def case(rows: int, cols: int) -> list[torch.Tensor]:
        # A part of the row overflows where the row does not.
        x = torch.ones(rows, cols)
        x[:, :9] = 1e-4
        x[:, 300:320] = 50.0
        x[:, 500:504] = 1e9
        x[:, 600:700] = 0.5
        return [x]

    agree(products, case(50, 3000), case(3, 900))


# Refusals


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: torch.linalg.inv(x @ x.T), "no plan for this operation"),
        (lambda x: torch.fft.fft(x).real, "no plan"),
    ],
)
def test_what_cannot_be_planned_is_named_with_its_node(function: Any, reason: str) -> None:
    graph = captured(module_of(function), [normal(8, 8)])
    with pytest.raises(PlanError, match=reason) as caught:
        plan(graph)
    assert "aten." in str(caught.value)
    assert "\n" not in str(caught.value)


def test_operations_refused_before_a_capture_have_no_rule() -> None:
    assert not CUBE & RULES.keys()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float64])
def test_elements_without_a_plan_are_named(dtype: torch.dtype) -> None:
    graph = captured(module_of(lambda x: x + x), [torch.ones(8, 8, dtype=dtype)])
    with pytest.raises(PlanError, match=str(dtype).removeprefix("torch.")):
        plan(graph)


def test_a_chain_that_is_too_long_is_refused_in_one_line() -> None:
    def repeated(x: Any) -> Any:
        for _ in range(400):
            x = torch.sin(x)
        return x[1:]

    with pytest.raises(PlanError, match="operations, too many of which"):
        plan(captured(module_of(repeated), [normal(4, 8)]), most=1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.double().cumsum(-1).float(),
        lambda x: x.double().sort(-1)[0].float(),
        lambda x: (x * 3).double().to(torch.int32),
        lambda x: (
            torch.outer(x[:, 0], torch.arange(0, 6, 2, dtype=torch.float64))
            .cos()
            .repeat_interleave(2, dim=1)
            .float()
        ),
    ],
    ids=["scanned", "sorted", "to an integer", "repeated"],
)
def test_values_of_double_precision_are_held_in_single_precision(function: Any) -> None:
    planned = agree(function, [normal(8, 70)], [normal(3, 5)])
    assert "float64" not in planned.variants[0].program


def test_a_result_of_double_precision_is_refused_where_values_of_it_are_not() -> None:
    graph = captured(module_of(lambda x: x.double().cumsum(-1)), [normal(8, 70)])
    with pytest.raises(PlanError, match="elements of type float64"):
        plan(graph)


def test_an_operator_may_be_named_like_its_second_kernel() -> None:
    def both_ways(x: Any) -> Any:
        return torch.softmax(torch.softmax(x, 0), 1)

    graph = captured(module_of(both_ways), [normal(512, 512)])
    program = plan(replace(graph, name="softmax_2"), most=1).variants[0].program
    assert program.count("@ascend_kernel") > 1
    assert lower(program).kernels


def test_few_rows_are_folded_in_a_tile_with_their_factors_read_apart() -> None:
    def mixed(x: Any, h: Any) -> Any:
        return (h.unsqueeze(-1) * x.unsqueeze(2)).sum(1)

    planned = agree(
        mixed,
        [normal(6, 4, 640), normal(6, 4, 4)],
        [normal(3, 4, 77), normal(3, 4, 4)],
    )
    assert "All rows of a few columns" in planned.variants[0].program


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_first_of_no_number_is_the_extreme(axis: int) -> None:
    def places(x: Any) -> Any:
        return x.argmax(axis), x.argmin(axis), x.max(axis)[1]

    x = normal(7, 19, 33)
    for value in (torch.inf, -torch.inf, torch.nan):
        spots = torch.randint(0, x.numel(), (60,), generator=torch.Generator().manual_seed(5))
        x.view(-1)[spots[torch.randperm(60)[:40]]] = value
    agree(places, [x], [normal(3, 5, 2)])


def test_a_result_that_reads_nothing_is_as_large_as_its_source_says() -> None:
    def constant(x: Any) -> Any:
        return torch.ones_like(torch.exp(x)) * 3

    planned = agree(constant, [normal(40, 33)], [normal(3, 5)])
    assert [operand.name for operand in planned.operands] == ["x", "y"]


def test_a_column_that_fits_only_without_its_helpers_is_folded_another_way() -> None:
    """The hyperbolic tangent needs several copies of a tile besides its operands."""

    def total(x: Any) -> Any:
        return torch.tanh(x).sum((1, 2))

    agree(total, [normal(5, 30, 6, 40)])


def test_rows_that_do_not_fit_with_all_their_values_are_cut() -> None:
    def gated(x: Any) -> Any:
        a, b = x.chunk(2, -1)
        u = torch.where(a > b, torch.tanh(a) * b, torch.exp(-b.abs()) + a)
        return torch.erf(u) * torch.sigmoid(a) + torch.sinh(b.clamp(-1, 1))

    agree(gated, [normal(3, 8000)])
