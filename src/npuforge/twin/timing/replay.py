# SPDX-License-Identifier: Apache-2.0
"""Runs the timeline simulator on recorded streams, outside any kernel."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from npuforge.errors import ToolchainError, UsageError
from npuforge.keys import keyless
from npuforge.scratch import scratch_folder
from npuforge.soc import Soc, constants_text
from npuforge.twin.recipes import CPP_ROOT, RUNTIME_LIBRARY
from npuforge.twin.timing.records import Stream, write_recording
from npuforge.twin.toolchain import Toolchain

_SOURCE = CPP_ROOT / "runtime" / "tools" / "timeline_replay.cpp"


def build_replay(folder: Path) -> Path:
    """Compiles the replay tool into `folder` and returns its path: the simulator is the runtime
    library's own."""
    toolchain = Toolchain.find()
    library = toolchain.runtime()
    tool = folder / "timeline_replay"
    command = [*toolchain.compiler.command, "-std=gnu++20", "-O2", str(_SOURCE), "-o", str(tool)]
    command += [f"-L{library}", f"-l{RUNTIME_LIBRARY}", f"-Wl,-rpath,{library}"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, env=keyless())
    if result.returncode != 0:
        raise ToolchainError(f"the replay tool does not compile: {result.stderr[:500]}")
    return tool


def replay(
    tool: Path,
    soc: Soc,
    streams: Sequence[Stream],
    *,
    op_names: Sequence[str] = (),
    kind: Literal["vector", "cube", "mix"] = "vector",
    l2: Literal["cold", "warm"] = "cold",
    kernel: str = "kernel",
    trace: Path | None = None,
    trace_cores: int = 4,
) -> dict[str, Any]:
    """The simulator's summary of `streams` on `soc` (the JSON of `write_summary`)."""
    with scratch_folder("work") as scratch:
        constants = scratch / "constants"
        recording = scratch / "recording"
        constants.write_text(constants_text(soc), "utf-8")
        write_recording(recording, streams, op_names)
        command = [str(tool), str(constants), str(recording), "--type", kind, "--l2", l2]
        command += ["--kernel", kernel]
        if trace is not None:
            command += ["--trace", str(trace), "--trace-cores", str(trace_cores)]
        result = subprocess.run(command, check=False, capture_output=True, text=True, env=keyless())
    if result.returncode != 0:
        raise UsageError(result.stderr.strip() or "the replay tool failed")
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary
