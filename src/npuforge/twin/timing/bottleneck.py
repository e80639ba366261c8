# SPDX-License-Identifier: Apache-2.0
"""What limits a kernel, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from npuforge.soc import Soc

Kind = Literal["memory", "vector", "cube", "scalar", "synchronisation", "launch"]

# A pipe that is busy for this share of the longest core's time sets the pace.
_SATURATED = 0.75
# Below this, launching and entering the kernel are what the time consists of.
_LAUNCH_SHARE = 0.5
_CUBE_PIPES = ("M", "MTE1", "FIX")


@dataclass(frozen=True)
class Bottleneck:
    kind: Kind
    why: str


def find_bottleneck(summary: Mapping[str, Any], soc: Soc) -> Bottleneck:
    """Looks at the core that ends last: it decides how long the launch takes."""
    total = float(summary["total_us"])
    core = max(summary["cores"], key=lambda c: float(c["end_us"]))
    active = max(float(core["end_us"]) - float(core["start_us"]), 1e-9)
    prologue = soc.number("launch.prologue_us")
    overhead = total - active + prologue
    if overhead > _LAUNCH_SHARE * total:
        return Bottleneck(
            "launch",
            f"{overhead:.1f} of {total:.1f} us are launch, start skew over "
            f"{summary['block_num']} blocks and kernel entry; more work per launch or fewer "
            "blocks would help",
        )
    waiting = float(core["sync_us"])
    busy = {name: float(use["busy_us"]) for name, use in core["pipes"].items()}
    busy["S"] = max(0.0, busy.get("S", 0.0) - prologue)
    transfer = max(busy.get("MTE2", 0.0), busy.get("MTE3", 0.0))
    cube = max((busy.get(pipe, 0.0) for pipe in _CUBE_PIPES), default=0.0)
    candidates: dict[Kind, float] = {
        "memory": transfer,
        "vector": busy.get("V", 0.0),
        "cube": cube,
        "scalar": busy["S"],
    }
    if waiting > max(candidates.values()):
        return Bottleneck(
            "synchronisation",
            f"the last core waits {waiting:.1f} of {active:.1f} us for other cores",
        )
    kind = max(candidates, key=lambda name: candidates[name])
    share = candidates[kind] / active
    if share < _SATURATED:
        return _unsaturated(core, kind, share, active)
    if kind == "memory":
        return Bottleneck(kind, _explain_memory(share, summary, core, soc))
    unit = {"vector": "vector pipe is", "cube": "cube pipes are"}.get(kind, "scalar unit is")
    return Bottleneck(kind, f"the {unit} busy {share:.0%} of the time; transfers hide behind it")


def _unsaturated(core: Mapping[str, Any], kind: Kind, share: float, active: float) -> Bottleneck:
    """No pipe is busy all the time: they wait for each other, or for the scalar unit to issue."""
    waits = {name: float(use["wait_us"]) for name, use in core["pipes"].items() if name != "S"}
    if kind == "scalar":
        return Bottleneck(
            "scalar", f"the scalar unit is busy {share:.0%} of the time and issues too slowly"
        )
    if not waits or max(waits.values()) < 0.1 * active:
        return Bottleneck(
            kind, f"the {kind} pipes are busy {share:.0%} of the time, more than any other"
        )
    blocked = max(waits, key=lambda name: waits[name])
    return Bottleneck(
        "synchronisation",
        f"no pipe is busy more than {share:.0%} of the time; {blocked} waits "
        f"{waits[blocked]:.1f} of {active:.1f} us for flags: copies and computation take turns "
        "instead of overlapping (double buffering, larger tiles)",
    )


def _explain_memory(
    share: float, summary: Mapping[str, Any], core: Mapping[str, Any], soc: Soc
) -> str:
    seconds = max(float(summary["total_us"]) - float(summary["launch_us"]), 1e-9) * 1e-6
    hbm = (int(summary["hbm_read_bytes"]) + int(summary["hbm_write_bytes"])) / seconds / 1e12
    peak = soc.hbm_gbps / 1e3
    moved = int(summary["gm_read_bytes"]) + int(summary["gm_write_bytes"])
    copies = sum(
        int(core["pipes"].get(pipe, {}).get("instructions", 0)) for pipe in ("MTE2", "MTE3")
    )
    per_copy = (int(core["read_bytes"]) + int(core["written_bytes"])) / max(copies, 1)
    text = f"transfers are busy {share:.0%} of the time, HBM carries {hbm:.2f} of {peak:.2f} TB/s"
    if hbm < 0.7 * peak and per_copy < 16384:
        text += f"; copies of {per_copy / 1024:.1f} KB are too small to fill it (16 KB or more)"
    elif moved > 1.5 * (
        int(summary["footprint_read_bytes"]) + int(summary["footprint_write_bytes"])
    ):
        text += "; data is moved more than once"
    return text
