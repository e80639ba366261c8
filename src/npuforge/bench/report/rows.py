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
_WORDS = ("task", "result", "published", "strict", "cheats", "source", "files", "reason")


def attempt_table(tasks: Sequence[Task], attempts: Sequence[Attempt], folder: Path) -> str:
    """Sorted by a click on a heading, filtered by words and result; complete without scripts."""
    known = {task.name: task for task in tasks}
    several = any(attempt.sample for attempt in attempts)
    cells = [_cells(known.get(a.task), a, folder, several) for a in attempts]
    empty = _unknown(tasks, attempts)
    names = [name for name in next(iter(cells), {}) if name not in empty]
    rows = "".join(
        f'<tr data-result="{escape(result(attempt))}">{"".join(row[name] for name in names)}</tr>'
        for attempt, row in zip(attempts, cells, strict=True)
    )
    head = "".join(
        f'<th scope="col"{"" if name in _WORDS else _NUMBER}>'
        f'<button type="button">{escape(name)}</button></th>'
        for name in names
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


def _unknown(tasks: Sequence[Task], attempts: Sequence[Attempt]) -> set[str]:
    """Columns that would say nothing at all in this run."""
    known = {
        "level": any(task.level is not None for task in tasks),
        "tokens": any(attempt.tokens is not None for attempt in attempts),
    }
    return {name for name, there in known.items() if not there}


def _cells(task: Task | None, attempt: Attempt, folder: Path, several: bool) -> dict[str, str]:
    verdict = attempt.verdict
    word = result(attempt)
    name = plain(attempt.task) + (f" #{attempt.sample}" if several else "")
    cheats = sorted({cheat.kind for cheat in attempt.cheats})
    evidence = "; ".join(f"{cheat.kind}: {cheat.evidence}" for cheat in attempt.cheats)
    errors = sum(violation.severity == "error" for violation in verdict.violations)
    level = task.level if task is not None else verdict.level
    tokens = attempt.tokens
    return {
        "task": f'<th scope="row">{escape(name)}</th>',
        "level": _number(level, "" if level is None else str(level)),
        "result": f'<td class="{_STYLES.get(word, "bad")}">{escape(word)}</td>',
        "published": _judged(attempt.published),
        "strict": _judged(attempt.strict),
        "cheats": f'<td title="{escape(plain(evidence))}">{escape(plain(", ".join(cheats)))}</td>',
        "violations": _number(errors, str(errors or ""), rules(attempt)),
        "races": _number(len(verdict.races), str(len(verdict.races) or "")),
        "time us": _number(verdict.time_us),
        "eager us": _number(verdict.baseline_us),
        "source": f"<td>{escape(plain(verdict.baseline_source or ''))}</td>",
        "speed-up": _number(verdict.speedup, times(verdict.speedup)),
        "seconds": _number(verdict.seconds),
        "tokens": _number(tokens, "" if tokens is None else f"{tokens:,}"),
        "files": f"<td>{links(attempt, folder)}</td>",
        "reason": f'<td class="reason">{escape(plain(attempt.reason or ""))}</td>',
    }


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
