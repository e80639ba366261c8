# SPDX-License-Identifier: Apache-2.0
"""A whole operator project that a model wrote: its own host code decides tiling and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from npuforge import dtypes
from npuforge.dtypes import HostTensor
from npuforge.errors import NpuforgeError, UsageError
from npuforge.generate.written.signature import Signature
from npuforge.lower.formats.model import ModelShape
from npuforge.lower.formats.msopgen import build_files
from npuforge.sandbox import Limits
from npuforge.tile.ir import Host
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.sources.operator import OperatorSource
from npuforge.verdict import Diagnostic, Violation

Texts = Mapping[str, str]
FORM = "msopgen"
_NOT_YET = "// not written yet\n"
_LONGEST_LOG = 2000


@dataclass(frozen=True, slots=True)
class ProjectBuild:
    """Host library and kernel."""

    ok: bool
    diagnostics: list[Diagnostic] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    log: str = ""


@dataclass
class ProjectProgram:
    """A `Program`; `folder` is where the project's files are laid out, and must last as long."""

    texts: Texts
    signature: Signature
    soc: str
    folder: Path

    def __post_init__(self) -> None:
        texts = dict(self.texts)
        for part in ("op_host", "op_kernel"):  # a project that is half written has both too
            (self.folder / part).mkdir(parents=True, exist_ok=True)
            if not any(path.startswith(f"{part}/") for path in texts):
                texts[f"{part}/{self.signature.name}.cpp"] = _NOT_YET
        for path, text in texts.items():
            (self.folder / path).write_text(text, "utf-8")

    @property
    def source(self) -> str:
        """The kernel's file."""
        return next((t for p, t in self.texts.items() if p.startswith("op_kernel/")), "")

    @cached_property
    def operator(self) -> OperatorSource:
        return OperatorSource.open(self.folder, soc=self.soc)

    @cached_property
    def build(self) -> ProjectBuild:
        if problems := self.host_problems():
            return ProjectBuild(False, problems)
        try:
            kernel = self.operator.build_kernel(
                {
                    parameter.operand.name: dtypes.find(parameter.dtype)
                    for parameter in self.signature.parameters
                }
            )
        except NpuforgeError as error:
            return ProjectBuild(False, [self._said(error)])
        return ProjectBuild(kernel.ok, kernel.diagnostics, kernel.violations, kernel.log)

    def host_problems(self) -> list[Diagnostic]:
        """What is wrong with the host code: it does not compile, or registers something else."""
        try:
            host = self.operator.build_host()
            if not host.ok:
                return host.diagnostics or [Diagnostic(None, None, host.log[-_LONGEST_LOG:])]
            return [Diagnostic(None, None, text) for text in self._departures()]
        except NpuforgeError as error:
            return [self._said(error)]

    def _departures(self) -> Iterator[str]:
        operator = self.operator.operator
        roles = {p.operand.name: p.operand.role for p in self.signature.parameters}
        inputs = [name for name, role in roles.items() if role != "output"]
        outputs = [name for name, role in roles.items() if role != "input"]
        for what, wanted, found in (
            ("inputs", inputs, [p.name for p in operator.inputs]),
            ("outputs", outputs, [p.name for p in operator.outputs]),
        ):
            if wanted != found:
                yield f"the operator's {what} are {', '.join(found)}; wanted: {', '.join(wanted)}"

    def _said(self, error: NpuforgeError) -> Diagnostic:
        """Without the place of the files, which is another in every run."""
        text = str(error).replace(str(self.folder), self.signature.name)
        return Diagnostic(None, None, text)

    @cached_property
    def follows_values(self) -> bool:
        return "GetValue" in self.source

    def launch(
        self, inputs: Mapping[str, Any], *, mode: Mode = "check", limits: Limits | None = None
    ) -> RunResult:
        try:
            return self.operator.launch(dict(inputs), mode=mode, limits=limits)
        except NpuforgeError as error:
            raise UsageError(self._said(error).message) from None

    def time(
        self,
        shapes: Mapping[str, Sequence[int]],
        *,
        values: Mapping[str, HostTensor] | None = None,
        trace: Path | None = None,
        limits: Limits | None = None,
    ) -> RunResult:
        types = {p.operand.name: dtypes.find(p.dtype) for p in self.signature.parameters}
        inputs = {
            name: (values or {}).get(name)
            or HostTensor(np.zeros(tuple(shape), types[name].array_type), types[name])
            for name, shape in shapes.items()
        }
        return self.operator.launch(inputs, mode="time", trace=trace, limits=limits)

    def files(self, form: str, shape: Callable[[Host], ModelShape]) -> dict[str, str]:  # noqa: ARG002
        if form != FORM:
            raise UsageError(f"an operator project cannot be emitted as {form}, only as {FORM}")
        return {**build_files(self.signature.name, self.soc), **self.texts}
