# SPDX-License-Identifier: Apache-2.0
"""Puts a report together. Everything that comes from outside is escaped where it enters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from npuforge.generate.outcome import Outcome, Used
from npuforge.generate.report import charts, timeline
from npuforge.generate.report.code import listing
from npuforge.page import data, page, section, tiles, wide
from npuforge.page.svg import short
from npuforge.verdict import Case, Race, Violation


def render(outcome: Outcome) -> str:
    """The report as one HTML text without references to anything outside."""
    sections = [
        _tiles(outcome),
        _findings(outcome),
        section("Where the time goes", _time(outcome), "time"),
        section("Pipes, instruction by instruction", wide(timeline.draw(outcome.trace)), "pipes"),
        section("What was tried", _candidates(outcome), "tuning"),
        section("What was known", _knowledge(outcome.used), "knowledge"),
        section("From PyTorch to AscendC", _sources(outcome), "sources"),
        section("Proof", _cases(outcome.verdict.cases), "proof"),
        section("How it came about", _history(outcome), "history"),
    ]
    return page(
        title=f"{outcome.name} - npuforge",
        heading_html=f"{escape(outcome.name)} {_badge(outcome)}",
        subtitle=_subtitle(outcome),
        body_html="\n".join(filter(None, sections)),
        style=data(__package__, "report.css"),
    )


def _badge(outcome: Outcome) -> str:
    verdict = outcome.verdict
    if verdict.ok and verdict.correct:
        return '<span class="badge good">proven</span>'
    if not verdict.compiled:
        words = "does not compile"
    elif verdict.error is not None:
        words = "did not run"
    elif verdict.correct is False:
        words = "wrong"
    elif verdict.races:
        words = "race"
    else:
        words = "breaks a rule" if not verdict.ok else "not compared"
    return f'<span class="badge bad">{escape(words)}</span>'


def _subtitle(outcome: Outcome) -> str:
    inputs = [
        f"{source.type.dtype}[{', '.join(map(str, source.type.shape))}]"
        for source in outcome.graph.sources
        if source.origin == "input"
    ]
    verdict = outcome.verdict
    parts = [" ".join(inputs), f"Ascend {verdict.soc}", f"format {outcome.form}"]
    if verdict.strategy:
        planned = verdict.strategy == "planner"
        parts.append("by the planner" if planned else f"by a model, {verdict.strategy}")
    return "  ·  ".join(filter(None, parts))


def _tiles(outcome: Outcome) -> str:
    verdict = outcome.verdict
    right = sum(case.correct is True for case in verdict.cases)
    shown = [("Cases right", f"{right}", f"of {len(verdict.cases)}", "on the twin, rules checked")]
    if verdict.time_us is not None:
        note = f"bound by {verdict.bottleneck}" if verdict.bottleneck else ""
        shown.insert(0, ("Time", short(verdict.time_us), "us", note))
    if verdict.speedup is not None and verdict.baseline_us is not None:
        note = f"eager takes {short(verdict.baseline_us)} us ({verdict.baseline_source})"
        shown.insert(1, ("Over PyTorch eager", f"{verdict.speedup:.2f}", "x", note))
    if verdict.roofline is not None:
        share = f"{100 * verdict.roofline:.0f}"
        best = outcome.timing.roofline.best_us if outcome.timing else None
        note = f"no kernel needs less than {short(best)} us" if best else ""
        shown.insert(2, ("Of the roofline", share, "%", note))
    return tiles(shown)


def _findings(outcome: Outcome) -> str:
    verdict = outcome.verdict
    items = [*map(_violation, verdict.violations), *map(_race, verdict.races)]
    if verdict.error is not None:
        items.append(_finding("error", "error", verdict.error, ""))
    items += [
        _finding("error", "compiler", entry.message, _place(entry.file, entry.line))
        for entry in verdict.diagnostics
    ]
    for advice in verdict.advice:
        where = _place(advice.file, advice.line)
        fix = f" {advice.fix}" if advice.fix else ""
        items.append(_finding("advice", advice.rule, advice.message + fix, where))
    if not items:
        return ""
    return section("Findings", f'<ul class="findings">{"".join(items)}</ul>', "findings")


def _violation(violation: Violation) -> str:
    message = violation.message + (f" {violation.fix}" if violation.fix else "")
    where = _place(violation.file, violation.line)
    return _finding(violation.severity, violation.rule, message, where)


def _race(race: Race) -> str:
    sides = " and ".join(
        f"{side.pipe} at {_place(side.file, side.line)}" for side in (race.first, race.second)
    )
    return _finding("error", race.rule, race.message, sides)


def _finding(kind: str, rule: str, message: str, where: str) -> str:
    place = f'<span class="where">{escape(where)}</span>' if where else ""
    return f'<li class="{escape(kind)}"><b>{escape(rule)}</b> {escape(message)} {place}</li>'


def _place(file: str | None, line: int | None) -> str:
    return "" if file is None else f"{file}:{line}" if line is not None else file


def _time(outcome: Outcome) -> str:
    timing = outcome.timing
    if timing is None or timing.time_us <= 0:
        return ""
    roof = charts.roofline(timing, outcome.verdict.baseline_us)
    limits = timing.roofline
    words = (
        f"The bytes need {short(limits.memory_us)} us at full bandwidth, the vector work "
        f"{short(limits.compute_us)} us on all cores, a launch {short(limits.launch_us)} us: "
        f"{short(limits.best_us)} us at best."
    )
    detail = ""
    if outcome.baseline is not None:
        source = f"{outcome.baseline.source}: {outcome.baseline.detail}"
        detail = f'<p class="note">Eager PyTorch, {escape(source)}.</p>'
    return (
        f'<div class="pair"><figure>{roof}<figcaption>{escape(words)}</figcaption></figure>'
        f"<figure>{charts.pipes(timing)}<figcaption>Mean over the cores: busy, and paler, waiting "
        f"for other pipes; the whole bar is {short(timing.time_us)} us.</figcaption>"
        f"<p>{escape(_sentence(timing.bottleneck.why))}</p>{detail}</figure></div>"
    )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def _candidates(outcome: Outcome) -> str:
    rows = "".join(
        f"<dt>{escape(candidate.variant.title)}</dt><dd>{escape(candidate.variant.why)}</dd>"
        for candidate in outcome.candidates
    )
    note = ""
    final = outcome.verdict.time_us
    if final is not None and not charts.compared_in_full(outcome):
        words = f"Compared with fewer rows; in full the chosen one takes {short(final)} us."
        note = f'<p class="note">{escape(words)}</p>'
    return f"{wide(charts.candidates(outcome))}{note}<dl>{rows}</dl>"


def _knowledge(used: Sequence[Used]) -> str:
    """Which entries were before the model, and what changed with them."""
    if not used:
        return ""
    rows = "".join(
        f"<tr><td>{escape(one.title)}</td><td>{escape(one.before or 'nothing written')}</td>"
        f"<td>{escape('right' if one.after == 'slow' else one.after)}</td>"
        f"<td>{escape(one.effect)}</td><td>{escape(', '.join(one.ids))}</td></tr>"
        for one in used
    )
    head = "<tr><th>program</th><th>before</th><th>after</th><th>effect</th><th>entries</th></tr>"
    return wide(f"<table>{head}{rows}</table>")


def _sources(outcome: Outcome) -> str:
    kernel = kernel_path(outcome.files)
    panes = [("PyTorch", f"{outcome.name}.py", outcome.reference)]
    if outcome.chosen.variant.language == "tile" or kernel is None:
        title = "Tile program" if outcome.chosen.variant.language == "tile" else "AscendC"
        panes.append((title, outcome.program_file, outcome.program))
    if kernel is not None:
        panes.append(("AscendC kernel", kernel, outcome.files[kernel]))
    shown = "".join(
        f'<div class="pane"><h3>{escape(title)}<small>{escape(path)}</small></h3>'
        f"{listing(text, path)}</div>"
        for title, path, text in panes
    )
    others = "".join(
        f"<details><summary>{escape(path)}</summary>{listing(text, path)}</details>"
        for path, text in outcome.files.items()
        if path != kernel
    )
    return f'<div class="panes">{shown}</div><div class="others">{others}</div>'


def kernel_path(texts: Mapping[str, str]) -> str | None:
    """The file with the device code."""
    return next((path for path, text in texts.items() if "__aicore__" in text), None)


def _cases(cases: Sequence[Case]) -> str:
    if not cases:
        return ""
    rows = []
    for case in cases:
        state = {True: "right", False: "wrong", None: "not compared"}[case.correct]
        shapes = " ".join(str(tuple(shape)) for shape in case.shapes)
        cells = [
            shapes,
            " ".join(dict.fromkeys(case.dtypes)),
            case.message or "",
            "" if case.max_abs is None else f"{case.max_abs:.1e}",
            "" if case.max_rel is None else f"{case.max_rel:.1e}",
        ]
        style = "good" if case.correct else "bad" if case.correct is False else "muted"
        rows.append(
            "<tr>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f'<td class="{style}">{state}</td></tr>'
        )
    head = "".join(
        f"<th>{name}</th>" for name in ("shapes", "types", "case", "abs. error", "rel. error", "")
    )
    body = "".join(rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _history(outcome: Outcome) -> str:
    stages = "".join(
        f"<tr><td>{escape(stage.name)}</td><td>{stage.seconds:.2f} s</td></tr>"
        for stage in outcome.stages
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in outcome.notes)
    seconds = outcome.verdict.seconds
    total = f"<p>{seconds:.1f} s from command to result.</p>" if seconds is not None else ""
    table = f'<table class="narrow"><tbody>{stages}</tbody></table>' if stages else ""
    return total + table + (f"<ul>{notes}</ul>" if notes else "")
