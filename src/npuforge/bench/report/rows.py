# SPDX-License-Identifier: Apache-2.0
"""The table of all attempts: what each came to, and links to what it left."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from npuforge.bench.attempt import Attempt
from npuforge.bench.report.words import NOTHING, plain, result, times
from npuforge.bench.runner import place_of
from npuforge.bench.task import Task
from npuforge.page.svg import short

_NUMBER = ' class="number"'
_STYLES = {"passed": "good", "unplanned": "muted", "missing": "muted", "unusable": "muted"}
_COLUMNS = (
    "task", "level", "result", "published", "strict", "cheats", "violations", "races",
    "time us", "eager us", "source", "speed-up", "seconds", "tokens", "files", "reason",
)  # fmt: skip
_WORDS = ("task", "result", "published", "strict", "cheats", "source", "files", "reason")


def attempt_table(tasks: Sequence[Task], attempts: Sequence[Attempt], folder: Path) -> str:
    """Sorted by a click on a heading, filtered by words and result; complete without scripts."""
    known = {task.name: task for task in tasks}
    several = any(attempt.sample for attempt in attempts)
    rows = "".join(_row(known.get(a.task), a, folder, several) for a in attempts)
    head = "".join(
        f'<th scope="col"{"" if name in _WORDS else _NUMBER}>'
        f'<button type="button">{escape(name)}</button></th>'
        for name in _COLUMNS
    )
    words = dict.fromkeys(map(result, attempts))
    choices = "".join(f"<option>{escape(word)}</option>" for word in sorted(words))
    return (
        '<form class="filters" role="search"><label>Find <input type="search" id="find" '
        'placeholder="task, reason, source"></label> <label>Result <select id="result">'
        f'<option value="">all</option>{choices}</select></label> '
        f'<output id="shown">{len(attempts)} of {len(attempts)}</output></form>'
        f'<div class="wide"><table id="attempts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(task: Task | None, attempt: Attempt, folder: Path, several: bool) -> str:
    verdict = attempt.verdict
    word = result(attempt)
    name = plain(attempt.task) + (f" #{attempt.sample}" if several else "")
    cheats = sorted({cheat.kind for cheat in attempt.cheats})
    evidence = "; ".join(f"{cheat.kind}: {cheat.evidence}" for cheat in attempt.cheats)
    errors = sum(violation.severity == "error" for violation in verdict.violations)
    level = task.level if task is not None else verdict.level
    cells = [
        f'<th scope="row">{escape(name)}</th>',
        _number(level, "" if level is None else str(level)),
        f'<td class="{_STYLES.get(word, "bad")}">{escape(word)}</td>',
        _judged(attempt.published),
        _judged(attempt.strict),
        f'<td title="{escape(plain(evidence))}">{escape(plain(", ".join(cheats)))}</td>',
        _number(errors, str(errors or ""), rules(attempt)),
        _number(len(verdict.races), str(len(verdict.races) or "")),
        _number(verdict.time_us),
        _number(verdict.baseline_us),
        f"<td>{escape(plain(verdict.baseline_source or ''))}</td>",
        _number(verdict.speedup, times(verdict.speedup)),
        _number(verdict.seconds),
        _number(attempt.tokens, "" if attempt.tokens is None else f"{attempt.tokens:,}"),
        f"<td>{links(attempt, folder)}</td>",
        f'<td class="reason">{escape(plain(attempt.reason or ""))}</td>',
    ]
    return f'<tr data-result="{escape(word)}">{"".join(cells)}</tr>'


def rules(attempt: Attempt) -> str:
    """The rules that are broken, for who points at their number."""
    broken = {v.rule for v in attempt.verdict.violations if v.severity == "error"}
    return plain(", ".join(sorted(broken)))


def links(attempt: Attempt, folder: Path) -> str:
    """To files that are there, relative to the report, and never out of the attempt's folder."""
    found = []
    for what, name in attempt.files.items():
        file = PurePosixPath(name)
        parts = (*PurePosixPath(attempt.task).parts, *file.parts)
        if file.is_absolute() or ".." in parts or not file.parts:
            continue
        path = place_of(folder, attempt.task, attempt.sample) / file
        if path.exists():
            target = quote(path.relative_to(folder).as_posix())
            found.append(f'<a href="{escape(target)}">{escape(plain(what))}</a>')
    return " ".join(found)


def _judged(judgement: bool | None) -> str:
    word = {True: "yes", False: "no", None: NOTHING}[judgement]
    style = {True: "good", False: "bad", None: "muted"}[judgement]
    return f'<td class="{style}">{word}</td>'


def _number(value: float | None, words: str | None = None, title: str = "") -> str:
    if value is None:
        return f'<td class="number muted" data-value="">{NOTHING if words is None else words}</td>'
    hint = f' title="{escape(title)}"' if title else ""
    shown = escape(short(value) if words is None else words)
    return f'<td class="number" data-value="{value:.9g}"{hint}>{shown}</td>'
