# SPDX-License-Identifier: Apache-2.0
"""Turn code addresses of a library into functions, files and lines."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from npuforge.errors import ToolchainError
from npuforge.sandbox import GIB, MIB, Limits, Sandbox
from npuforge.scratch import scratch_folder

_LIMITS = Limits(cpu_s=60, wall_s=60, memory_bytes=2 * GIB, processes=4, output_bytes=64 * MIB)
_LONGEST = 1000
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Frame:
    """One (possibly inlined) function at an address; `file` and `line` are None where unknown."""

    function: str
    file: str | None
    line: int | None


def symbolize(so: Path, addresses: Sequence[int]) -> dict[int, list[Frame]]:
    """Frames of each address (relative to the library's load address), innermost first."""
    wanted = list(dict.fromkeys(addresses))
    if not wanted:
        return {}
    addr2line, llvm = shutil.which("addr2line"), shutil.which("llvm-symbolizer")
    if addr2line is not None:
        return _addr2line(addr2line, so, wanted)
    if llvm is not None:
        return _llvm_symbolizer(llvm, so, wanted)
    raise ToolchainError("neither addr2line nor llvm-symbolizer found: install binutils or llvm")


def user_frame(frames: Sequence[Frame], own_roots: Sequence[Path]) -> Frame | None:
    """The innermost frame whose file is known and lies outside `own_roots`."""
    for frame in frames:
        if frame.file is None:
            continue
        path = Path(frame.file)
        if not any(path.is_relative_to(root) for root in own_roots):
            return frame
    return None


def _addr2line(program: str, so: Path, wanted: list[int]) -> dict[int, list[Frame]]:
    """`-a` prints each address before its pairs of lines (function, file:line)."""
    lines = _ask([program, "-a", "-i", "-f", "-C", "-e", str(so)], so, wanted)
    return _group(lines, wanted, re.compile(r"^0x[0-9a-f]{1,16}$"))


def _llvm_symbolizer(program: str, so: Path, wanted: list[int]) -> dict[int, list[Frame]]:
    command = [program, "--output-style=GNU", "--addresses", "--inlines", "--demangle"]
    lines = _ask([*command, f"--obj={so}"], so, wanted)
    return _group([line for line in lines if line], wanted, re.compile(r"^0x[0-9a-f]{1,16}$"))


def _ask(command: list[str], so: Path, wanted: list[int]) -> list[str]:
    """Run the tool in the sandbox: what it parses was written by a stranger's compiler run."""
    with scratch_folder("symbols") as scratch:
        done = Sandbox.detect().run(
            command,
            scratch=scratch,
            readable=[so],
            limits=_LIMITS,
            stdin="".join(f"{address:#x}\n" for address in wanted).encode(),
        )
    if done.killed_by is None and done.returncode != 0:
        raise ToolchainError(f"{Path(command[0]).name} failed with status {done.returncode}")
    return done.stdout.decode(errors="replace").splitlines()


def _group(lines: list[str], wanted: list[int], heading: re.Pattern[str]) -> dict[int, list[Frame]]:
    found: dict[int, list[Frame]] = {address: [] for address in wanted}
    frames: list[Frame] = []
    position = 0
    while position < len(lines):
        if heading.match(lines[position]):
            frames = found.setdefault(int(lines[position], 16), [])
            position += 1
            continue
        place = lines[position + 1] if position + 1 < len(lines) else "??:0"
        frames.append(_frame(lines[position], place))
        position += 2
    return found


def _frame(function: str, place: str) -> Frame:
    """`place` is file:line, with "(discriminator 2)" after it or "?" for what is not known."""
    file, _, line = place.split(" (", 1)[0].rpartition(":")
    if not file or file == "??":
        return Frame(function, None, None)
    number = int(line) if _NUMBER.fullmatch(line) else 0
    return Frame(function[:_LONGEST], os.path.normpath(file[:_LONGEST]), number or None)
