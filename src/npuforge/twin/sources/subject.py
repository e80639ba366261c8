# SPDX-License-Identifier: Apache-2.0
"""What every source that is run case by case can do: turn a case into a build and a launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from npuforge.dtypes import HostTensor
from npuforge.twin.kernel import KernelBuild
from npuforge.twin.launch import Launch
from npuforge.twin.launch_file import Case
from npuforge.verdict import Diagnostic


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case ready to run, or why it is not: `diagnostics` when something does not compile,
    `error` when host code refuses the case.

    `inputs` are what a reference function is called with, absent ones left out.
    """

    build: KernelBuild | None = None
    launch: Launch | None = None
    inputs: list[tuple[str, HostTensor]] = field(default_factory=list)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    error: str | None = None


class Subject(Protocol):
    """A kernel or an operator under test."""

    @property
    def name(self) -> str: ...

    @property
    def root(self) -> Path:
        """The folder that file names in reports are relative to."""

    def prepare(self, case: Case) -> Prepared: ...
