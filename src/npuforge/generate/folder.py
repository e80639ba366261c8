# SPDX-License-Identifier: Apache-2.0
"""The folder a generation leaves: all of it, or nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.generate.outcome import Outcome
from npuforge.generate.report import render

_MARK = "verdict.json"


def check_free(out: Path) -> None:
    """Refuse a place that holds something else; an earlier result may be replaced."""
    if out.exists() and not (out / _MARK).is_file():
        empty = out.is_dir() and not any(out.iterdir())
        if not empty:
            raise UsageError(f"{out} exists and is no earlier result; choose another --out")


def write(outcome: Outcome, out: Path) -> None:
    """Write everything beside `out`, then move it there in one step."""
    check_free(out)
    texts: dict[str, str] = {
        **{f"op/{path}": text for path, text in outcome.files.items()},
        outcome.program_file: outcome.program,
        f"{outcome.name}.reference.py": outcome.reference,
        _MARK: outcome.verdict.to_json() + "\n",
        "report.html": render(outcome),
    }
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as place:
            made = Path(place) / "new"
            _fill(made, texts)
            if outcome.trace:
                (made / "trace.json").write_bytes(outcome.trace)
            if out.exists():
                out.rename(Path(place) / "old")
            made.rename(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None


def _fill(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if path.suffix == ".sh":
            path.chmod(0o755)
