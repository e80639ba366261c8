# SPDX-License-Identifier: Apache-2.0
"""Write into lock files the hashes of all files that a pinned version has.

    python tools/lock.py requirements.lock requirements-train.lock

The package indexes and wheel folders are those that pip is configured with. A line is
`name==version`, with an environment marker after `;` if it needs one; hashes that stand there are
replaced. Files for Pythons older than 3.11 are left out.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname, urlopen

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

_OLDEST_PYTHON = 11  # of 3.x
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(;[^\\]*)?\\?")
_CPYTHON = re.compile(r"cp3(\d+)")
_SHA256 = "sha256="


@dataclass(frozen=True, slots=True)
class Sources:
    """Package indexes by address, and folders with files."""

    indexes: list[str]
    folders: list[Path]

    @staticmethod
    def of_pip() -> Sources:
        """Return what pip uses here."""
        command = [sys.executable, "-m", "pip", "config", "list"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        settings: dict[str, list[str]] = {}
        for line in listed.splitlines():
            name, _, value = line.partition("=")
            settings[name.rpartition(".")[2]] = shlex.split(shlex.split(value)[0])
        own = importlib.import_module("pip._internal.models.index").PyPI.simple_url
        indexes = [*settings.get("index-url", [own]), *settings.get("extra-index-url", [])]
        return Sources(indexes, [Path(place) for place in settings.get("find-links", [])])

    def hashes(self, name: str, version: str) -> list[str]:
        """Return the hashes of all files of a version."""
        found = {
            digest
            for index in self.indexes
            for file, digest in _listed(index, canonicalize_name(name))
            if _belongs(file, name, version)
        }
        for folder in self.folders:
            for path in folder.iterdir() if folder.is_dir() else ():
                if _belongs(path.name, name, version):
                    with path.open("rb") as file:
                        found.add(hashlib.file_digest(file, "sha256").hexdigest())
        if not found:
            raise SystemExit(f"no index has a file of {name} {version}")
        return sorted(found)


class _Anchors(HTMLParser):
    """The links of a page: text and address."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._address = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self._address:
            self.found.append((data.strip(), self._address))
            self._address = ""


@dataclass(slots=True)
class _Line:
    """A pinned package with its marker, or a comment."""

    text: str
    name: str = ""
    version: str = ""
    hashes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return " \\\n    ".join([self.text, *(f"--hash=sha256:{one}" for one in self.hashes)])


def lock(file: Path, sources: Sources) -> None:
    """Write the file again with the hashes of today."""
    lines = list(_lines(file.read_text("utf-8")))
    pinned = [line for line in lines if line.name]
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda line: sources.hashes(line.name, line.version), pinned)
        for line, hashes in zip(pinned, found, strict=True):
            line.hashes = hashes
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _lines(text: str) -> Iterator[_Line]:
    for line in text.splitlines():
        if line.startswith("#"):
            yield _Line(line)
        elif (match := _PIN.fullmatch(line.strip())) is not None:
            marker = f" {match[3].strip()}" if match[3] else ""
            yield _Line(f"{match[1]}=={match[2]}{marker}", match[1], match[2])
        elif not line.strip().startswith("--hash="):
            raise SystemExit(f"neither a pinned package nor a comment: {line}")


def _listed(index: str, name: str) -> Iterator[tuple[str, str]]:
    """Names of files with their hashes, as an index lists them."""
    page = urljoin(index.rstrip("/") + "/", f"{name}/")
    if urlsplit(page).scheme == "file":
        path = Path(url2pathname(urlsplit(page).path)) / "index.html"
        text = path.read_text("utf-8") if path.is_file() else ""
    else:
        with urlopen(page) as response:
            text = response.read().decode()
    anchors = _Anchors()
    anchors.feed(text)
    for file, address in anchors.found:
        fragment = urlsplit(address).fragment
        if fragment.startswith(_SHA256):
            yield file, fragment.removeprefix(_SHA256)


def _belongs(file: str, name: str, version: str) -> bool:
    """Tell whether a file is of this version and for a Python that is supported."""
    try:
        if file.endswith(".whl"):
            called, known, _, tags = parse_wheel_filename(file)
            if not any(_supported(tag.interpreter, tag.abi) for tag in tags):
                return False
        else:
            called, known = parse_sdist_filename(file)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return False
    return called == canonicalize_name(name) and known == Version(version)


def _supported(interpreter: str, abi: str) -> bool:
    match = _CPYTHON.fullmatch(interpreter)
    if match is None:
        return interpreter.startswith("py3")
    return abi == "abi3" or int(match[1]) >= _OLDEST_PYTHON


def main() -> int:
    """Write the files that are named."""
    sources = Sources.of_pip()
    for name in sys.argv[1:]:
        lock(Path(name), sources)
    return 0


if __name__ == "__main__":
    sys.exit(main())
