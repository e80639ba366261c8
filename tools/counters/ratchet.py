# SPDX-License-Identifier: Apache-2.0
"""Counters that must not rise: `limits.toml` has the most that each package may have.

Imports never go up, and no circle of imports may be added to the named ones.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from tools.counters.figures import Places
from tools.counters.tree import PACKAGE, Place

FILE = Path(__file__).with_name("limits.toml")
_HEAD = """# SPDX-License-Identifier: Apache-2.0
# The most that each package of src/npuforge may have; `python -m tools.counters --tighten` lowers
# these to what there is. "." are the modules beside the packages; a package without a number has 0.
"""
_RULES = {
    "docstrings": "a docstring begins with a verb or a noun",
    "patterns": "regular expressions stay with parsing, printing and highlighting",
    "tile_lines": "tile code is built, not pasted as text",
}


class Limits(msgspec.Struct, kw_only=True):
    """`free` are places, as paths begin, where regular expressions parse, print or highlight."""

    free: list[str] = []
    circles: list[list[str]] = []
    docstrings: dict[str, int] = {}
    patterns: dict[str, int] = {}
    tile_lines: dict[str, int] = {}


def limits() -> Limits:
    """Read the file of limits."""
    return msgspec.convert(tomllib.loads(FILE.read_text("utf-8")), Limits)


def broken(places: Places, allowed: Limits) -> Iterator[str]:
    """Yield a message for every limit that is exceeded, with the file, the line and the rule."""
    for kind, rule in _RULES.items():
        most: Mapping[str, int] = getattr(allowed, kind)
        for package, found in _by_package(places, kind, allowed.free).items():
            if len(found) > most.get(package, 0):
                head = f"{PACKAGE}/{package} has {len(found)}, at most {most.get(package, 0)}"
                yield "\n  ".join([f"{rule}: {head}", *map(str, found)])
    for place in places.upward:
        yield f"imports go down: {place}"
    for circle in places.circles:
        if circle not in allowed.circles:
            edges = [
                str(places.imports[module][target])
                for module in circle
                for target in circle
                if target != module and target in places.imports[module]
            ]
            yield "\n  ".join(["no circle of imports", *edges])


def tightened(places: Places, allowed: Limits) -> Limits:
    """Lower every limit to what there is; none rises."""
    lowered = {
        kind: {
            package: min(len(found), getattr(allowed, kind).get(package, 0))
            for package, found in _by_package(places, kind, allowed.free).items()
        }
        for kind in _RULES
    }
    circles = [circle for circle in allowed.circles if circle in places.circles]
    return Limits(free=allowed.free, circles=circles, **lowered)


def text(allowed: Limits) -> str:
    """Write limits as TOML."""
    parts = [_HEAD, _listed("free", allowed.free), _listed("circles", allowed.circles)]
    for kind in _RULES:
        counts: Mapping[str, int] = getattr(allowed, kind)
        rows = [f"{_quoted(name)} = {counts[name]}" for name in sorted(counts) if counts[name]]
        parts.append("\n".join([f"[{kind}]", *rows, ""]))
    return "\n".join(parts)


def _by_package(places: Places, kind: str, free: Sequence[str]) -> dict[str, list[Place]]:
    """Return the places of a kind by package, less those that are free."""
    by_path: Mapping[str, list[Place]] = getattr(places, kind)
    result: dict[str, list[Place]] = {}
    for path, found in by_path.items():
        inner = path.removeprefix(f"{PACKAGE}/")
        if found and not (kind == "patterns" and inner.startswith(tuple(free))):
            package = inner.split("/")[0] if "/" in inner else "."
            result.setdefault(package, []).extend(found)
    return result


def _listed(name: str, items: Sequence[object]) -> str:
    rows = [f"    {msgspec.json.encode(item).decode()}," for item in items]
    return "\n".join([f"{name} = [", *rows, "]", ""])


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'
