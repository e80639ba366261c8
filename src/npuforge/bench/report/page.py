# SPDX-License-Identifier: Apache-2.0
"""The report on a run. Everything that comes from outside is escaped where it enters."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from npuforge import page
from npuforge.bench.attempt import Attempt
from npuforge.bench.metrics import Estimate, Figures
from npuforge.bench.report import findings, plots
from npuforge.bench.report.blocks import Block, blocks
from npuforge.bench.report.command import command
from npuforge.bench.report.groups import groups, sources
from npuforge.bench.report.plots import Mark
from npuforge.bench.report.rows import attempt_table
from npuforge.bench.report.words import (
    NOTHING,
    count,
    fast_p,
    interval,
    percent,
    plain,
    result,
    times,
)
from npuforge.bench.settings import Settings
from npuforge.bench.suite import Score
from npuforge.bench.task import Task
from npuforge.page.svg import short


def html(
    suite: str,
    settings: Settings,
    tasks: Sequence[Task],
    attempts: Sequence[Attempt],
    scores: Sequence[Score],
    folder: Path,
) -> str:
    """One HTML text without references to anything but the files of the run, beside it."""
    parts = blocks(suite, tasks, attempts)
    total = parts[-1].figures
    sections = [
        f"<pre>{escape(plain(command(settings)))}</pre>",
        f'<div class="summary">{_tiles(total)}</div>',
        page.section("The suite's own score", _scores(scores), "score"),
        page.section("By category and level", _groups(parts), "groups"),
        page.section("Distributions", _distributions(attempts), "distributions"),
        page.section("Passed by the suite's check, not by ours", findings.weak(attempts), "weak"),
        page.section("Cheats", findings.cheats(attempts), "cheats"),
        page.section("What did not pass, and why", findings.failures(attempts), "failures"),
        page.section("The slowest", findings.slowest(attempts), "slowest"),
        page.section("What others published", sources(parts), "published"),
        page.section("Every attempt", attempt_table(tasks, attempts, folder), "all"),
    ]
    done = f"{total.passed_tasks} of {total.tasks} passed"
    if total.attempted < total.tasks:
        done += f", {total.attempted} attempted"
    style = "good" if total.passed_tasks == total.tasks else "bad"
    return page.page(
        title=f"{plain(suite)} - npuforge bench",
        heading_html=f'{escape(plain(suite))} <span class="badge {style}">{escape(done)}</span>',
        subtitle=_subtitle(settings),
        body_html="\n".join(filter(None, sections)),
        style=page.data(__package__, "report.css"),
        script=page.data(__package__, "report.js"),
    )


def _subtitle(settings: Settings) -> str:
    writer = f"answers: {settings.answers}" if settings.answers else f"by the {settings.strategy}"
    parts = [
        writer,
        f"Ascend {settings.soc}",
        f"{settings.shapes} shapes",
        f"protocol of the {settings.protocol}",
        count(settings.samples, "sample") + " a task",
    ]
    return plain("  ·  ".join(parts))


def _tiles(total: Figures) -> str:
    shown = [
        ("Passed", *_figure(total.passed.value), _of(total)),
        ("Compiled", *_figure(total.compiled.value), _span(total.compiled)),
        ("By the suite's own check", *_figure(total.published.value), _span(total.published)),
        ("Fast_0.8", *_figure(total.fast[0.8].value), _span(total.fast[0.8])),
        ("Fast_1.0", *_figure(total.fast[1.0].value), _span(total.fast[1.0])),
        ("Median speed-up", _speedup(total), "x", _speedup_note(total)),
        ("Found by the twin", str(total.races + total.violations), "", _found(total)),
        ("Seconds a task", _seconds(total), "s", _spent(total)),
    ]
    at = [k for k in total.pass_at if k > 1]
    if at:
        most = max(at)
        compiled = f"compile@{most} {percent(total.compile_at[most])}"
        shown.insert(1, (f"pass@{most}", *_figure(total.pass_at[most]), compiled))
    return page.tiles(shown)


def _figure(share: float | None) -> tuple[str, str]:
    number, _, unit = percent(share).partition(" ")
    return number, unit


def _of(total: Figures) -> str:
    words = [f"{total.passed_tasks} of {total.attempted} tasks"]
    if total.unplanned:
        words.append(f"{total.unplanned} not planned")
    return ", ".join(filter(None, [*words, _span(total.passed)]))


def _span(estimate: Estimate) -> str:
    words = interval(estimate)
    return f"95 % interval {words}" if words else ""


def _speedup(total: Figures) -> str:
    return times(total.speedup_median.value).removesuffix("x")


def _speedup_note(total: Figures) -> str:
    if total.speedup_mean.value is None:
        return "nothing passed was timed"
    found = total.speedup_mean
    span = "" if found.low is None else f" ({times(found.low)} to {times(found.high)})"
    kinds = ", ".join(f"{plain(name)} {number}" for name, number in total.baselines.items())
    return f"geometric mean {times(found.value)}{span}; eager {kinds}"


def _found(total: Figures) -> str:
    kinds = count(sum(total.cheats.values()), "cheat")
    return f"{count(total.races, 'race')}, {count(total.violations, 'violation')}; {kinds}"


def _seconds(total: Figures) -> str:
    return NOTHING if total.seconds.value is None else short(total.seconds.value)


def _spent(total: Figures) -> str:
    tokens = total.tokens.value
    words = count(total.attempts, "attempt")
    return words if tokens is None else f"{words}; {short(tokens)} tokens a task"


def _scores(scores: Sequence[Score]) -> str:
    if not scores:
        return ""
    return page.tiles(
        (
            plain(score.name),
            NOTHING if score.value is None else short(score.value),
            "" if score.of is None else f"of {short(score.of)}",
            plain(score.note),
        )
        for score in scores
    )


def _groups(parts: Sequence[Block]) -> str:
    note = (
        "Bars are shares of all tasks attempted, with 95 % intervals; diamonds are the systems in "
        "the lines below. Published: by the suite's own check. Passed: by ours too, no broken "
        "rule, no race, no cheat. Fast_x: passed, and at least x times as fast as eager PyTorch. "
        "Median: speed-up of what passed; of others the mean they give."
    )
    lines = (note, f"{fast_p(parts[-1].figures)}.")
    return page.wide(groups(parts)) + "".join(f'<p class="note">{escape(x)}</p>' for x in lines)


def _distributions(attempts: Sequence[Attempt]) -> str:
    passed = [attempt for attempt in attempts if attempt.passed]
    speedups = [
        Mark(
            found.speedup, plain(found.baseline_source or "unknown"), _hint(a, times(found.speedup))
        )
        for a in passed
        if (found := a.verdict).speedup is not None
    ]
    durations = [
        Mark(found.time_us, found.bottleneck or "unknown", _hint(a, f"{short(found.time_us)} us"))
        for a in passed
        if (found := a.verdict).time_us is not None
    ]
    seconds = [
        Mark(found.seconds, _ending(a), _hint(a, f"{short(found.seconds)} s"))
        for a in attempts
        if (found := a.verdict).seconds is not None
    ]
    drawn = [
        (
            plots.distribution(speedups, "speed-up", "times", {0.8: "0.8", 1.0: "eager"}),
            "Speed-up over eager PyTorch of what passed, by how eager's time is known: "
            "measured, scaled from a measurement at other shapes, or modelled.",
        ),
        (
            plots.distribution(durations, "time on the chip", "us"),
            "Time of what passed, by what bounds it.",
        ),
        (
            plots.distribution(seconds, "time of an attempt", "seconds"),
            "What an attempt took from start to judgement.",
        ),
    ]
    return "".join(
        f"<figure>{page.wide(picture)}<figcaption>{escape(words)}</figcaption></figure>"
        for picture, words in drawn
        if picture
    )


def _ending(attempt: Attempt) -> str:
    return (
        "passed" if attempt.passed else "unplanned" if result(attempt) == "unplanned" else "other"
    )


def _hint(attempt: Attempt, words: str) -> str:
    return f"{plain(attempt.task)}: {words}"
