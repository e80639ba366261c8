# SPDX-License-Identifier: Apache-2.0
"""Find a C++20 compiler: NPUFORGE_CXX, then g++ (12 on), clang++ (14 on), then zig's."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from npuforge.errors import ToolchainError
from npuforge.keys import keyless

Family = Literal["gcc", "clang"]

_NEEDED: dict[Family, int] = {"gcc": 12, "clang": 14}
_NEWEST_TRIED = 30  # versioned names g++-N and clang++-N are looked up from here down
_HOW_TO_FIX = (
    "install g++ 12 or newer, or clang++ 14 or newer, or the Python package ziglang"
    " (pip install 'npuforge[zig]'), or name a compiler in NPUFORGE_CXX"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that works here: its command, family, version and what identifies it."""

    command: tuple[str, ...]
    family: Family
    version: str
    identity: str
    zig: bool = False

    @property
    def name(self) -> str:
        """For people: "g++ 12.2.0"."""
        label = "zig c++" if self.zig else Path(self.command[0]).name
        return f"{label} {self.version}"

    @property
    def readable(self) -> tuple[Path, ...]:
        """Folders outside the system's own that the compiler needs to see."""
        if self.zig:
            return (Path(self.command[0]).parent,)
        folders: list[Path] = []
        for place in {self.command[0], os.path.realpath(self.command[0])}:
            prefix = Path(place).parent.parent
            if len(prefix.parts) > 1 and not prefix.is_relative_to("/usr"):
                folders.append(prefix)
        return tuple(folders)


def find_compiler() -> Compiler:
    """The first usable compiler; `ToolchainError` says what was found wanting and what to do."""
    named = os.environ.get("NPUFORGE_CXX")
    if named:
        found = _examine(tuple(shlex.split(named)))
        if isinstance(found, str):
            raise ToolchainError(f"NPUFORGE_CXX={named}: {found}")
        return found
    refused: list[str] = []
    for stem in ("g++", "clang++"):
        for name in (stem, *(f"{stem}-{number}" for number in range(_NEWEST_TRIED, 11, -1))):
            if shutil.which(name) is None:
                continue
            found = _examine((name,))
            if isinstance(found, Compiler):
                return found
            refused.append(f"{name}: {found}")
    package = importlib.util.find_spec("ziglang")
    if package is not None and package.origin is not None:
        found = _examine((str(Path(package.origin).with_name("zig")), "c++"))
        if isinstance(found, Compiler):
            return found
        refused.append(f"ziglang: {found}")
    seen = f" ({'; '.join(refused)})" if refused else ""
    raise ToolchainError(f"no usable C++ compiler{seen}: {_HOW_TO_FIX}")


def _examine(command: tuple[str, ...]) -> Compiler | str:
    """The compiler of that command, or why it cannot be used."""
    program = shutil.which(command[0])
    if program is None:
        return "no such program"
    command = (os.path.abspath(program), *command[1:])
    try:
        done = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**keyless(), "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start: {error}"
    if done.returncode != 0:
        return f"--version exits with {done.returncode}"
    family: Family = "clang" if "clang" in done.stdout.lower() else "gcc"
    pattern = r"clang version (\d+[.\d]*)" if family == "clang" else r"(\d+\.\d+\.\d+)"
    match = re.search(pattern, done.stdout)
    if match is None:
        return "its version cannot be read"
    version = match.group(1)
    if int(version.split(".")[0]) < _NEEDED[family]:
        return f"version {version} is too old, {_NEEDED[family]} or newer is needed"
    program_file = Path(os.path.realpath(command[0])).stat()
    identity = f"{command} {done.stdout} {program_file.st_size} {program_file.st_mtime_ns}"
    return Compiler(command, family, version, identity, zig=command[1:] == ("c++",))
