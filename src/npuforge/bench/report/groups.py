# SPDX-License-Identifier: Apache-2.0
"""The table of the parts of a run, and the sources of what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from npuforge.bench.metrics import Estimate
from npuforge.bench.report import plots
from npuforge.bench.report.blocks import Block
from npuforge.bench.report.published import Result, System, title
from npuforge.bench.report.words import NOTHING, interval, percent, plain, times

# heading; the name of the share in a published result
_SHARES = (
    ("compiled", "compile"),
    ("published", "pass"),
    ("passed", None),
    ("Fast_0.2", "0.2"),
    ("Fast_0.8", "0.8"),
    ("Fast_1.0", "1.0"),
)
_PLAIN = ("compiled", "Fast_0.2")  # without a bar: a page is only so wide


def groups(parts: Sequence[Block]) -> str:
    """A line for each part, and below it one for each system that published on the same."""
    names = ["", "tasks", *(name for name, _ in _SHARES), "median", "unplanned"]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = []
    for place, block in enumerate(parts):
        first = place > 0 and parts[place - 1].kind != block.kind
        style = "all" if block.kind == "all" else "first" if first else ""
        rows.append(_row(block, style))
        rows += [_beside(system, result) for system, result in block.beside if result.k == 1]
    return (
        f'<table class="groups"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def sources(parts: Sequence[Block]) -> str:
    """All published results that apply, with where they stand and what is not the same."""
    shown: dict[str, tuple[System, list[tuple[Block, Result]]]] = {}
    for block in parts:
        for system, result in block.beside:
            shown.setdefault(system.name, (system, []))[1].append((block, result))
    return "".join(
        f"<details><summary>{escape(system.name)}</summary><div class='inside'>"
        f"<p>{escape(system.source)}.</p><p>{escape(system.caveat)}</p>"
        f'<table class="narrow"><tbody>{"".join(_published(rows))}</tbody></table></div></details>'
        for system, rows in shown.values()
    )


def _row(block: Block, style: str) -> str:
    found = block.figures
    part = found.attempted < found.tasks
    estimates: tuple[Estimate, ...] = (
        found.compiled,
        found.published,
        found.passed,
        found.fast[0.2],
        found.fast[0.8],
        found.fast[1.0],
    )
    cells = [
        f'<th scope="row">{escape(plain(block.title))}</th>',
        f"<td>{f'{found.attempted}/{found.tasks}' if part else found.tasks}</td>",
    ]
    for (name, theirs), estimate in zip(_SHARES, estimates, strict=True):
        bar = _bar(block, name, theirs, estimate)
        cells.append(f'<td>{bar}<span class="figure">{percent(estimate.value)}</span></td>')
    cells.append(f"<td>{times(found.speedup_median.value)}</td>")
    cells.append(f"<td>{found.unplanned or ''}</td>")
    return f'<tr class="{style}">{"".join(cells)}</tr>'


def _bar(block: Block, name: str, theirs: str | None, estimate: Estimate) -> str:
    if estimate.value is None or name in _PLAIN:
        return ""
    others = []
    for system, result in block.beside:
        value = result.share(theirs) if theirs is not None and result.k == 1 else None
        if value is not None:
            others.append((value, f"{system.name}: {percent(value)}"))
    words = f"{name} {percent(estimate.value)}, {interval(estimate)}".removesuffix(", ")
    return plots.bar(estimate.value, estimate.low, estimate.high, others, words)


def _beside(system: System, result: Result) -> str:
    name = title(system, result)
    shares = [None if theirs is None else result.share(theirs) for _, theirs in _SHARES]
    cells = [
        f'<th scope="row" title="{escape(name)}">{escape(name)}</th>',
        f"<td>{NOTHING if result.tasks is None else result.tasks}</td>",
        *(f"<td>{percent(share)}</td>" for share in shares),
        f"<td>{'' if result.speedup is None else times(result.speedup)}</td>",
        "<td></td>",
    ]
    return f'<tr class="beside">{"".join(cells)}</tr>'


def _published(rows: Sequence[tuple[Block, Result]]) -> Iterator[str]:
    for block, result in rows:
        known = {
            "compile": result.compile,
            "pass": result.pass_,
            **{f"Fast_{x}": share for x, share in result.fast.items()},
            "cases right": result.accuracy,
        }
        words = ", ".join(f"{name} {v:g} %" for name, v in known.items() if v is not None)
        speed = "" if result.speedup is None else f"; mean speed-up {times(result.speedup)}"
        scope = f"{block.title} ({'tasks unknown' if result.tasks is None else result.tasks})"
        yield (
            f"<tr><td>{escape(plain(scope))}</td><td>k = {result.k}</td>"
            f"<td>{escape(words + speed)}</td></tr>"
        )
