# SPDX-License-Identifier: Apache-2.0
"""Static tiling: the numbers for one set of shapes as constants of the kernel (`--static`)."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from npuforge.lower.compiler import Lowered
from npuforge.lower.cpp import TYPES, float_literal
from npuforge.lower.host_code import Field, HostCode
from npuforge.lower.names import pascal
from npuforge.lower.tiling import Tiling, compute_tiling
from npuforge.tile.expr import Number

_INDENT = "    "
_BLOCKS = "usedBlocks_"  # fields of programs do not end so


@dataclass(frozen=True, slots=True)
class Baked:
    """A program whose tiling is known: the schedule that runs, and its numbers."""

    code: HostCode  # only the schedule chosen, and the fields it uses
    tiling: Tiling
    shapes: Mapping[str, tuple[int, ...]]  # of the inputs
    attributes: Mapping[str, Number]

    @property
    def struct(self) -> str:
        return f"{pascal(self.code.program.name)}Tiling"

    @property
    def blocks(self) -> str:
        """The number of blocks that have work, as the entry function writes it."""
        return f"{self.struct}::{_BLOCKS}"

    @property
    def case(self) -> str:
        """What the kernel is built for, in words."""
        shapes = [f"{name} {list(shape)}" for name, shape in self.shapes.items()]
        values = [f"{name} {value!r}" for name, value in self.attributes.items()]
        return ", ".join([*shapes, *values])

    def attribute_literals(self) -> dict[str, str]:
        """Values of the attributes in C++, where there is a literal for them."""
        return {
            item.name: _literal(TYPES[item.type], self.attributes[item.name])
            for item in self.code.host.attributes
            if math.isfinite(self.attributes[item.name])
        }

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
        lines = [f"// Tiling for {self.case}.", f"struct {self.struct} {{"]
        lines.append(f"{_INDENT}static constexpr int64_t {_BLOCKS} = {self.tiling.blocks};")
        for item in self.code.fields:
            value = self.tiling.values[item.name]
            if math.isfinite(value):
                constant = f"{item.type} {item.name} = {_literal(item.type, value)}"
                lines.append(f"{_INDENT}static constexpr {constant};")
        return [*lines, "};", ""]


def _literal(type_: str, value: Number) -> str:
    if type_ == "float":
        return float_literal(float(value))
    if type_ == "bool":
        return "true" if value else "false"
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
    given = attributes or {}
    values = {
        item.name: given.get(item.name, item.default) for item in lowered.host.host.attributes
    }
    known = {name: value for name, value in values.items() if value is not None}
    return Baked(_narrowed(lowered.host, tiling.key), tiling, inputs, known)


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
