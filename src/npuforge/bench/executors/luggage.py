# SPDX-License-Identifier: Apache-2.0
"""Folders of the user's that attempts on other machines read: the suite's checkout, and answers.

They travel as one archive, which each attempt unpacks for itself: what a cluster keeps for its
workers goes when another worker dies.
"""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import msgspec

from npuforge.bench.settings import REFERENCE, Settings
from npuforge.bench.suites import checkout, needs_checkout
from npuforge.errors import UsageError

MOST_BYTES = 500 << 20
_LEFT_OUT = {".git", "__pycache__"}
_CHECKOUT = "checkout"
_ANSWERS = "answers"


def pack(settings: Settings, on_nodes: str | None) -> bytes:
    """Return an archive of what the nodes do not have; `on_nodes` is their own checkout."""
    folders: dict[str, Path] = {}
    if needs_checkout(settings) and on_nodes is None:
        folders[_CHECKOUT] = checkout(settings)
    if _has_answers(settings):
        folders[_ANSWERS] = Path(str(settings.answers))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for name, folder in folders.items():
            _add(archive, folder, name)
    return packed.getvalue()


def unpack(settings: Settings, packed: bytes, folder: Path, on_nodes: str | None) -> Settings:
    """Return the settings with the places on this node; variables in `on_nodes` are the node's."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    path, answers = settings.path, settings.answers
    if needs_checkout(settings):
        path = str(folder / _CHECKOUT) if on_nodes is None else os.path.expandvars(on_nodes)
    if _has_answers(settings):
        answers = str(folder / _ANSWERS)
    return msgspec.structs.replace(settings, path=path, answers=answers)


def _has_answers(settings: Settings) -> bool:
    return settings.answers not in (None, REFERENCE)


def _add(archive: tarfile.TarFile, folder: Path, name: str) -> None:
    """Add a folder without its history; of its links those that stay within it."""
    root = folder.resolve()
    left = MOST_BYTES

    def chosen(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        nonlocal left
        inside = Path(member.name).relative_to(name)
        if inside.name in _LEFT_OUT:
            return None
        if member.issym() and not (root / inside).resolve().is_relative_to(root):
            return None
        left -= member.size
        if left < 0:
            raise UsageError(
                f"{folder} is too large to send (more than {MOST_BYTES >> 20} MiB): "
                "put a copy on each node and name it with --on-nodes"
            )
        return member if member.isfile() or member.isdir() or member.issym() else None

    try:
        archive.add(root, arcname=name, filter=chosen)
    except OSError as error:
        raise UsageError(f"cannot read {folder} for the nodes: {error}") from None
