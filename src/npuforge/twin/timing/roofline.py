# SPDX-License-Identifier: Apache-2.0
"""The least time any kernel could need for this launch's bytes and vector work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npuforge.soc import Soc


@dataclass(frozen=True)
class Roofline:
    """`share` is best_us over the modelled time: 1 means nothing is left to gain."""

    best_us: float
    memory_us: float
    compute_us: float
    launch_us: float
    share: float


def find_roofline(summary: Mapping[str, Any], soc: Soc) -> Roofline:
    """Every distinct byte moves once at peak bandwidth, on all cores, beside the vector (and cube)
    work spread evenly over all cores; the cost of a launch with one block is unavoidable."""
    memory = _memory_us(summary, soc)
    compute = max(_spread(summary, soc, "V"), _spread(summary, soc, "M"))
    launch = float(summary["launch_us"])
    best = launch + max(memory, compute)
    total = float(summary["total_us"])
    share = min(1.0, best / total) if total > 0 else 0.0
    return Roofline(best, memory, compute, launch, share)


def _memory_us(summary: Mapping[str, Any], soc: Soc) -> float:
    """Inputs that were in the L2 from the start need not come from HBM, and output that fits into
    the L2 beside them need not have gone there yet."""
    fetched = min(int(summary["footprint_read_bytes"]), int(summary["hbm_read_bytes"]))
    written_back = max(0, int(summary["footprint_write_bytes"]) - int(soc.number("l2.bytes")))
    everything = int(summary["footprint_read_bytes"]) + int(summary["footprint_write_bytes"])
    hbm_us = fetched / (soc.hbm_gbps * 1e3) + written_back / (soc.number("hbm.write_gbps") * 1e3)
    return max(hbm_us, everything / (soc.l2_gbps * 1e3))


def _spread(summary: Mapping[str, Any], soc: Soc, pipe: str) -> float:
    cores = soc.aic_cores if pipe == "M" else soc.aiv_cores
    busy = sum(float(core["pipes"].get(pipe, {}).get("busy_us", 0.0)) for core in summary["cores"])
    return busy / cores
