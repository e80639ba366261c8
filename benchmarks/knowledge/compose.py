# SPDX-License-Identifier: Apache-2.0
"""From lessons to entries: a frame with its holes filled is the kernel, an edit of it the fault.

A lesson (lessons/*.toml) names a frame (frames/), what fills its holes, and how the other program
of the pair differs: by other fills (`before`) or by edits of the text (`edits`, pairs of what After
says and what Before says); `after_edits` change the frame for both. What differs, with a little
around it, is marked to be shown.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_HOLE = re.compile(r"@([A-Z]+)@")
_CONTEXT = 3
_DTYPES = {
    "half": "float16", "float": "float32", "bfloat16_t": "bfloat16", "int8_t": "int8",
    "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16", "int32_t": "int32",
    "uint32_t": "uint32", "int64_t": "int64", "tl.float16": "float16", "tl.float32": "float32",
    "tl.int32": "int32", "tl.int64": "int64", "tl.bool": "bool", "tl.bfloat16": "bfloat16",
}  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """What an entry is made of: two artifacts and the launches that tell them apart."""

    before: str
    after: str
    launch: str
    trial: str  # the launch file with every size, for the kernel itself


@cache
def frames() -> Mapping[str, Any]:
    return tomllib.loads((FOLDER / "frames.toml").read_text("utf-8"))


def lessons(names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """All lessons, or those of the files named."""
    found = []
    for path in sorted((FOLDER / "lessons").glob("*.toml")):
        if not names or path.stem in names:
            found += tomllib.loads(path.read_text("utf-8"))["lesson"]
    return found


def language(lesson: Mapping[str, Any]) -> str:
    """Of both programs of a lesson."""
    return str(frames()[lesson["frame"]].get("language", "ascendc"))


def pair(lesson: Mapping[str, Any]) -> Pair:
    """Both artifacts of a lesson, marked, and their launch."""
    frame = frames()[lesson["frame"]]
    suffix = "tile" if language(lesson) == "tile" else "cpp"
    source = (FOLDER / "frames" / f"{lesson['frame']}.{suffix}").read_text("utf-8")
    fills = {**frame["holes"], **lesson.get("fill", {})}
    fills |= lesson.get("after", {})
    after = _edited(_filled(source, fills), lesson, "after_edits")
    before = _edited(_filled(source, {**fills, **lesson.get("before", {})}), lesson, "after_edits")
    before = _edited(before, lesson, "edits")
    if before == after:
        raise ValueError(f"{lesson['id']}: Before and After are the same")
    marked = _marked(before, after, "#" if suffix == "tile" else "//")
    sizes = lesson.get("sizes", frame["sizes"])
    more = lesson.get("more", frame["more"])
    return Pair(
        *marked,
        _launch(lesson, frame, fills, sizes),
        _launch(lesson, frame, fills, [*sizes, *more]),
    )


def _filled(source: str, fills: Mapping[str, str]) -> str:
    """Text in the place of holes; a hole alone on a line gives its indentation to each line."""
    lines = []
    for line in source.splitlines():
        whole = re.fullmatch(r"( *)@([A-Z]+)@", line)
        if whole is None:
            lines.append(_HOLE.sub(lambda match: fills[match[1]], line))
            continue
        text = fills[whole[2]].strip("\n")
        lines += [whole[1] + part if part else part for part in text.split("\n")] if text else []
    return "\n".join(lines) + "\n"


def _edited(text: str, lesson: Mapping[str, Any], which: str) -> str:
    for old, new in lesson.get(which, []):
        if old not in text:
            raise ValueError(f"{lesson['id']}: the kernel has no {old!r}")
        text = text.replace(old, new, 1)
    return text


def _marked(before: str, after: str, comment: str) -> tuple[str, str]:
    """Both with `// [` and `// ]` lines around what differs; unmarked where that is most of it."""
    old, new = before.splitlines(), after.splitlines()
    spans: list[list[int]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        around = min(_CONTEXT, i1, j1)
        span = [
            i1 - around,
            min(i2 + _CONTEXT, len(old)),
            j1 - around,
            min(j2 + _CONTEXT, len(new)),
        ]
        if spans and (span[0] <= spans[-1][1] or span[2] <= spans[-1][3]):
            spans[-1][1], spans[-1][3] = span[1], span[3]
        else:
            spans.append(span)
    if sum(span[3] - span[2] for span in spans) > 0.7 * len(new):
        return before, after
    return _fenced(old, [s[:2] for s in spans], comment), _fenced(
        new, [s[2:] for s in spans], comment
    )


def _fenced(lines: Sequence[str], spans: Sequence[Sequence[int]], comment: str) -> str:
    result = list(lines)
    for start, stop in reversed(spans):
        result[stop:stop] = [f"{comment} ]"]
        result[start:start] = [f"{comment} ["]
    return "\n".join(result) + "\n"


def _launch(
    lesson: Mapping[str, Any],
    frame: Mapping[str, Any],
    fills: Mapping[str, str],
    sizes: Sequence[Mapping[str, int]],
) -> str:
    """A launch file in TOML: one case for each size."""
    data = {"X": lesson.get("data", "random"), "B": lesson.get("data2", "random")}
    expected = lesson.get("expected", frame["expected"])
    tolerance = {"tolerance": lesson["tolerance"]} if "tolerance" in lesson else {}
    lines = [f"expected = {_inline({frame['output']: {'expression': expected, **tolerance}})}"]
    for size in sizes:
        lines += ["", "[[case]]"]
        lines += [f"blocks = {size['blocks']}"] if "blocks" in size else []
        lines += ["input = [" if language(lesson) == "tile" else "argument = ["]
        for argument in frame["arguments"]:
            made = {
                key: value if key == "name" else _valued(value, size, fills, data)
                for key, value in argument.items()
            }
            if "dtype" in made:
                made["dtype"] = _DTYPES.get(made["dtype"], made["dtype"])
            lines.append(f"    {_inline(made)},")
        lines.append("]")
    return "\n".join(lines) + "\n"


def _valued(
    value: Any, size: Mapping[str, int], fills: Mapping[str, str], data: Mapping[str, Any]
) -> Any:
    if isinstance(value, list):
        return [_valued(item, size, fills, data) for item in value]
    if isinstance(value, str) and (hole := _HOLE.fullmatch(value)):
        filled = data.get(hole[1], fills.get(hole[1], ""))
        return int(filled) if isinstance(filled, str) and filled.isdigit() else filled
    return size.get(value, value) if isinstance(value, str) and value in size else value


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
