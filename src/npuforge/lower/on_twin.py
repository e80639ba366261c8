# SPDX-License-Identifier: Apache-2.0
"""A lowered program on the twin, without building its host code: tiling is computed here.

program = TwinProgram(lower(source))
result = program.launch({"x": x}, mode="check")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.lower.compiler import Lowered
from npuforge.lower.followed import follows_values
from npuforge.lower.formats import direct, emit
from npuforge.lower.formats.model import ModelShape
from npuforge.lower.tiling import Tiling, compute_tiling
from npuforge.sandbox import Limits
from npuforge.tile.expr import Number
from npuforge.tile.ir import Host
from npuforge.twin.execute import Mode, RunResult, execute
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import (
    Argument,
    Launch,
    Role,
    ScalarArgument,
    TensorArgument,
    WorkspaceArgument,
    pack_fields,
)

_C_TYPES = {"int64_t": "int64", "float": "float32"}
_SMALLEST_WORKSPACE = 512
ROLES: Mapping[str, Role] = {"in": "in", "out": "out", "inout": "inout"}


@dataclass
class TwinProgram:
    """A program built once and launched with any shapes its host function accepts."""

    lowered: Lowered
    source: str = field(init=False)
    given: KernelBuild | None = None  # where its kernel was built already, together with others

    def __post_init__(self) -> None:
        self.source = direct.kernel_source(self.lowered.host)

    @cached_property
    def build(self) -> KernelBuild:
        return self.given or Kernel.build(self.source, entry=self.entry)

    @property
    def entry(self) -> str:
        return direct.entry_name(self.lowered.host)

    def files(self, form: str, shape: Callable[[Host], ModelShape]) -> dict[str, str]:
        """Path and text of every file in a format; `shape` says how a module calls it."""
        return emit(self.lowered, form, model=shape(self.lowered.program.host))

    def launch(
        self,
        inputs: Mapping[str, Any],
        attributes: Mapping[str, Number] | None = None,
        *,
        mode: Mode = "check",
        limits: Limits | None = None,
    ) -> RunResult:
        """Run on arrays or torch tensors, by input name."""
        held = {name: HostTensor.of(value) for name, value in inputs.items()}
        shapes = {name: tensor.shape for name, tensor in held.items()}
        return self._execute(shapes, held, attributes, mode, limits=limits)

    @cached_property
    def follows_values(self) -> bool:
        """Whether the time depends on the values of tensors, not on shapes alone."""
        return any(follows_values(launch.kernel) for launch in self.lowered.program.launches())

    def time(
        self,
        shapes: Mapping[str, Sequence[int]],
        attributes: Mapping[str, Number] | None = None,
        *,
        values: Mapping[str, HostTensor] | None = None,
        trace: Path | None = None,
        limits: Limits | None = None,
    ) -> RunResult:
        """Model the time for inputs of these shapes, without data; `trace` gets the timeline.

        Where values decide what the program does, `values` are those it is timed with (zeros where
        there are none), and the result's note says so.
        """
        if not self.follows_values:
            return self._execute(shapes, {}, attributes, "time", trace, limits)
        held = dict(values or {})
        result = self._execute(shapes, held, attributes, "timed", trace, limits)
        given = f"the values of {', '.join(held)}" if held else "zeros, as no values were given"
        return replace(
            result, timing_note=f"what the kernel does follows values: timed with {given}"
        )

    def _execute(
        self,
        shapes: Mapping[str, Sequence[int]],
        held: Mapping[str, HostTensor],
        attributes: Mapping[str, Number] | None,
        mode: Mode,
        trace: Path | None = None,
        limits: Limits | None = None,
    ) -> RunResult:
        tiling = compute_tiling(self.lowered, shapes, attributes)
        if not self.build.ok:
            first = self.build.diagnostics[0].message if self.build.diagnostics else self.build.log
            return RunResult(error=f"the kernel does not compile: {first}")
        launch = self._launched(tiling, self._arguments(shapes, held, tiling))
        soc = self.lowered.soc
        return execute(self.build, launch, mode=mode, soc=soc, trace=trace, limits=limits)

    def _arguments(
        self,
        shapes: Mapping[str, Sequence[int]],
        held: Mapping[str, HostTensor],
        tiling: Tiling,
    ) -> list[Argument]:
        found: list[Argument] = []
        for tensor in direct.pointers(self.lowered.host):
            shape = tiling.output_shapes.get(tensor.name) or tuple(shapes.get(tensor.name, ()))
            role = ROLES[tensor.role]
            data = held.get(tensor.name)
            found.append(TensorArgument(tensor.name, tuple(shape), tensor.dtype, role, data))
        size = max(tiling.workspace_bytes, _SMALLEST_WORKSPACE)
        found.append(WorkspaceArgument("workspace", size))
        return [*found, ScalarArgument("tiling", self._tiling_bytes(tiling))]

    def _launched(self, tiling: Tiling, arguments: list[Argument]) -> Launch:
        return Launch(tiling.blocks, arguments)

    def _tiling_bytes(self, tiling: Tiling) -> bytes:
        members = self._members(tiling)
        if len(self.lowered.host.schedules) > 1:
            members.append(("key", "int64", tiling.key))
        return pack_fields("tiling", members)

    def _members(self, tiling: Tiling) -> list[tuple[str, str, Number]]:
        """Name, type and value of every field of the tiling structure."""
        return [
            (item.name, _C_TYPES[item.type], _plain(tiling.values[item.name], item.type))
            for item in self.lowered.host.fields
        ]


def _plain(value: Number, type_: str) -> Number:
    return int(value) if type_ == "int64_t" else float(value)
