# SPDX-License-Identifier: Apache-2.0
"""Capture a module in the KernelBench form (`Model`, `get_inputs`, `get_init_inputs`).

The file is untrusted: it runs in the sandbox, with limits, and only its graph comes back.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.sandbox import Limits, Sandbox
from npuforge.spec.graph import Graph

_WORKER = Path(__file__).with_name("capture_worker.py")
_LIMITS = Limits(cpu_s=120.0, wall_s=300.0, memory_bytes=8 << 30)
_MOST_JSON = 64 << 20


def capture(file: Path, *, sandbox: Sandbox | None = None) -> Graph:
    """The graph of the module in `file`; `UsageError` says why there is none."""
    if not file.is_file():
        raise UsageError(f"no such file: {file}")
    source = file.resolve()
    with tempfile.TemporaryDirectory(prefix="npuforge-capture-") as place:
        scratch = Path(place)
        job = {"file": str(source), "name": source.stem}
        (scratch / "job.json").write_text(json.dumps(job), "utf-8")
        done = (sandbox or Sandbox.detect()).run(
            [sys.executable, "-s", "-B", _WORKER],
            scratch=scratch,
            readable=[_WORKER, Path(sys.prefix), Path(sys.base_prefix), source.parent],
            limits=_LIMITS,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        answer = scratch / "graph.json"
        if done.returncode != 0 or not answer.is_file() or answer.stat().st_size > _MOST_JSON:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            reason = done.killed_by or (lines[-1] if lines else f"status {done.returncode}")
            raise UsageError(f"{file.name} could not be captured: {reason}")
        return _graph(file.name, answer.read_bytes())


def _graph(name: str, text: bytes) -> Graph:
    try:
        answer: dict[str, Any] = msgspec.json.decode(text)
        if "error" in answer:
            raise UsageError(f"{name} could not be captured: {answer['error']}")
        return msgspec.convert(answer["graph"], Graph)
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError) as error:
        raise UsageError(f"{name} could not be captured: {error}") from None
