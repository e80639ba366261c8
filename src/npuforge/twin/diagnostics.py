# SPDX-License-Identifier: Apache-2.0
"""Turn what gcc, clang and the linker print into diagnostics: the first error and its notes.

Sources choose parts of these texts, by `#line` too: names are shown, and no file is opened by them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from npuforge.verdict import Diagnostic

_LONGEST = 2000  # of a message or a file's name: a source decides what they say
_MOST = 200
_MESSAGE = re.compile(
    r"^(?P<file>[^\s:][^:]*):(?P<line>[0-9]{1,9}):(?:\d+:)?\s+"
    r"(?P<kind>fatal error|error|warning|note):\s+(?P<text>.*)$"
)
_TRAIL = re.compile(
    r"^(?P<file>[^\s:][^:]*):(?P<line>[0-9]{1,9}):(?:\d+:)?\s+"
    r"(?P<text>(?:recursively )?required from.*)$"
)
_INCLUDED = re.compile(r"^(?:In file included| +) from (?P<file>[^:]+):(?P<line>[0-9]{1,9})")
_LINKER = re.compile(
    r"^(?:\S*ld(?:\.\w+)?: )?(?:(?P<file>[^\s:(]+):(?:(?P<line>[0-9]{1,9})|\(\S+\)): )?"
    r"(?:in function .*: )?(?P<text>(?:undefined reference|multiple definition).*|cannot find .*)$"
)
_LLD = re.compile(r"^\S*ld\.lld: error: (?P<text>.*)$")
_LLD_PLACE = re.compile(r"^>>> (?:referenced by|defined at) (?P<file>[^\s:]+):(?P<line>[0-9]{1,9})")
_BARE = re.compile(
    r"^\S*(?:g\+\+|clang\S*|cc1plus|zig)\S*: (?:fatal |internal compiler )?error: (?P<text>.*)$"
)


def relative(file: str, roots: Sequence[tuple[Path, str]]) -> str:
    """`file` relative to the first of `roots` (folder, name to show it by) that holds it."""
    path = Path(os.path.normpath(file[:_LONGEST]))
    for folder, shown in roots:
        if path.is_relative_to(folder):
            return os.path.normpath(Path(shown) / path.relative_to(folder))
    return str(path)


def parse(log: str, roots: Sequence[tuple[Path, str]]) -> list[Diagnostic]:
    """The first error, the places that led to it, and the notes that follow it."""
    led_here: list[Diagnostic] = []
    found: list[Diagnostic] = []
    for line in log.splitlines():
        if message := _MESSAGE.match(line):
            kind, text = message["kind"], message["text"]
            here = Diagnostic(relative(message["file"], roots), int(message["line"]), text)
            if kind in ("error", "fatal error"):
                if found:
                    break
                found = [here, *led_here]
            elif kind == "note" and found:
                found.append(Diagnostic(here.file, here.line, f"note: {text}"))
            if kind != "note":
                led_here = []
        elif trail := _TRAIL.match(line):
            place = relative(trail["file"], roots)
            led_here.append(Diagnostic(place, int(trail["line"]), f"note: {trail['text']}"))
        elif (included := _INCLUDED.match(line)) and not found:
            place = relative(included["file"], roots)
            led_here.append(Diagnostic(place, int(included["line"]), "note: included from here"))
    return [_bounded(diagnostic) for diagnostic in (found or _without_place(log, roots))[:_MOST]]


def _bounded(diagnostic: Diagnostic) -> Diagnostic:
    if len(diagnostic.message) <= _LONGEST:
        return diagnostic
    return Diagnostic(diagnostic.file, diagnostic.line, f"{diagnostic.message[:_LONGEST]}...")


def _without_place(log: str, roots: Sequence[tuple[Path, str]]) -> list[Diagnostic]:
    """Errors of the linker, each once; without any, those of the compiler's driver."""
    of_linker: dict[Diagnostic, None] = {}
    of_driver: dict[Diagnostic, None] = {}
    lines = log.splitlines()
    for line, following in pairwise([*lines, ""]):
        if lld := _LLD.match(line):
            place = _LLD_PLACE.match(following)
            file = relative(place["file"], roots) if place else None
            number = int(place["line"]) if place else None
            of_linker[Diagnostic(file, number, lld["text"])] = None
        elif bare := _BARE.match(line):
            of_driver[Diagnostic(None, None, bare["text"])] = None
        elif linker := _LINKER.match(line):
            file = relative(linker["file"], roots) if linker["file"] else None
            number = int(linker["line"]) if linker["line"] else None
            of_linker[Diagnostic(file, number, linker["text"])] = None
    return list(of_linker or of_driver)
