# SPDX-License-Identifier: Apache-2.0
"""The verdict on one kernel or task: the one object every part speaks, and its JSON.

Plain frozen dataclasses, so that code which only builds or reads verdicts needs no library. JSON
goes through msgspec: it encodes dataclasses as they are, and decoding checks every type and names
the field at fault, which the standard library's `json` would leave to hand-written code here.
Unknown fields are ignored, so an older reader accepts a newer writer.

A figure that was not taken is None (JSON null). JSON has no infinity or not-a-number: such an error
measure is null too, and its case is not correct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from npuforge.fileformat import VERDICT
from npuforge.sandbox.means import WEAK

Severity = Literal["error", "warning"]
UNISOLATED = "unisolated"
Bottleneck = Literal["memory", "vector", "scalar", "synchronisation", "launch"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message of the compiler; `file` is relative to the project where it lies in it."""

    file: str | None
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the hardware that is broken, and what to do about it."""

    rule: str
    severity: Severity
    file: str | None
    line: int | None
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """A rule that only costs time: a violation's shape plus the cycles lost to it."""

    rule: str
    severity: Literal["advice"]
    file: str | None
    line: int | None
    message: str
    fix: str | None = None
    cycles_lost: float | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two accesses of a race."""

    file: str | None
    line: int | None
    pipe: str


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses that nothing orders."""

    rule: str
    first: Side
    second: Side
    message: str


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs: the numerical error against the reference, where there is one."""

    shapes: list[list[int]]
    dtypes: list[str]
    correct: bool | None = None
    max_abs: float | None = None
    max_rel: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known about one kernel; None stands for what was not looked at."""

    name: str
    category: str | None = None
    level: int | None = None
    strategy: str | None = None
    soc: str | None = None
    compiled: bool | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    correct: bool | None = None
    time_us: float | None = None
    roofline: float | None = None
    bottleneck: Bottleneck | None = None
    pipes: dict[str, float] | None = None
    baseline_us: float | None = None
    baseline_source: str | None = None
    speedup: float | None = None
    seconds: float | None = None
    isolation: str | None = None
    isolation_means: str | None = None
    interrupted: bool = False  # the search for something better was ended before its time
    error: str | None = None

    def __post_init__(self) -> None:
        """Name the means of isolation, and say so if they did not protect files."""
        if self.isolation_means is None and self.isolation is not None:
            object.__setattr__(self, "isolation_means", self.isolation)
        if self.isolation in WEAK:
            object.__setattr__(self, "isolation", UNISOLATED)

    @property
    def isolated(self) -> bool:
        """Tell whether the code that was judged could reach no file of the user."""
        return self.isolation != UNISOLATED

    @property
    def ok(self) -> bool:
        """Compiled, no broken rule, no race, no wrong result, no failure to run."""
        return (
            self.compiled is True
            and self.correct is not False
            and self.error is None
            and not self.races
            and not any(violation.severity == "error" for violation in self.violations)
        )

    @property
    def exit_status(self) -> int:
        """The command line's exit status for this verdict: 0 or 1."""
        return 0 if self.ok else 1

    def to_json(self, *, indent: int = 2) -> str:
        """The JSON text; `indent` 0 puts it on one line."""
        text = VERDICT.encode(self)
        return (msgspec.json.format(text, indent=indent) if indent else text).decode()

    @staticmethod
    def from_json(text: str | bytes) -> Verdict:
        """The verdict of a JSON text; `UsageError` names what is wrong with it."""
        return VERDICT.decode(text, Verdict, "the text")


def json_schema() -> Mapping[str, Any]:
    """The JSON schema of a verdict."""
    schema = msgspec.json.schema(Verdict)
    schema["$defs"]["Verdict"]["properties"]["format"] = {"type": "integer"}
    return schema
