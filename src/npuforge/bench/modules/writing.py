# SPDX-License-Identifier: Apache-2.0
"""A strategy's answer to a module's task: what `npuforge generate` makes, kept in a folder."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path

from npuforge.bench.settings import Settings
from npuforge.bench.writers import pen
from npuforge.generate import strategies
from npuforge.generate.outcome import Outcome
from npuforge.generate.pipeline import Settings as GenerateSettings
from npuforge.generate.pipeline import from_file
from npuforge.generate.report import render

# Every variant is tried, however long it takes: results must not depend on how busy a machine is.
_ALL_VARIANTS_S = 1e9
_MOST_TRACE = 8 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome, where its answer lies, and what else was kept, by what it is."""

    outcome: Outcome
    answer: Path | None
    files: dict[str, str] = field(default_factory=dict)
    tokens: int | None = None


def write(file: Path, settings: Settings, sample: int, place: Path) -> Written:
    """Generate an answer in MultiKernelBench's form; `UsageError` says why there is none."""
    asked = GenerateSettings(settings.soc, "mkb", _ALL_VARIANTS_S)
    refused = strategies.REFUSED.get(settings.strategy, frozenset())
    with pen(settings, sample, place) as held:
        outcome = from_file(file, held.writer, asked, refused=refused)
        tokens = held.tokens
    kept = {**held.files, "report": "generated.html", "program": outcome.program_file}
    (place / kept["report"]).write_text(render(outcome), "utf-8")
    (place / kept["program"]).write_text(outcome.program, "utf-8")
    answer = None
    for name, text in outcome.files.items():
        answer = place / name
        answer.write_text(text, "utf-8")
        kept["answer"] = name
    trace = gzip.compress(outcome.trace, 6, mtime=0) if outcome.trace else b""
    if 0 < len(trace) <= _MOST_TRACE:
        kept["trace"] = "trace.json.gz"
        (place / kept["trace"]).write_bytes(trace)
    return Written(outcome, answer, kept, tokens)
