# SPDX-License-Identifier: Apache-2.0
"""Runs a candidate model in the sandbox and serves its operator calls from outside of it."""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npuforge.errors import NpuforgeError
from npuforge.sandbox import GIB, Completed, Limits, Sandbox
from npuforge.sandbox.python import interpreter
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.torchbind import conduct
from npuforge.twin.torchbind.calls import perform

_WORKER = Path(__file__).with_name("worker.py")
# A model with torch: threads of the allocator and the interpreter, and room for the tensors.
LIMITS = Limits(cpu_s=300, wall_s=600, memory_bytes=12 * GIB, processes=8)


@dataclass(slots=True)
class CandidateResult:
    """Every operator call in order, and why the worker stopped early if it did.

    `record` is what a model did; `forged` says how it or the outputs are not the worker's own.
    """

    calls: list[tuple[str, RunResult]] = field(default_factory=list)
    error: str | None = None
    record: conduct.Record | None = None
    forged: str | None = None
    isolation: str = ""
    completed: Completed | None = None


def run_job(
    job: Mapping[str, Any],
    scratch: Path,
    extensions: Mapping[str, Path],
    operators: Mapping[str, OperatorSource],
    mode: Mode = "check",
    readable: Sequence[Path] = (),
    limits: Limits = LIMITS,
    sandbox: Sandbox | None = None,
    env: Mapping[str, str] | None = None,
    launch_limits: Limits | None = None,
    timed: bool = False,
    preloaded: bool = False,
) -> CandidateResult:
    """Run one worker on `job` in `scratch`, serving its operator calls until it ends.

    `limits` are the worker's own, `launch_limits` those of each operator it calls.
    With `timed` the time of each call is modelled too, beside what `mode` does.
    With `preloaded` it starts from an interpreter that has torch: for scripts that are no answers.
    """
    sandbox = sandbox or Sandbox.detect()
    result = CandidateResult(isolation=sandbox.name)
    named = {name: str(path) for name, path in extensions.items()}
    (scratch / "job.json").write_text(json.dumps({**job, "extensions": named}))
    secret = secrets.token_hex(32).encode()
    for name in ("requests", "answers"):
        os.mkfifo(scratch / name)
    server = threading.Thread(
        target=_serve, args=(scratch, operators, mode, result.calls, launch_limits, timed)
    )
    server.start()
    try:
        done = sandbox.run(
            [sys.executable, "-I", str(_WORKER), str(scratch / "job.json")],
            scratch=scratch,
            readable=[
                _WORKER.parent,
                *readable,
                *interpreter(),
                *(path.parent for path in extensions.values()),
            ],
            limits=limits,
            env={"OMP_NUM_THREADS": "1", **(env or {})},
            stdin=secret,
            preloaded=preloaded,
        )
    finally:
        _release(scratch)
        server.join()
    result.error = _error(scratch, done)
    result.completed = done
    if "model" in job:
        result.record, result.forged = conduct.read(scratch, secret)
        if result.forged == conduct.MISSING and result.error is not None:
            result.forged = None  # it was stopped before it could leave one
    return result


def _serve(
    scratch: Path,
    operators: Mapping[str, OperatorSource],
    mode: Mode,
    calls: list[tuple[str, RunResult]],
    limits: Limits | None,
    timed: bool,
) -> None:
    with (scratch / "requests").open() as requests, (scratch / "answers").open("w") as answers:
        for line in requests:
            answers.write(
                json.dumps(_answer(line, scratch, operators, mode, calls, limits, timed)) + "\n"
            )
            try:
                answers.flush()
            except BrokenPipeError:
                return


def _answer(
    line: str,
    scratch: Path,
    operators: Mapping[str, OperatorSource],
    mode: Mode,
    calls: list[tuple[str, RunResult]],
    limits: Limits | None,
    timed: bool,
) -> dict[str, Any]:
    try:
        request = json.loads(line)
        api = str(request["api"])
        source = operators.get(api.removeprefix("aclnn"))
        if source is None:
            return {"error": f"no operator {api} is built; built: {', '.join(sorted(operators))}"}
        result, written = perform(source, request["arguments"], scratch, mode, limits, timed)
    except NpuforgeError as problem:
        return {"error": str(problem)}
    except (ValueError, KeyError, TypeError, OSError) as problem:
        # The line comes from untrusted code.
        return {"error": f"malformed operator call: {problem}"}
    calls.append((api, result))
    return {"error": result.error, "written": written}


def _release(scratch: Path) -> None:
    """Open the far ends once, so that a server still waiting for a worker goes on and ends."""
    for name, flags in (("requests", os.O_WRONLY), ("answers", os.O_RDONLY)):
        try:
            os.close(os.open(scratch / name, flags | os.O_NONBLOCK))
        except OSError:
            continue  # nobody waits at this end


def _error(scratch: Path, done: Completed) -> str | None:
    failure = scratch / "failure.json"
    if failure.exists():
        return str(json.loads(failure.read_text())["error"])
    if done.killed_by is not None:
        return f"the model was stopped: {done.killed_by}"
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the model ended with status {done.returncode}"
    return None
