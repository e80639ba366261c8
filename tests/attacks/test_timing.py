# SPDX-License-Identifier: Apache-2.0
"""Attacks by the times that a kernel's process reports: within their bounds, but absurd."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import msgspec
import pytest

from npuforge.sandbox.messages import decode
from npuforge.sandbox.shared_folder import HostileFileError
from npuforge.soc.data import load_soc
from npuforge.twin.session_result import RawResult, RawTiming
from npuforge.twin.timing.report import build_report

_NUMBERS = (0, 1, 5e-324, 1e12, 0.5)
_BYTES = (0, 1, 1 << 60)
_PIPES = ("S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX")


def _timing(chance: random.Random) -> dict[str, Any]:
    times = ("launch_us", "skew_us")
    counts = (
        "gm_read_bytes", "gm_write_bytes", "l2_read_hit_bytes", "hbm_read_bytes",
        "hbm_write_bytes", "footprint_read_bytes", "footprint_write_bytes",
    )  # fmt: skip
    return {
        "kernel": chance.choice(["", "k", "x" * 1000]),
        "block_num": chance.choice([1, 1 << 20]),
        "clock_mhz": chance.choice([1, 1e6]),
        "stall": chance.choice([None, "", "deadlock"]),
        "total_us": chance.choice([1e-6, 1.0, 1e12]),
        **{name: chance.choice([*_NUMBERS, -1e12]) for name in times},
        **{name: chance.choice(_BYTES) for name in counts},
        "cores": [_core(chance) for _ in range(chance.choice([1, 3]))],
    }


def _core(chance: random.Random) -> dict[str, Any]:
    use = ("busy_us", "wait_us")
    pipes = chance.sample(_PIPES, chance.randrange(len(_PIPES) + 1))
    return {
        "cube": chance.random() < 0.5,
        **{name: chance.choice([*_NUMBERS, -1e12]) for name in ("start_us", "end_us", "sync_us")},
        "read_bytes": chance.choice(_BYTES),
        "written_bytes": chance.choice(_BYTES),
        "pipes": {
            pipe: {
                **{name: chance.choice([*_NUMBERS, -1e12]) for name in use},
                "instructions": chance.choice([0, 1, (1 << 63) - 1]),
            }
            for pipe in pipes
        },
    }


@pytest.mark.parametrize("soc", ["910b2"])
def test_absurd_times_are_finite_figures(soc: str) -> None:
    chip, chance = load_soc(soc), random.Random(0)
    for _ in range(3000):
        timing = decode(msgspec.json.encode(_timing(chance)), RawTiming, "the times")
        report = build_report(msgspec.to_builtins(timing), chip)
        fields = report.verdict_fields()
        numbers = itertools.chain(
            [fields["time_us"], fields["roofline"]],
            fields["pipes"].values(),
            (value for value in report.op_summary.values() if isinstance(value, float)),
        )
        assert all(math.isfinite(value) for value in numbers), timing


@pytest.mark.parametrize("field", ["clock_mhz", "block_num"])
def test_a_chip_that_stands_still_is_no_result(field: str) -> None:
    timing = {**_timing(random.Random(0)), field: 0}
    with pytest.raises(HostileFileError):
        decode(msgspec.json.encode(timing), RawTiming, "the times")


def test_findings_without_end_are_no_result() -> None:
    finding = {"rule": "MEM-01", "message": "m"}
    told = {"error": "", "launches": [], "findings": [finding] * 600_000}
    with pytest.raises(HostileFileError, match="length <= 1000"):
        decode(msgspec.json.encode(told), RawResult, "the result")
