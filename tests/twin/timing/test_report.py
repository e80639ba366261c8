# SPDX-License-Identifier: Apache-2.0
"""Reports on simulated timelines: columns, bottleneck, roofline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npuforge.soc import load_soc
from npuforge.twin.timing.records import Pipe, Stream, StreamBuilder, repeated
from npuforge.twin.timing.report import TimingReport, build_report

GM = 1 << 34
SOC = load_soc("910b1")


def copy_compute_store(core: int, cycles: int, *, buffers: int, tiles: int = 32) -> Stream:
    """A tile loop of 32 KB copies; one buffer takes turns, two overlap."""
    head = StreamBuilder()
    rounds = StreamBuilder()
    for event in range(buffers):
        head.set_flag(Pipe.V, Pipe.MTE2, event).set_flag(Pipe.MTE3, Pipe.V, event)
        address = GM + (core << 26) + event * 32768
        rounds.wait_flag(Pipe.V, Pipe.MTE2, event).copy(Pipe.MTE2, address, 32768)
        rounds.set_flag(Pipe.MTE2, Pipe.V, event).wait_flag(Pipe.MTE2, Pipe.V, event)
        rounds.wait_flag(Pipe.MTE3, Pipe.V, event).vector(cycles)
        rounds.set_flag(Pipe.V, Pipe.MTE2, event).set_flag(Pipe.V, Pipe.MTE3, event)
        rounds.wait_flag(Pipe.V, Pipe.MTE3, event).copy(Pipe.MTE3, address + (1 << 40), 32768)
        rounds.set_flag(Pipe.MTE3, Pipe.V, event)
    loop = repeated(rounds.array(), tiles // buffers, buffers * 32768)
    return np.concatenate([head.array(), loop])


def report(run: Any, streams: list[Stream]) -> TimingReport:
    return build_report(run(streams), SOC)


def test_streaming_over_all_cores_is_memory_bound(run: Any) -> None:
    result = report(run, [copy_compute_store(c, 100, buffers=2) for c in range(48)])
    assert result.bottleneck.kind == "memory"
    assert "TB/s" in result.bottleneck.why
    assert result.roofline.share > 0.75


def test_much_arithmetic_is_vector_bound(run: Any) -> None:
    result = report(run, [copy_compute_store(c, 20_000, buffers=2) for c in range(48)])
    assert result.bottleneck.kind == "vector"
    assert result.roofline.share > 0.9


def test_one_buffer_is_bound_by_taking_turns(run: Any) -> None:
    result = report(run, [copy_compute_store(0, 500, buffers=1)])
    assert result.bottleneck.kind == "synchronisation"
    assert result.roofline.share < 0.1


def test_scalar_loops_are_scalar_bound(run: Any) -> None:
    body = StreamBuilder().copy(Pipe.MTE2, GM, 64).scalar(30_000).vector(30).array()
    assert report(run, [repeated(body, 20, 64)]).bottleneck.kind == "scalar"


def test_tiny_kernels_are_launch_bound(run: Any) -> None:
    stream = StreamBuilder().vector(30).array()
    assert report(run, [stream] * 48).bottleneck.kind == "launch"


def test_waiting_for_a_slow_core_is_synchronisation(run: Any) -> None:
    slow = StreamBuilder().vector(10).sync_all().vector(10).array()
    late = StreamBuilder().scalar(200_000).sync_all().array()
    assert report(run, [slow, late]).bottleneck.kind == "synchronisation"


def test_op_summary_columns(run: Any) -> None:
    result = report(run, [copy_compute_store(0, 500, buffers=2)])
    row = result.op_summary
    assert row["Block Dim"] == 1
    for column in ("vec", "scalar", "mte2", "mte3"):
        busy, ratio = row[f"aiv_{column}_time(us)"], row[f"aiv_{column}_ratio"]
        assert isinstance(busy, float)
        assert ratio == pytest.approx(busy / float(row["aiv_time(us)"]), abs=2e-3)
    assert float(row["aiv_vec_time(us)"]) == pytest.approx(32 * 500 / 1850, rel=0.01)
    assert not any(key.startswith("aic") for key in row)


def test_verdict_fields_are_those_of_the_contract(run: Any) -> None:
    fields = report(run, [copy_compute_store(0, 500, buffers=2)]).verdict_fields()
    assert set(fields) == {"time_us", "roofline", "bottleneck", "pipes"}
    assert set(fields["pipes"]) == {"S", "V", "MTE2", "MTE3"}
    assert 0 < fields["roofline"] <= 1
