# SPDX-License-Identifier: Apache-2.0
"""Read what a session left behind: `result.json` of the runner or of a direct-launch program.

The process that wrote it ran untrusted code, so its files are opened without following links, only
up to a size, and everything in them is checked for type. Code addresses are looked up only in the
library or program that was built for the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from npuforge import rules
from npuforge.dtypes import AnyArray
from npuforge.sandbox import MIB, open_plain
from npuforge.twin.recipes import CPP_ROOT
from npuforge.twin.symbolize import Frame, symbolize, user_frame
from npuforge.verdict import Advice, Race, Side, Violation

RESULT_FILE = "result.json"
_RESULT_LIMIT = 64 * MIB


class RawFrame(msgspec.Struct):
    address: int
    object: str


class RawFinding(msgspec.Struct):
    rule: str
    message: str
    severity: str = ""
    core: int = 0
    count: int = 1
    cycles_lost: int = 0
    site: list[RawFrame] = []
    pipe: str = ""
    other_pipe: str = ""
    other_site: list[RawFrame] = []


class RawLaunch(msgspec.Struct):
    name: str
    blocks: int
    error: str
    value_read: bool
    stream_hash: str
    timing: dict[str, Any] | None = None


class RawResult(msgspec.Struct):
    error: str
    launches: list[RawLaunch]
    findings: list[RawFinding]


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings by what they mean, with places in the source."""

    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)


def load(scratch: Path) -> RawResult | None:
    """The session's result; None when there is none or it is damaged."""
    raw = read_back(scratch / RESULT_FILE, _RESULT_LIMIT)
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw.tobytes(), type=RawResult)
    except msgspec.DecodeError:
        return None


def read_back(path: Path, limit: int) -> AnyArray | None:
    """The bytes of a plain file of at most `limit` bytes; None for anything else."""
    file = open_plain(path, limit)
    if file is None:
        return None
    with file:
        return np.fromfile(file, np.uint8)


def explain(found: Sequence[RawFinding], objects: Mapping[str, Path], root: Path) -> Findings:
    """Findings with file and line; `objects` maps names in the result to what was built here."""
    places = _Places(found, objects, root)
    result = Findings()
    for finding in found:
        file, line = places.of(finding.site)
        if finding.pipe:
            first_file, first_line = places.of(finding.other_site)
            result.races.append(
                Race(
                    rule=finding.rule,
                    first=Side(first_file, first_line, finding.other_pipe),
                    second=Side(file, line, finding.pipe),
                    message=finding.message,
                )
            )
            continue
        severity, fix = _rule(finding.rule)
        if finding.severity == "warning":  # milder than the rule: the device lets it pass
            severity = "warning"
        message = finding.message
        if finding.count > 1:
            message += f" ({finding.count} times)"
        if severity == "advice":
            lost = float(finding.cycles_lost) if finding.cycles_lost else None
            result.advice.append(Advice(finding.rule, severity, file, line, message, fix, lost))
        else:
            result.violations.append(Violation(finding.rule, severity, file, line, message, fix))
    return result


def _rule(rule_id: str) -> tuple[rules.Severity, str | None]:
    try:
        rule = rules.get(rule_id)
    except KeyError:  # written by the untrusted process itself
        return "error", None
    return rule.severity, rule.fix


class _Places:
    """Addresses of all findings looked up in one go per object."""

    def __init__(
        self, found: Sequence[RawFinding], objects: Mapping[str, Path], root: Path
    ) -> None:
        self._root = root
        wanted: dict[str, list[int]] = {}
        for finding in found:
            for frame in (*finding.site, *finding.other_site):
                if frame.object in objects and frame.address >= 0:
                    wanted.setdefault(frame.object, []).append(frame.address)
        self._frames: dict[tuple[str, int], list[Frame]] = {}
        for name, addresses in wanted.items():
            for address, frames in symbolize(objects[name], addresses).items():
                self._frames[name, address] = frames

    def of(self, site: Sequence[RawFrame]) -> tuple[str | None, int | None]:
        """The innermost place outside our own headers."""
        frames: list[Frame] = []
        for frame in site:
            frames += self._frames.get((frame.object, frame.address), [])
        place = user_frame(frames, [CPP_ROOT])
        if place is None or place.file is None:
            return None, None
        path = Path(place.file)
        inside = path.is_absolute() and path.is_relative_to(self._root)
        return str(path.relative_to(self._root) if inside else path), place.line
