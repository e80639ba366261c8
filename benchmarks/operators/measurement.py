# SPDX-License-Identifier: Apache-2.0
"""Measure one operator: write its module, have an operator generated, keep the verdict."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from benchmarks.operators.module_text import module_text
from benchmarks.operators.row import Operator, file_name

from npuforge.verdict import Verdict

# Folders of the machine that measured, in what PyTorch says.
_PACKAGES = re.compile(r"/\S*/site-packages/")


class Result(msgspec.Struct, frozen=True):
    """What came of one operator; a figure that was not taken is None."""

    name: str
    package: str
    kind: str
    outcome: str  # passed, wrong, not planned, not captured, not compiled, or failed
    reason: str | None = None
    compiled: bool | None = None
    correct: bool | None = None
    time_us: float | None = None
    eager_us: float | None = None
    eager_source: str | None = None
    speedup: float | None = None
    seconds: float | None = None

    @property
    def line(self) -> str:
        """Return one line for people."""
        if self.time_us is None:
            return f"{self.name}: {self.outcome}, {self.reason} ({self.seconds:.0f} s)"
        speedup = f", {self.speedup:.2f}x" if self.speedup is not None else ""
        return f"{self.name}: {self.outcome}, {self.time_us:.1f} us{speedup} ({self.seconds:.0f} s)"


def measured(operator: Operator, soc: str, limit: int) -> Result:
    """Return the result of `npuforge generate` for an operator."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="npuforge-operators-") as folder:
        module = Path(folder, f"{file_name(operator)}.py")
        module.write_text(module_text(operator), "utf-8")
        command = [sys.executable, "-m", "npuforge.cli", "generate", str(module), "--soc", soc]
        command += ["--quiet", "--json", "-", "--out", str(Path(folder, "operator"))]
        try:
            ended = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=limit,
                env={**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _refused(operator, "failed", f"more than {limit} s", started)
    if ended.stdout.lstrip().startswith("{"):
        return _judged(operator, Verdict.from_json(ended.stdout), started)
    lines = ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"]
    reason = lines[-1].removeprefix("npuforge: ").removeprefix(f"{module.name} ")
    reason = _PACKAGES.sub("", reason)
    outcome = "not captured" if "could not be captured" in reason else "not planned"
    outcome = outcome if ended.returncode == 2 else "failed"
    return _refused(operator, outcome, reason, started)


def _judged(operator: Operator, verdict: Verdict, started: float) -> Result:
    outcome = "passed" if verdict.ok else "wrong" if verdict.compiled else "not compiled"
    failed = [case.message for case in verdict.cases if case.correct is False and case.message]
    reasons = [verdict.error, *(one.message for one in verdict.diagnostics), *failed]
    reasons += [f"{one.rule}: {one.message}" for one in verdict.violations]
    reasons += [f"{one.rule}: {one.message}" for one in verdict.races]
    reason = next((one for one in reasons if one), None) if outcome != "passed" else None
    return Result(
        operator.name,
        operator.package,
        operator.kind,
        outcome,
        reason,
        verdict.compiled,
        verdict.correct,
        verdict.time_us,
        verdict.baseline_us,
        verdict.baseline_source,
        verdict.speedup,
        round(time.monotonic() - started, 1),
    )


def _refused(operator: Operator, outcome: str, reason: str, started: float) -> Result:
    seconds = round(time.monotonic() - started, 1)
    return Result(operator.name, operator.package, operator.kind, outcome, reason, seconds=seconds)
