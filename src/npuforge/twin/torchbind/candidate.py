# SPDX-License-Identifier: Apache-2.0
"""Runs a candidate model in the sandbox and serves its operator calls from outside of it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from npuforge.dtypes import HostTensor
from npuforge.printable import one_line
from npuforge.sandbox import GIB, Completed, Limits, Sandbox
from npuforge.sandbox.messages import Text, read
from npuforge.sandbox.python import interpreter
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.torchbind import conduct
from npuforge.twin.torchbind.server import CallServer, Service

_WORKER = Path(__file__).with_name("worker.py")
_FAILURE = "failure.json"
_MOST_FAILURE = 1 << 18
# A model with torch: threads of the allocator and the interpreter, and room for the tensors.
LIMITS = Limits(cpu_s=300, wall_s=600, memory_bytes=12 * GIB, processes=8)


@dataclass(slots=True)
class CandidateResult:
    """Every operator call in order, and why the worker stopped early if it did.

    `record` is what a model did and `outputs` what it returned in each case; `forged` says how they
    are not the worker's own.
    """

    calls: list[tuple[str, RunResult]] = field(default_factory=list)
    error: str | None = None
    record: conduct.Record | None = None
    outputs: list[list[HostTensor]] = field(default_factory=list)
    forged: str | None = None
    isolation: str = ""
    completed: Completed | None = None


def run_job(
    job: Mapping[str, Any],
    folder: SharedFolder,
    extensions: Mapping[str, Path],
    operators: Mapping[str, OperatorSource],
    mode: Mode = "check",
    readable: Sequence[Path] = (),
    opened: Sequence[Path] = (),
    limits: Limits = LIMITS,
    sandbox: Sandbox | None = None,
    env: Mapping[str, str] | None = None,
    launch_limits: Limits | None = None,
    timed: bool = False,
    preloaded: bool = False,
    most_bytes: int = GIB,
) -> CandidateResult:
    """Run one worker on `job` in `folder`, serving its operator calls until it ends.

    `limits` are the worker's own, `launch_limits` those of each operator it calls.
    It may read `readable`, and `opened` but for hidden files.
    With `timed` the time of each call is modelled too, beside what `mode` does.
    A model leaves at most `most_bytes` for each case.
    With `preloaded` it starts from an interpreter that has torch: for scripts that are no answers.
    """
    sandbox = sandbox or Sandbox.detect()
    result = CandidateResult(isolation=sandbox.name)
    named = {name: str(path) for name, path in extensions.items()}
    folder.write("job.json", msgspec.json.encode({**job, "extensions": named}))
    secret = secrets.token_hex(32).encode()
    service = Service(operators, mode, launch_limits, timed)
    with CallServer(folder, service, result.calls) as server:
        done = sandbox.run(
            [sys.executable, "-I", str(_WORKER), str(folder.path / "job.json")],
            scratch=folder.path,
            readable=[
                _WORKER.parent,
                *readable,
                *interpreter(),
                *(path.parent for path in extensions.values()),
            ],
            opened=opened,
            limits=limits,
            env={"OMP_NUM_THREADS": "1", **(env or {})},
            stdin=secret,
            preloaded=preloaded,
            until=server.until,
        )
    result.error = server.refused or _error(folder, done)
    result.completed = done
    if "model" in job:
        told = conduct.read(folder, secret, most_bytes)
        result.record, result.forged, result.outputs = told.record, told.forged, told.outputs
        if told.forged == conduct.MISSING and result.error is not None:
            result.forged = None  # it was stopped before it could leave one
        result.error = result.error or told.error
    return result


class _Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    error: Text
    trace: str


def _error(folder: SharedFolder, done: Completed) -> str | None:
    if folder.holds(_FAILURE):
        try:
            return one_line(read(folder, _FAILURE, _Failure, _MOST_FAILURE).error)
        except HostileFileError as error:
            return str(error)
    if done.killed_by is not None:
        return f"the model was stopped: {done.killed_by}"
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return one_line(lines[-1]) if lines else f"the model ended with status {done.returncode}"
    return None
