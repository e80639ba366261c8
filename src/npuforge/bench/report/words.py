# SPDX-License-Identifier: Apache-2.0
"""Figures and foreign text as words. Names and reasons come from code that nobody has checked."""

from __future__ import annotations

from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics import Estimate, Figures
from npuforge.page.svg import clipped

NOTHING = "\u2013"  # a figure that was not taken
_LONGEST = 400


def plain(words: str) -> str:
    """On one line, without what steers a terminal or turns the direction of text."""
    kept = (c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in words)
    return clipped("".join(kept), _LONGEST)


def percent(share: float | None) -> str:
    """One digit after the point where there is something to say."""
    if share is None:
        return NOTHING
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def interval(estimate: Estimate) -> str:
    """The interval of a share in whole percent: `79 to 96 %`."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{100 * estimate.low:.0f} to {100 * estimate.high:.0f} %"


def times(speedup: float | None) -> str:
    """A speed-up: three digits, fewer where it is large."""
    if speedup is None:
        return NOTHING
    return (
        f"{speedup:.2f}x"
        if speedup < 10
        else f"{speedup:.1f}x"
        if speedup < 100
        else f"{speedup:.0f}x"
    )


def count(number: int, noun: str) -> str:
    """`1 race`, `2 races`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def fast_p(found: Figures) -> str:
    """KernelBench's measure in a line."""
    shares = ", ".join(f"fast_{p:g} {percent(e.value)}" for p, e in found.fast_p.items())
    return f"KernelBench's fast_p, more than p times as fast: {shares}"


def result(attempt: Attempt) -> str:
    """What an attempt came to, in a word or three: the first thing that stands in its way."""
    verdict = attempt.verdict
    if attempt.state != "judged":
        return attempt.state
    if attempt.passed:
        return "passed"
    if attempt.cheats:
        return "cheat"
    if verdict.compiled is not True:
        return "does not compile"
    if verdict.error is not None:
        return "did not run"
    if attempt.published is False:
        return "wrong"
    if verdict.races:
        return "race"
    if any(violation.severity == "error" for violation in verdict.violations):
        return "breaks a rule"
    return "wrong strictly" if attempt.strict is False else "not compared"
