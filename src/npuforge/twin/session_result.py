# SPDX-License-Identifier: Apache-2.0
"""Read what a session left behind: `result.json` of the runner or of a direct-launch program.

The process that wrote it ran untrusted code: the file is read through a `SharedFolder`, and every
part of it has a type with bounds. Code addresses are looked up only in the library or program that
was built for the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from npuforge import rules
from npuforge.printable import one_line
from npuforge.sandbox import MIB, messages
from npuforge.sandbox.messages import Count, Text, Whole, Word
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.twin.recipes import CPP_ROOT
from npuforge.twin.symbolize import Frame, symbolize, user_frame
from npuforge.verdict import Advice, Race, Side, Violation

RESULT_FILE = "result.json"
_RESULT_LIMIT = 64 * MIB


_Time = Annotated[float, Meta(ge=-1e12, le=1e12)]  # microseconds
_Bytes = Annotated[int, Meta(ge=0, le=1 << 60)]
_Pipe = Literal["S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX"]


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    pass


class RawFrame(_Message):
    address: Count
    object: Text


_Site = Annotated[list[RawFrame], Meta(max_length=64)]


class RawFinding(_Message):
    rule: Word
    message: Text
    severity: Word = ""
    core: Whole = 0
    count: Count = 1
    cycles_lost: Count = 0
    site: _Site = []
    pipe: Word = ""
    other_pipe: Word = ""
    other_site: _Site = []


class _PipeUse(_Message):
    busy_us: _Time
    wait_us: _Time
    instructions: Count


class _Core(_Message):
    cube: bool
    start_us: _Time
    end_us: _Time
    sync_us: _Time
    read_bytes: _Bytes
    written_bytes: _Bytes
    pipes: dict[_Pipe, _PipeUse]


class RawTiming(_Message):
    """The simulator's summary, as `timeline_output.cpp` writes it."""

    kernel: Text
    block_num: Annotated[int, Meta(ge=1, le=1 << 20)]
    clock_mhz: Annotated[float, Meta(ge=1, le=1e6)]
    stall: Text | None
    total_us: Annotated[float, Meta(ge=0, le=1e12)]
    launch_us: _Time
    skew_us: _Time
    gm_read_bytes: _Bytes
    gm_write_bytes: _Bytes
    l2_read_hit_bytes: _Bytes
    hbm_read_bytes: _Bytes
    hbm_write_bytes: _Bytes
    footprint_read_bytes: _Bytes
    footprint_write_bytes: _Bytes
    cores: Annotated[list[_Core], Meta(min_length=1, max_length=1024)]


class RawLaunch(_Message):
    name: Text
    blocks: Whole
    error: Text
    value_read: bool
    stream_hash: Word
    timing: RawTiming | None = None

    @property
    def summary(self) -> dict[str, Any] | None:
        """The timing as `build_report` takes it."""
        if self.timing is None:
            return None
        plain: dict[str, Any] = msgspec.to_builtins(self.timing)
        return plain


class RawResult(_Message):
    error: Text
    launches: Annotated[list[RawLaunch], Meta(max_length=100_000)]
    findings: Annotated[list[RawFinding], Meta(max_length=1000)]  # the runtime keeps 200


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings by what they mean, with places in the source."""

    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)


def load(folder: SharedFolder) -> RawResult | None:
    """The session's result; None when there is none or it is damaged."""
    try:
        result = messages.read(folder, RESULT_FILE, RawResult, _RESULT_LIMIT)
    except HostileFileError:
        return None
    result.error = one_line(result.error)
    for launch in result.launches:
        launch.name, launch.error = one_line(launch.name), one_line(launch.error)
        if launch.timing is not None:
            launch.timing.kernel = one_line(launch.timing.kernel)
            launch.timing.stall = one_line(launch.timing.stall) if launch.timing.stall else None
    for finding in result.findings:
        finding.rule, finding.message = one_line(finding.rule), one_line(finding.message, 1024)
        finding.pipe, finding.other_pipe = one_line(finding.pipe), one_line(finding.other_pipe)
    return result


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
                if frame.object in objects:
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
