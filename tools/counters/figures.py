# SPDX-License-Identifier: Apache-2.0
"""All figures of a tree of files."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
from tools.counters import imports, names, patterns, programs, prose, tilecode
from tools.counters.tree import Place, Source

_CRUMB, _LARGE = 60, 250  # lines of a file that is small, of one that is larger than it should be
_LOCAL = "found"
_SHOWN_NAMES = 8


class Text(msgspec.Struct, kw_only=True):
    """Sentences, those of more than 25 words, and the median of their words."""

    sentences: int
    long: int
    median: float | None


class Folder(msgspec.Struct, kw_only=True):
    """A folder of the package with what is below it."""

    files: int
    lines: int
    crumbs: int
    large: int
    docstrings: int
    badly_opened: int
    text: Text
    patterns: int
    tile_lines: int


class Programs(msgspec.Struct, kw_only=True):
    """Lines of the tile programs of examples/tile."""

    median: float
    total: int
    each: dict[str, int]


class Figures(msgspec.Struct, kw_only=True):
    """What is kept and compared; `lines` by area and language, `folders` of the package by name,
    of which "" is all of it."""

    lines: dict[str, dict[str, int]]
    folders: dict[str, Folder]
    pages: dict[str, Text]
    programs: Programs
    private_functions: dict[str, int]
    local_found: int
    circles: list[list[str]]
    upward: int


@dataclass(frozen=True)
class Places:
    """Where the counted things of the package are, by the path of the file."""

    code: Sequence[Source]

    @cached_property
    def docstrings(self) -> dict[str, list[Place]]:
        return {source.path: prose.badly_opened(source) for source in self.code}

    @cached_property
    def patterns(self) -> dict[str, list[Place]]:
        return patterns.applied(self.code)

    @cached_property
    def tile_lines(self) -> dict[str, list[Place]]:
        return {source.path: tilecode.tile_lines(source) for source in self.code}

    @cached_property
    def imports(self) -> imports.Graph:
        return imports.graph(self.code)

    @cached_property
    def circles(self) -> list[list[str]]:
        return imports.circles(self.imports)

    @cached_property
    def upward(self) -> list[Place]:
        return imports.upward(self.imports, imports.layers())


def places(sources: Iterable[Source]) -> Places:
    """Return what is to be counted in the package."""
    return Places([source for source in sources if source.is_code])


def figures(sources: Sequence[Source]) -> Figures:
    """Count everything."""
    known = places(sources)
    inside: dict[str, list[Source]] = defaultdict(list)
    for source in known.code:
        for folder in source.folders:
            inside[folder].append(source)
    private = names.private_functions(known.code).most_common(_SHOWN_NAMES)
    return Figures(
        lines=_lines(sources),
        folders={folder: _folder(inside[folder], known) for folder in sorted(inside)},
        pages=_pages(sources),
        programs=_programs(sources),
        private_functions=dict(private),
        local_found=names.occurrences(known.code, _LOCAL),
        circles=known.circles,
        upward=len(known.upward),
    )


def _lines(sources: Iterable[Source]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for source in sources:
        counts[source.area][source.language] += source.lines
    return {area: dict(sorted(counted.items())) for area, counted in sorted(counts.items())}


def _folder(inside: Sequence[Source], known: Places) -> Folder:
    texts = [text for source in inside for _, text in prose.docstrings(source)]
    return Folder(
        files=len(inside),
        lines=sum(source.lines for source in inside),
        crumbs=sum(source.lines <= _CRUMB for source in inside),
        large=sum(source.lines > _LARGE for source in inside),
        docstrings=len(texts),
        badly_opened=_counted(known.docstrings, inside),
        text=_text(texts),
        patterns=_counted(known.patterns, inside),
        tile_lines=_counted(known.tile_lines, inside),
    )


def _counted(found: dict[str, list[Place]], inside: Iterable[Source]) -> int:
    return sum(len(found[source.path]) for source in inside)


def _pages(sources: Iterable[Source]) -> dict[str, Text]:
    texts: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        if source.language == "pages" and source.area in ("README.md", "docs"):
            texts[source.path.rpartition("/")[0] or source.path].append(source.text)
    return {folder: _text(texts[folder]) for folder in sorted(texts)}


def _text(texts: Iterable[str]) -> Text:
    counts = prose.lengths(texts)
    return Text(
        sentences=len(counts),
        long=sum(count > prose.LONG for count in counts),
        median=prose.median(counts),
    )


def _programs(sources: Iterable[Source]) -> Programs:
    each = {
        source.path.removeprefix(programs.FOLDER): programs.program_lines(source)
        for source in sources
        if source.path.startswith(programs.FOLDER)
    }
    median = statistics.median(each.values()) if each else 0
    return Programs(median=median, total=sum(each.values()), each=each)
