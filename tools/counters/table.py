# SPDX-License-Identifier: Apache-2.0
"""Figures for people, and what is different between two sets of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from rich.console import Group
from rich.table import Table
from tools.counters.figures import Figures, Folder, Text


def table(figures: Figures, *, deep: bool) -> Group:
    """Return all figures; folders below packages only if `deep`."""
    parts = [_lines(figures), _folders(figures, deep=deep), _pages(figures), _rest(figures)]
    return Group(*(item for part in parts for item in (part, "")))


def comparison(kept: Figures, now: Figures) -> Table:
    """Return the figures that are not the same."""
    before, after = (dict(_leaves(msgspec.to_builtins(one))) for one in (kept, now))
    rows = _table("figure", "kept", "now", "difference")
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old != new:
            change = f"{(new or 0) - (old or 0):+g}"
            rows.add_row(name, *("-" if one is None else f"{one:g}" for one in (old, new)), change)
    return rows


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers below a value, by the way to each; of a list, its length."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name} {key or 'package'}".strip())
    elif isinstance(value, list):
        yield name, len(value)
    elif isinstance(value, int | float):
        yield name, value


def _lines(figures: Figures) -> Table:
    languages = sorted({name for counted in figures.lines.values() for name in counted})
    rows = _table("lines", *languages, "all")
    for area, counted in figures.lines.items():
        shown = [str(counted.get(name, "")) for name in languages]
        rows.add_row(area, *shown, str(sum(counted.values())))
    return rows


def _folders(figures: Figures, *, deep: bool) -> Table:
    rows = _table(
        "src/npuforge", "files", "lines", "<= 60", "> 250", "docstrings", "begin badly",
        "> 25 words", "median", "re", "tile code",
    )  # fmt: skip
    for name, folder in figures.folders.items():
        if deep or "/" not in name:
            rows.add_row(name or "all", *_cells(folder))
    return rows


def _cells(folder: Folder) -> list[str]:
    counts = (folder.files, folder.lines, folder.crumbs, folder.large, folder.docstrings)
    return [
        *map(str, counts),
        f"{folder.badly_opened} ({_percent(folder.badly_opened, folder.docstrings)})",
        *_of_text(folder.text),
        str(folder.patterns),
        str(folder.tile_lines),
    ]


def _pages(figures: Figures) -> Table:
    rows = _table("pages", "sentences", "> 25 words", "median")
    for name, text in figures.pages.items():
        rows.add_row(name, str(text.sentences), *_of_text(text))
    return rows


def _rest(figures: Figures) -> Table:
    rows = _table("the rest", "")
    rows.add_row("lines of an example's program, median", f"{figures.programs.median:g}")
    rows.add_row("lines of all examples' programs", str(figures.programs.total))
    for name, count in figures.private_functions.items():
        rows.add_row(f"files that define {name}", str(count))
    rows.add_row("times that a variable is called found", str(figures.local_found))
    rows.add_row("imports that go up", str(figures.upward))
    rows.add_row("circles of imports", str(len(figures.circles)))
    for circle in figures.circles:
        rows.add_row(" ".join(circle), "")
    return rows


def _of_text(text: Text) -> tuple[str, str]:
    median = "" if text.median is None else f"{text.median:g}"
    return f"{text.long} ({_percent(text.long, text.sentences)})", median


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _table(first: str, *others: str) -> Table:
    rows = Table(box=None, padding=(0, 2, 0, 0))
    rows.add_column(first, no_wrap=True)
    for name in others:
        rows.add_column(name, justify="right", no_wrap=True)
    return rows
