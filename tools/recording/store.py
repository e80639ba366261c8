# SPDX-License-Identifier: Apache-2.0
"""A store of recorded items by the content that they were made from."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tools.recording.items import Item
from tools.recording.tree import CallError, digest_of

Texts = Mapping[str, str]
_WORKER = Path(__file__).with_name("worker.py")
_LIBRARIES = ("torch", "numpy")


@cache
def machine() -> dict[str, str]:
    """Return what figures may depend on besides the source tree."""
    return {
        "processor": _processor(),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
        "compiler": _compiler(),
        **{name: _version(name) for name in _LIBRARIES},
    }


def default_root() -> Path:
    """Return `npuforge-replay` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "npuforge-replay"


@dataclass(frozen=True, slots=True)
class Store:
    """Items under `root`, a file each; a damaged one counts as missing."""

    root: Path

    def find(self, key: str) -> Texts | None:
        """Return an item's texts, or None."""
        try:
            entry = json.loads(self._file(key).read_bytes())
            texts: dict[str, str] = entry["texts"]
            return texts if entry["digest"] == texts_digest(texts) else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def add(self, key: str, texts: Texts) -> None:
        """Keep an item; it appears as a whole."""
        file = self._file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        entry = {"digest": texts_digest(texts), "texts": dict(texts)}
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as made:
            json.dump(entry, made)
        os.replace(made.name, file)

    def _file(self, key: str) -> Path:
        return self.root / key[:2] / f"{key}.json"


def item_key(item: Item, sources: str) -> str:
    """Return the key of an item recorded from sources of this digest, by this worker, here."""
    parts = [sources, item.digest(), repr(machine())]
    return digest_of([_WORKER.read_bytes(), *(part.encode() for part in parts)])


def texts_digest(texts: Texts) -> str:
    """Return a digest of paths and texts."""
    return digest_of(part.encode() for pair in sorted(texts.items()) for part in pair)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        told = f"{sys.executable} has no {library}; run this with the Python of a .venv"
        raise CallError(told) from None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _compiler() -> str:
    found = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)
    if found is None:
        return "none"
    done = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return next(iter(done.stdout.splitlines()), found)
