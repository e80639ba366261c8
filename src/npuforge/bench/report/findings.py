# SPDX-License-Identifier: Apache-2.0
"""What a reader looks for first: failures by reason, cheats, weak checks, slow tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from npuforge.bench.attempt import Attempt
from npuforge.bench.report.words import count, plain, result, times
from npuforge.page import wide
from npuforge.page.svg import short

_MOST = 10


def failures(attempts: Sequence[Attempt]) -> str:
    """Attempts that did not pass, by result and reason, the most frequent first."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for attempt in attempts:
        if not attempt.passed:
            key = (result(attempt), plain(attempt.reason or attempt.verdict.error or ""))
            grouped.setdefault(key, []).append(_name(attempt))
    if not grouped:
        return ""
    order = sorted(grouped.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    rows = "".join(
        f"<tr><td>{len(names)}</td><td>{escape(word)}</td>"
        f'<td class="reason">{escape(reason)}</td><td>{_folded(names)}</td></tr>'
        for (word, reason), names in order
    )
    head = "<tr><th>attempts</th><th>result</th><th>reason</th><th>tasks</th></tr>"
    return _reasons(head, rows)


def weak(attempts: Sequence[Attempt]) -> str:
    """Attempts that the two judgements see differently."""
    differing = [a for a in attempts if a.published is True and a.strict is False]
    if not differing:
        return ""
    note = (
        f"{count(len(differing), 'attempt')} pass the check that the suite publishes, and fail "
        "with signed and wide-ranging inputs, fresh shapes, an error measured against the size of "
        "the results, or on a rule or a race. They do not count as passed."
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(_name(a))}</th>'
        f'<td class="reason">{escape(plain(a.reason or ""))}</td></tr>'
        for a in differing
    )
    return f"<p>{escape(note)}</p>{_reasons('', rows)}"


def cheats(attempts: Sequence[Attempt]) -> str:
    """Every cheat with what gave it away."""
    rows = "".join(
        f'<tr><th scope="row">{escape(_name(attempt))}</th><td>{escape(plain(cheat.kind))}</td>'
        f'<td class="reason">{escape(plain(cheat.evidence))}</td></tr>'
        for attempt in attempts
        for cheat in attempt.cheats
    )
    return _reasons("", rows) if rows else ""


def slowest(attempts: Sequence[Attempt]) -> str:
    """The least speed-ups of what passed, and the attempts that took longest."""
    passed = [a for a in attempts if a.passed and a.verdict.speedup is not None]
    slow = sorted(passed, key=lambda a: a.verdict.speedup or 0.0)[:_MOST]
    timed = [a for a in attempts if a.verdict.seconds is not None]
    long = sorted(timed, key=lambda a: -(a.verdict.seconds or 0.0))[:_MOST]
    lists = [
        _list("Least speed-up", slow, _speed),
        _list("Longest attempts", long, lambda a: f"{short(a.verdict.seconds or 0.0)} s"),
    ]
    shown = "".join(filter(None, lists))
    return f'<div class="pair">{shown}</div>' if shown else ""


def _reasons(head_html: str, rows_html: str) -> str:
    head = f"<thead>{head_html}</thead>" if head_html else ""
    return wide(f'<table class="reasons">{head}<tbody>{rows_html}</tbody></table>')


def _speed(attempt: Attempt) -> str:
    verdict = attempt.verdict
    words = times(verdict.speedup)
    if verdict.time_us is None or verdict.baseline_us is None:
        return words
    source = plain(verdict.baseline_source or "unknown")
    return f"{words} ({short(verdict.time_us)} of {short(verdict.baseline_us)} us, {source})"


def _list(title: str, attempts: Sequence[Attempt], words: Callable[[Attempt], str]) -> str:
    if not attempts:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(_name(a))}</th>'
        f'<td class="number">{escape(words(a))}</td></tr>'
        for a in attempts
    )
    return f"<div><h3>{escape(title)}</h3><table><tbody>{rows}</tbody></table></div>"


def _folded(names: Sequence[str]) -> str:
    if len(names) == 1:
        return escape(names[0])
    first = f"{names[0]} and {len(names) - 1} more"
    return f"<details><summary>{escape(first)}</summary>{escape(', '.join(names))}</details>"


def _name(attempt: Attempt) -> str:
    return plain(attempt.task) + (f" #{attempt.sample}" if attempt.sample else "")
