# SPDX-License-Identifier: Apache-2.0
"""The folder of a recording: `recording.json`, and every item's texts as files to read.

`recording.json` names the format, the tree and the machine, and holds each item's digest, so that
a folder in which something was changed or lost is refused.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tools.recording.items import matches
from tools.recording.store import Texts, texts_digest
from tools.recording.tree import CallError

FORMAT = 1
_INDEX = "recording.json"
_ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Recording:
    """Items by name. `commit` is None for a tree that is no clean checkout; `missing` are items
    whose worker ended."""

    sources: str
    commit: str | None
    machine: Mapping[str, str]
    items: Mapping[str, Texts]
    missing: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        return self.commit[:12] if self.commit else f"sources {self.sources[:12]}"


def check_free(folder: Path) -> None:
    """Refuse a folder that holds something else; an earlier recording is replaced."""
    if not folder.exists() or (folder / _INDEX).is_file():
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise CallError(f"{folder} exists and is no recording; choose another --out")


def write_recording(recording: Recording, folder: Path) -> None:
    """Write the folder; its index comes last."""
    check_free(folder)
    try:
        (folder / _INDEX).unlink(missing_ok=True)
        shutil.rmtree(folder / _ITEMS, ignore_errors=True)
        for name, texts in recording.items.items():
            for path, text in texts.items():
                file = folder / _ITEMS / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode())
        index = {
            "format": FORMAT,
            "commit": recording.commit,
            "sources": recording.sources,
            "machine": dict(recording.machine),
            "missing": list(recording.missing),
            "items": {name: texts_digest(texts) for name, texts in recording.items.items()},
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _INDEX).write_text(json.dumps(index, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise CallError(f"cannot write {folder}: {error.strerror}") from None


def is_recording(folder: Path) -> bool:
    return (folder / _INDEX).is_file()


def read_recording(folder: Path) -> Recording:
    """Read a folder; `CallError` if it is of another format, or damaged."""
    try:
        index = json.loads((folder / _INDEX).read_bytes())
        if index["format"] != FORMAT:
            raise CallError(f"{folder} has format {index['format']}; this tool reads {FORMAT}")
        items: dict[str, Texts] = {}
        for name, known in index["items"].items():
            items[name] = _read_texts(folder / _ITEMS / name)
            if texts_digest(items[name]) != known:
                raise CallError(f"{folder}: {name} was changed since it was recorded")
        return Recording(
            index["sources"], index["commit"], index["machine"], items, tuple(index["missing"])
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CallError(f"{folder} is no recording that can be read: {error}") from None


def chosen_items(recording: Recording, patterns: Sequence[str]) -> Recording:
    """Return a recording with the items that match a pattern, all of them without one."""
    names = [name for name in (*recording.items, *recording.missing) if matches(name, patterns)]
    items = {name: recording.items[name] for name in names if name in recording.items}
    missing = tuple(name for name in recording.missing if name in names)
    return replace(recording, items=items, missing=missing)


def _read_texts(folder: Path) -> Texts:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in files}
