# SPDX-License-Identifier: Apache-2.0
"""The simulator on small streams whose time can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.soc import load_soc
from npuforge.twin.timing.records import (
    BYPASS_L2,
    CrossMode,
    Pipe,
    Stream,
    StreamBuilder,
    repeated,
)
from npuforge.twin.timing.replay import replay

GM = 1 << 34
MHZ = 1850.0


def span(summary: dict[str, Any], core: int = 0) -> float:
    times = summary["cores"][core]
    return float(times["end_us"] - times["start_us"])


def test_vector_instructions_follow_each_other(run: Any) -> None:
    one = span(run([StreamBuilder().vector(1000).array()]))
    two = span(run([StreamBuilder().vector(1000).vector(1000).array()]))
    assert two - one == pytest.approx(1000 / MHZ, abs=0.01)


def test_pipes_run_beside_each_other(run: Any) -> None:
    both = StreamBuilder().vector(5000).execute(Pipe.M, 5000, "Mmad").array()
    alone = StreamBuilder().vector(5000).array()
    assert span(run([both])) - span(run([alone])) < 0.2


def test_a_flag_makes_the_consumer_wait(run: Any) -> None:
    ordered = StreamBuilder().execute(Pipe.MTE1, 4000, "LoadData")
    ordered.set_flag(Pipe.MTE1, Pipe.V).wait_flag(Pipe.MTE1, Pipe.V).vector(4000)
    summary = run([ordered.array()])
    assert span(summary) > 8000 / MHZ
    waited = summary["cores"][0]["pipes"]["V"]["wait_us"]
    assert waited == pytest.approx(4000 / MHZ, rel=0.05)


def test_a_flag_set_after_its_wait_in_program_order_still_releases(run: Any) -> None:
    b = StreamBuilder().wait_flag(Pipe.V, Pipe.MTE1).execute(Pipe.MTE1, 10, "LoadData")
    b.vector(3000).set_flag(Pipe.V, Pipe.MTE1)
    assert run([b.array()])["stall"] is None


def test_a_wait_that_nothing_satisfies_is_reported(run: Any) -> None:
    summary = run([StreamBuilder().wait_flag(Pipe.MTE2, Pipe.V, 3).vector(10).array()])
    assert "pipe V for flag 3" in summary["stall"]


def test_barrier_all_drains_every_pipe(run: Any) -> None:
    b = StreamBuilder().copy(Pipe.MTE2, GM, 65536).vector(9000).barrier().vector(9000)
    assert span(run([b.array()])) > 18000 / MHZ


def test_a_full_queue_stops_the_scalar_unit(run: Any) -> None:
    body = StreamBuilder(issue_cycles=1).vector(500).array()
    scalar = run([repeated(body, 100, 0)])["cores"][0]["pipes"]["S"]
    assert scalar["wait_us"] > 60 * 500 / MHZ


def test_latency_differs_between_l2_and_hbm(run: Any) -> None:
    b = StreamBuilder().copy(Pipe.MTE2, GM, 128).set_flag(Pipe.MTE2, Pipe.S)
    body = b.wait_flag(Pipe.MTE2, Pipe.S).array()
    hit = run([repeated(body, 1001, 0)])["cores"][0]["pipes"]["MTE2"]["busy_us"]
    miss = run([repeated(body, 1001, 8192)])["cores"][0]["pipes"]["MTE2"]["busy_us"]
    assert 0.100 < hit / 1001 < 0.135
    assert 0.225 < miss / 1001 < 0.26


def test_warm_l2_is_faster_than_cold(run: Any) -> None:
    cores = []
    for core in range(48):
        body = StreamBuilder().copy(Pipe.MTE2, GM + (core << 22), 32768).array()
        cores.append(repeated(body, 100, 32768))
    assert run(cores, l2="warm")["total_us"] < 0.5 * run(cores, l2="cold")["total_us"]


def test_more_than_the_l2_holds_is_fetched_again(run: Any) -> None:
    def rounds(mib: int) -> dict[str, Any]:
        body = StreamBuilder().copy(Pipe.MTE2, GM, 1 << 16).array()
        once = repeated(body, mib * 16, 1 << 16)
        summary: dict[str, Any] = run([repeated(once, 2, 0)])
        return summary

    assert rounds(64)["hbm_read_bytes"] == 64 << 20
    assert rounds(256)["hbm_read_bytes"] == 512 << 20
    assert rounds(256)["footprint_read_bytes"] == 256 << 20


def test_written_data_stays_in_the_l2_until_pushed_out(run: Any) -> None:
    def written(mib: int) -> int:
        body = StreamBuilder().copy(Pipe.MTE3, GM, 1 << 16).array()
        return int(run([repeated(body, mib * 16, 1 << 16)])["hbm_write_bytes"])

    assert written(128) == 0
    assert written(256) == 64 << 20


def test_bypassing_reads_leave_no_trace_in_the_l2(run: Any) -> None:
    body = StreamBuilder().copy(Pipe.MTE2, GM, 65536, flags=BYPASS_L2).array()
    assert run([repeated(body, 10, 0)])["l2_read_hit_bytes"] == 0


def test_cores_share_hbm_fairly(run: Any) -> None:
    def reader(core: int) -> Stream:
        body = StreamBuilder().copy(Pipe.MTE2, GM + (core << 26), 32768).array()
        return repeated(body, 64, 32768)

    alone = span(run([reader(0)]))
    many = run([reader(core) for core in range(48)])
    spans = [span(many, core) for core in range(48)]
    assert max(spans) < 1.1 * min(spans)
    assert min(spans) > 2 * alone
    bandwidth = 48 * 64 * 32768 / (many["total_us"] * 1e3)
    assert bandwidth < load_soc("910b1").hbm_gbps


def test_misaligned_rows_cost_more(run: Any) -> None:
    def rows(address: int) -> float:
        cores = []
        for core in range(48):
            b = StreamBuilder()
            b.copy(Pipe.MTE2, address + (core << 26), 2048, rows=64, stride=24576)
            cores.append(repeated(b.array(), 16, 64 * 24576))
        return float(run(cores)["total_us"])

    assert rows(GM + 2) > 1.15 * rows(GM)


def test_blocks_beyond_the_cores_run_in_waves(run: Any) -> None:
    stream = StreamBuilder().vector(50_000).array()
    one_wave = run([stream] * 48)["total_us"]
    two_waves = run([stream] * 49)["total_us"]
    assert two_waves > one_wave + 50_000 / MHZ * 0.9


def test_sync_all_holds_everyone_until_the_last(run: Any) -> None:
    slow = StreamBuilder().vector(100_000).sync_all().vector(10).array()
    fast = StreamBuilder().vector(10).sync_all().vector(10).array()
    summary = run([fast, slow, fast])
    assert summary["cores"][0]["end_us"] > 100_000 / MHZ
    assert summary["cores"][0]["sync_us"] > 0.9 * 100_000 / MHZ


def test_sync_all_with_more_blocks_than_cores_stalls(run: Any) -> None:
    stream = StreamBuilder().sync_all().array()
    assert run([stream] * 49)["stall"] is not None


def test_cross_core_flags_link_cube_and_vectors(run: Any) -> None:
    cube = StreamBuilder().execute(Pipe.FIX, 20_000, "Fixpipe")
    cube.cross_set(Pipe.FIX, 4, CrossMode.GROUP).cross_wait(Pipe.MTE2, 5, CrossMode.GROUP)
    vector = StreamBuilder().cross_wait(Pipe.MTE2, 4, CrossMode.GROUP)
    vector.copy(Pipe.MTE2, GM, 1024).cross_set(Pipe.MTE2, 5, CrossMode.GROUP)
    summary = run([cube.array(), vector.array(), vector.array()], kind="mix")
    assert summary["stall"] is None
    assert [core["cube"] for core in summary["cores"]] == [True, False, False]
    assert summary["cores"][1]["end_us"] > 20_000 / MHZ
    assert summary["cores"][0]["end_us"] > summary["cores"][1]["end_us"]


def test_tokens_pair_one_set_with_one_wait(run: Any) -> None:
    first = StreamBuilder().vector(9000).cross_set(Pipe.V, 0, CrossMode.TOKEN, token=7).array()
    second = StreamBuilder().cross_wait(Pipe.V, 0, CrossMode.TOKEN, token=7).vector(10)
    assert run([first, second.array()])["stall"] is None
    twice = second.cross_wait(Pipe.V, 0, CrossMode.TOKEN, token=7).array()
    assert run([first, twice])["stall"] is not None


def test_scalar_loads_hit_the_data_cache_the_second_time(run: Any) -> None:
    def loads(step: int) -> float:
        b = StreamBuilder()
        for i in range(200):
            b.scalar(1, address=GM + i * step, load_bytes=4)
        return span(run([b.array()]))

    assert loads(4096) > 5 * loads(0)


def test_trace_has_named_tracks_and_paired_arrows(run: Any, tmp_path: Path) -> None:
    b = StreamBuilder().copy(Pipe.MTE2, GM, 4096).set_flag(Pipe.MTE2, Pipe.V)
    b.wait_flag(Pipe.MTE2, Pipe.V).vector(100, "Exp")
    path = tmp_path / "trace.json"
    run([b.array()] * 3, trace=path, trace_cores=2, op_names=b.op_names)
    events = json.loads(path.read_text())["traceEvents"]
    processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert processes == {"core0.veccore0", "core0.veccore1"}
    tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"SCALAR", "VECTOR", "MTE2"} <= tracks
    assert [e["name"] for e in events if e["ph"] == "X" and e["tid"] == Pipe.V] == ["Exp"] * 2
    copies = [e for e in events if e["ph"] == "X" and e["tid"] == Pipe.MTE2]
    assert all(e["args"]["bytes"] == 4096 for e in copies)
    starts = [e["id"] for e in events if e["ph"] == "s"]
    assert len(starts) == 2
    assert starts == [e["id"] for e in events if e["ph"] == "f"]


def test_a_broken_recording_is_one_clear_line(replay_tool: Path) -> None:
    stream = StreamBuilder().vector(1).array()
    stream["kind"] = 99
    with pytest.raises(UsageError, match="not a record"):
        replay(replay_tool, load_soc("910b1"), [stream])


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["v", "in", "out"]), st.integers(1, 20_000)),
        min_size=1,
        max_size=30,
    )
)
def test_busy_time_never_exceeds_the_core_time(run: Any, steps: list[tuple[str, int]]) -> None:
    b = StreamBuilder()
    for kind, size in steps:
        if kind == "v":
            b.vector(size)
        else:
            b.copy(Pipe.MTE2 if kind == "in" else Pipe.MTE3, GM + size, size)
    summary = run([b.array()] * 2)
    for core in summary["cores"]:
        for use in core["pipes"].values():
            assert use["busy_us"] <= core["end_us"] - core["start_us"] + 1e-3
    assert summary["total_us"] >= max(core["end_us"] for core in summary["cores"])
