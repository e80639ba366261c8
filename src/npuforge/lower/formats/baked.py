# SPDX-License-Identifier: Apache-2.0
"""Static tiling: the numbers for one set of shapes as constants of the kernel (`--static`)."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from npuforge.lower.compiler import Lowered
from npuforge.lower.cpp import float_literal
from npuforge.lower.host_code import Field, HostCode
from npuforge.lower.names import pascal
from npuforge.lower.tiling import Tiling, compute_tiling
from npuforge.tile.expr import Number

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Baked:
    """A program whose tiling is known: the schedule that runs, and its numbers."""

    code: HostCode  # only the schedule chosen, and the fields it uses
    tiling: Tiling
    shapes: Mapping[str, tuple[int, ...]]  # of the inputs

    @property
    def struct(self) -> str:
        return f"{pascal(self.code.program.name)}Tiling"

    def renamed(self, name: str) -> Baked:
        """The same for a program of another name."""
        program = replace(self.code.program, name=name)
        return replace(self, code=replace(self.code, program=program))

    @property
    def scalar_functions(self) -> set[str]:
        """Functions the constants are written with."""
        finite = [math.isfinite(self.tiling.values[item.name]) for item in self.code.fields]
        return set() if all(finite) else {"FloatFromBits"}

    def field(self, item: Field) -> str:
        """A tiling value as the entry function writes it."""
        value = self.tiling.values[item.name]
        if math.isfinite(value):
            return f"{self.struct}::{item.name}"
        return f"FloatFromBits(0x{struct.unpack('I', struct.pack('f', value))[0]:08X}U)"

    def lines(self) -> list[str]:
        """The structure with the constants."""
        shown = "; ".join(f"{name} {list(shape)}" for name, shape in self.shapes.items())
        lines = [f"// Tiling for {shown}." if shown else "// Tiling.", f"struct {self.struct} {{"]
        lines += [
            f"{_INDENT}static constexpr {item.type} {item.name} = {self._literal(item)};"
            for item in self.code.fields
            if math.isfinite(self.tiling.values[item.name])
        ]
        return [*lines, "};", ""]

    def _literal(self, item: Field) -> str:
        value = self.tiling.values[item.name]
        if item.type == "float":
            return float_literal(float(value))
        whole = int(value)
        return str(whole) if abs(whole) < 1 << 31 else f"{whole}LL"


def bake(
    lowered: Lowered,
    shapes: Mapping[str, Sequence[int]],
    attributes: Mapping[str, Number] | None = None,
) -> Baked:
    """The tiling for inputs of these shapes; `UsageError` where the host refuses them."""
    tiling = compute_tiling(lowered, shapes, attributes)
    inputs = {tensor.name: tuple(shapes[tensor.name]) for tensor in lowered.host.host.inputs}
    return Baked(_narrowed(lowered.host, tiling.key), tiling, inputs)


def _narrowed(code: HostCode, key: int) -> HostCode:
    """The program as if the schedule with this key were its only one."""
    schedule = next(item for item in code.schedules if item.key == key)
    used: set[str] = set()
    for phase in schedule.phases:
        used |= {item.name for item in phase.fields.values()}
        if phase.cores is not None:
            used.add(phase.cores.name)
        used |= {
            code.workspace_offsets[pointer.tensor.name].name
            for pointer in phase.launch.kernel.pointers
            if pointer.tensor.role == "workspace"
        }
    return replace(
        code,
        fields=[item for item in code.fields if item.name in used],
        schedules=[schedule],
        phases={id(phase.launch): phase for phase in schedule.phases},
    )
