# SPDX-License-Identifier: Apache-2.0
"""Eager PyTorch's time: looked up by shapes, carried over by the model, or modelled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.eager import baseline, compared, measured
from npuforge.eager.kernels import Kernel, base_name, kernels
from npuforge.eager.model import memory_us, modelled
from npuforge.eager.parameters import load
from npuforge.eager.table import rows, write
from npuforge.spec.graph import EagerOp, EagerTensor, Graph
from npuforge.verdict import Verdict

CHIP = load().machines["910b2"]


def tensor(*shape: int, dtype: str = "float32", contiguous: bool = True) -> EagerTensor:
    return EagerTensor(shape, dtype, contiguous)


def unary(name: str, *shape: int, dtype: str = "float32") -> EagerOp:
    kind = tensor(*shape, dtype=dtype)
    return EagerOp(f"aten.{name}.default", [kind], [kind], [None])


def graph(*operations: EagerOp, name: str = "task") -> Graph:
    return Graph(name, [], [], [], [], {}, list(operations))


def test_a_measured_time_needs_the_shapes_and_types_it_was_measured_at() -> None:
    assert measured("relu", [[16, 16384]], ["float32"]) == 2.94
    assert measured("level1/19_ReLU", [[16, 16384]], ["float32"]) == 2.94
    assert measured("relu", [[4096, 393216]], ["float32"]) is None
    assert measured("relu", [[16, 16384]], ["float16"]) is None
    assert measured("absent", [[16, 16384]], ["float32"]) is None


def test_every_published_figure_is_there() -> None:
    suites = [row.suite for row in rows()]
    assert (suites.count("kernelbench"), suites.count("cannbench")) == (229, 922)
    assert all(row.us > 0 for row in rows())


def test_rows_are_read_as_they_are_written(tmp_path: Path) -> None:
    table = [row for row in rows() if row.alias in ("softmax", "cumsum_exclusive", "hinge_loss")]
    assert len(table) == 3
    write(tmp_path / "out.csv", table)
    lines = (tmp_path / "out.csv").read_text("utf-8")
    original = (Path(__file__).parents[2] / "src/npuforge/eager/measured.csv").read_text("utf-8")
    assert all(line in original for line in lines.splitlines())


def test_the_same_operations_at_the_same_shapes_are_measured() -> None:
    found = baseline(graph(unary("relu", 16, 16384)))
    assert found is not None
    assert (found.us, found.source) == (2.94, "measured")
    assert "these shapes" in found.detail


def test_a_name_alone_proves_nothing() -> None:
    found = baseline(graph(unary("relu", 16, 16384), unary("neg", 16, 16384), name="relu"))
    assert found is not None
    assert found.source == "modelled"


def test_other_shapes_are_scaled_from_the_nearest_measurement() -> None:
    found = baseline(graph(unary("sigmoid", 4096, 393216)))
    assert found is not None
    assert found.source == "scaled"
    assert "8192x8192" in found.detail  # of the measured shapes, the one closest in size
    assert found.us == pytest.approx(12.9e9 / 1.4e6, rel=0.1)


def test_a_measurement_that_is_mostly_launch_does_not_set_the_rate() -> None:
    """HardTanh takes 2.7 times as long as ReLU at 2 MB; both stream gigabytes alike."""
    wide = [unary(name, 4096, 393216) for name in ("relu", "hardtanh")]
    slow = replace(wide[1], args=[None, -1.0, 1.0])
    relu, hardtanh = baseline(graph(wide[0])), baseline(graph(slow))
    assert relu is not None
    assert hardtanh is not None
    assert hardtanh.us == pytest.approx(relu.us, rel=0.1)


def test_figures_of_a_machine_with_slower_memory_are_carried_over() -> None:
    row = next(row for row in rows() if row.alias == "group_norm" and row.operations)
    found = baseline(graph(*row.operations))
    assert found is not None
    assert found.source == "scaled"
    assert found.us < 0.7 * row.us


def test_a_chip_without_figures_has_no_baseline() -> None:
    assert baseline(graph(unary("relu", 16, 16384)), "910b4") is None
    assert baseline(graph()) is None


def test_views_are_free_and_strided_inputs_are_copied() -> None:
    view = EagerOp("aten.t.default", [tensor(64, 32)], [tensor(32, 64)], [None])
    assert kernels(view, load(), 48) == []
    strided = EagerOp(
        "aten.exp.default", [tensor(64, 32, contiguous=False)], [tensor(64, 32)], [None]
    )
    assert [kernel.kind for kernel in kernels(strided, load(), 48)] == ["copy", "function"]


def test_the_axis_decides_the_class() -> None:
    def largest(axis: int) -> str:
        source, result = tensor(16, 256, 256), tensor(16, 256)
        entry = EagerOp("aten.max.dim", [source], [result, result], [None, axis, False])
        return kernels(entry, load(), 48)[0].kind

    assert largest(2) == largest(-1) == "extremum"
    assert largest(1) == largest(-2) == "extremum_outer"


def test_updates_in_place_cost_what_the_operation_costs() -> None:
    assert base_name("aten.add_.Tensor") == "add"
    assert base_name("aten.mul.Tensor") == "mul"


def test_unknown_operations_are_named() -> None:
    found = baseline(graph(unary("frobnicate", 1024)))
    assert found is not None
    assert "frobnicate" in found.detail


@given(st.integers(1, 1 << 16), st.integers(1, 1 << 12), st.sampled_from(sorted(load().kinds)))
def test_larger_tensors_never_take_less(rows_of: int, columns: int, name: str) -> None:
    """Twice the rows cost at least as much, for every operation the model knows."""
    if load().class_of(name).unit == "macs" or name in ("native_group_norm", "native_layer_norm"):
        return  # their work follows from further arguments
    small, large = (
        modelled([replace(unary(name, count, columns), args=[None, 1])], load(), CHIP)
        for count in (rows_of, 2 * rows_of)
    )
    assert large.us >= small.us > 0


@given(st.floats(0, 1e11), st.floats(0, 1e11), st.booleans())
def test_memory_time_is_monotone(first: float, second: float, writes: bool) -> None:
    low, high = (
        memory_us(Kernel("light", 1.0, moved, moved if writes else 0.0), load(), CHIP)
        for moved in sorted((first, second))
    )
    assert low <= high


def test_work_follows_cores_and_clock() -> None:
    other = replace(CHIP, cores=24, mhz=900)
    scan = [EagerOp("aten.cumprod.default", [tensor(8, 4096)], [tensor(8, 4096)], [None, 1])]
    here, there = (modelled(scan, load(), machine) for machine in (CHIP, other))
    assert 1.9 < there.work_us / here.work_us < 4.1
    assert there.launch_us == here.launch_us


def test_every_class_that_is_referred_to_exists() -> None:
    parameters = load()
    for kind in parameters.classes.values():
        for other in (kind.outer, kind.relayout):
            assert other is None or other in parameters.classes
        assert kind.launch_us > 0
        assert kind.ns > 0
    ops = [op for kind in parameters.classes.values() for op in kind.ops]
    assert len(ops) == len(set(ops))
    assert not parameters.free & set(ops)


def test_a_verdict_with_a_time_gets_a_speedup() -> None:
    known = baseline(graph(unary("relu", 16, 16384)))
    verdict = compared(Verdict("relu", time_us=1.47), known)
    assert verdict.speedup == pytest.approx(2.0)
    assert verdict.baseline_source == "measured"
    assert compared(Verdict("relu"), known).speedup is None
    assert compared(Verdict("relu"), None).baseline_us is None


def test_operations_of_a_row_survive_the_file() -> None:
    row = next(row for row in rows() if row.alias == "softmax")
    assert row.operations[0].op == "aten._softmax.default"
    assert row.operations[0].args[1] == 1
