# SPDX-License-Identifier: Apache-2.0
"""What a timeline means: columns as msprof's `op_summary` names them, bottleneck, roofline.

`build_report` takes the simulator's summary (a dictionary, see `timeline_output.cpp`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npuforge.soc import Soc
from npuforge.twin.timing.bottleneck import Bottleneck, find_bottleneck
from npuforge.twin.timing.roofline import Roofline, find_roofline

# Pipe of the simulator -> what op_summary calls it, for vector and for cube cores.
_AIV_COLUMNS = {"V": "vec", "S": "scalar", "MTE2": "mte2", "MTE3": "mte3"}
_AIC_COLUMNS = {
    "M": "mac",
    "S": "scalar",
    "MTE1": "mte1",
    "MTE2": "mte2",
    "FIX": "fixpipe",
}


_LEAST_US = 1e-6  # a picosecond: shorter times are a process's invention


@dataclass(frozen=True)
class PipeTimes:
    """Mean over the cores that used the pipe, in microseconds."""

    busy_us: float
    wait_us: float
    instructions: float


@dataclass(frozen=True)
class TimingReport:
    """Everything the verdict and the command line say about time."""

    time_us: float
    pipes: Mapping[str, PipeTimes]
    bottleneck: Bottleneck
    roofline: Roofline
    op_summary: Mapping[str, float | int | str]
    stall: str | None

    def verdict_fields(self) -> dict[str, Any]:
        """The fields of the verdict that are about time."""
        return {
            "time_us": round(self.time_us, 3),
            "roofline": round(self.roofline.share, 4),
            "bottleneck": self.bottleneck.kind,
            "pipes": {name: round(times.busy_us, 3) for name, times in self.pipes.items()},
        }


def build_report(summary: Mapping[str, Any], soc: Soc) -> TimingReport:
    """Reads a simulator summary; `summary["stall"]` set means the time is only a lower bound."""
    pipes = _mean_pipes(summary["cores"])
    roofline = find_roofline(summary, soc)
    return TimingReport(
        time_us=float(summary["total_us"]),
        pipes=pipes,
        bottleneck=find_bottleneck(summary, soc),
        roofline=roofline,
        op_summary=_op_summary(summary),
        stall=summary["stall"],
    )


def _mean_pipes(cores: Sequence[Mapping[str, Any]]) -> dict[str, PipeTimes]:
    """Cores without work on a pipe count as zero, as msprof's means do."""
    names = [name for name in ("S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX") if _used(cores, name)]
    result = {}
    for name in names:
        uses = [core["pipes"].get(name, {}) for core in cores if _has_pipe(core, name)]
        result[name] = PipeTimes(
            busy_us=_mean(uses, "busy_us"),
            wait_us=_mean(uses, "wait_us"),
            instructions=_mean(uses, "instructions"),
        )
    return result


def _used(cores: Sequence[Mapping[str, Any]], name: str) -> bool:
    return any(name in core["pipes"] for core in cores)


def _has_pipe(core: Mapping[str, Any], name: str) -> bool:
    columns = _AIC_COLUMNS if core["cube"] else _AIV_COLUMNS
    return name in columns


def _mean(uses: Sequence[Mapping[str, Any]], field: str) -> float:
    return sum(float(use.get(field, 0.0)) for use in uses) / len(uses) if uses else 0.0


def _op_summary(summary: Mapping[str, Any]) -> dict[str, float | int | str]:
    """One row in the vocabulary of msprof's op_summary."""
    row: dict[str, float | int | str] = {
        "Op Name": str(summary["kernel"]),
        "Task Duration(us)": round(float(summary["total_us"]), 3),
        "Block Dim": int(summary["block_num"]),
    }
    for prefix, cube, columns in (("aiv", False, _AIV_COLUMNS), ("aic", True, _AIC_COLUMNS)):
        cores = [core for core in summary["cores"] if core["cube"] == cube]
        if not cores:
            continue
        core_us = sum(core["end_us"] - core["start_us"] for core in cores) / len(cores)
        row["aicore_time(us)" if cube else "aiv_time(us)"] = round(core_us, 3)
        cycles = core_us * len(cores) * float(summary["clock_mhz"])
        row[f"{prefix}_total_cycles"] = round(cycles)
        for pipe, column in columns.items():
            busy = _mean([core["pipes"].get(pipe, {}) for core in cores], "busy_us")
            row[f"{prefix}_{column}_time(us)"] = round(busy, 3)
            row[f"{prefix}_{column}_ratio"] = (
                round(busy / core_us, 3) if core_us > _LEAST_US else 0.0
            )
    return row
