# SPDX-License-Identifier: Apache-2.0
"""The folder a generation leaves: all of it, or nothing."""

from __future__ import annotations

from pathlib import Path

from npuforge.generate.outcome import Outcome
from npuforge.generate.report import render
from npuforge.result_folder import write_folder


def write(outcome: Outcome, out: Path, *, force: bool = False) -> None:
    """Write the operator, its program, reference, verdict and report."""
    files: dict[str, str | bytes] = {
        **{f"op/{path}": text for path, text in outcome.files.items()},
        outcome.program_file: outcome.program,
        f"{outcome.name}.reference.py": outcome.reference,
        "verdict.json": outcome.verdict.to_json() + "\n",
        "report.html": render(outcome),
    }
    if outcome.trace:
        files["trace.json"] = outcome.trace
    write_folder(out, files, force=force)
