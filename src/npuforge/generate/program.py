# SPDX-License-Identifier: Apache-2.0
"""What can be proven and timed, in whichever language it was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from npuforge.dtypes import HostTensor
from npuforge.lower.formats.model import ModelShape
from npuforge.sandbox import Limits
from npuforge.tile.ir import Host
from npuforge.twin.execute import Mode, RunResult
from npuforge.verdict import Diagnostic, Violation


class Built(Protocol):
    """What the compiler made of it; `violations` are the lint's."""

    @property
    def ok(self) -> bool: ...

    @property
    def diagnostics(self) -> list[Diagnostic]: ...

    @property
    def violations(self) -> list[Violation]: ...

    @property
    def log(self) -> str: ...


class Program(Protocol):
    """A program built once and launched with any sizes it takes; `source` is its AscendC, which
    findings speak about. `UsageError` where it refuses sizes."""

    @property
    def source(self) -> str: ...

    @property
    def build(self) -> Built: ...

    @property
    def follows_values(self) -> bool:
        """Whether its time may depend on the values of tensors."""
        ...

    def launch(
        self, inputs: Mapping[str, Any], *, mode: Mode = "check", limits: Limits | None = None
    ) -> RunResult: ...

    def time(
        self,
        shapes: Mapping[str, Sequence[int]],
        *,
        values: Mapping[str, HostTensor] | None = None,
        trace: Path | None = None,
        limits: Limits | None = None,
    ) -> RunResult: ...

    def files(self, form: str, shape: Callable[[Host], ModelShape]) -> dict[str, str]:
        """Path and text of every file of the operator in a format."""
        ...
