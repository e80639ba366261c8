# SPDX-License-Identifier: Apache-2.0
"""Results of a measurement: a file with a format number, and its summary."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from pathlib import Path

import msgspec
from benchmarks.operators.measurement import Result

FORMAT = 1
_COMMAND = "python -m benchmarks.operators.measure"


class Summary(msgspec.Struct, frozen=True):
    """Counts, the median speed-up over eager execution, and why operators were refused."""

    operators: int
    planned: int
    compiled: int
    correct: int
    passed: int
    median_speedup: float | None
    seconds: float
    reasons: dict[str, int]


class Results(msgspec.Struct):
    """Everything that was measured."""

    soc: str
    command: str = _COMMAND
    format: int = FORMAT
    summary: Summary | None = None
    operators: list[Result] = []


def read(path: Path, soc: str) -> Results:
    """Read what a run before left; `ValueError` says why it cannot go on."""
    if not path.exists():
        return Results(soc)
    try:
        results = msgspec.json.decode(path.read_bytes(), type=Results)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} holds no results: {error}") from error
    if results.format != FORMAT:
        raise ValueError(f"{path} has format {results.format}, not {FORMAT}: measure anew")
    if results.soc != soc:
        raise ValueError(f"{path} was measured for {results.soc}, not {soc}")
    return results


def save(results: Results, path: Path) -> None:
    """Write the results, whole or not at all."""
    results.operators.sort(key=lambda one: one.name)
    results.summary = summary(results.operators)
    part = path.with_suffix(".part")
    text = msgspec.json.format(msgspec.json.encode(results), indent=1)
    part.write_bytes(text + b"\n")
    part.replace(path)


def summary(results: list[Result]) -> Summary:
    """Sum up."""
    speedups = [one.speedup for one in results if one.outcome == "passed" and one.speedup]
    reasons = Counter(
        f"{one.outcome}: {grouped(one.reason)}" for one in results if one.outcome != "passed"
    )
    return Summary(
        operators=len(results),
        planned=sum(one.compiled is not None for one in results),
        compiled=sum(one.compiled is True for one in results),
        correct=sum(one.correct is True for one in results),
        passed=sum(one.outcome == "passed" for one in results),
        median_speedup=round(statistics.median(speedups), 3) if speedups else None,
        seconds=round(sum(one.seconds or 0.0 for one in results), 1),
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    )


def grouped(reason: str | None) -> str:
    """Return a reason without what differs from operator to operator."""
    text = re.sub(r"\[[^\]]*\]", "[...]", reason or "no reason")
    text = re.sub(r"( and)?( of)? \[\.\.\.\]( and \[\.\.\.\])*", "", text)
    return re.sub(r"\d+", "N", text)[:160]


def printed(results: Results) -> str:
    """Return the summary for people."""
    total = results.summary or summary(results.operators)
    lines = [
        f"{total.operators} operators: {total.planned} planned, {total.compiled} compiled, "
        f"{total.correct} correct, {total.passed} passed; median speed-up over eager "
        f"{total.median_speedup}; {total.seconds:.0f} s"
    ]
    lines += [f"{count:4}  {reason}" for reason, count in total.reasons.items()]
    return "\n".join(lines)
