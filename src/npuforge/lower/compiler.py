# SPDX-License-Identifier: Apache-2.0
"""The compiler: passes in order, from text to code that a format can lay out as files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from npuforge.lower.fuse import fuse_loops
from npuforge.lower.host_code import HostCode, translate_host
from npuforge.lower.kernel_class import KernelCode, emit_kernel
from npuforge.lower.names import Namer, pascal
from npuforge.tile import read_program
from npuforge.tile.check import check_program
from npuforge.tile.expr import text
from npuforge.tile.ir import TileProgram
from npuforge.tile.source import Findings


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program in all its forms."""

    program: TileProgram
    kernels: tuple[KernelCode, ...]
    host: HostCode
    soc: str


def lower(source: str | bytes, soc: str = "910b2") -> Lowered:
    """Compile a program; raises `TileError` with everything that is wrong."""
    program = read_program(source, soc)
    check_program(program)
    names = Namer()
    codes = {
        id(launch): emit_kernel(
            fuse_loops(launch.kernel), names.fresh(_class_name(launch.kernel.name))
        )
        for launch in program.launches()
    }
    check_capacity(program, list(codes.values()))
    return Lowered(program, tuple(codes.values()), translate_host(program, codes), soc)


def _class_name(kernel: str) -> str:
    """Classes end in `Kernel`, so that none hides a function of the API."""
    name = pascal(kernel)
    return name if name.endswith("Kernel") and name != "Kernel" else f"{name}Kernel"


def renamed(lowered: Lowered, name: str) -> Lowered:
    """The same program under another name."""
    program = replace(lowered.program, name=name)
    host = replace(lowered.host, program=program)
    if host.written is not None:
        text = re.sub(rf"(\bvoid\s+){lowered.program.name}\b", rf"\g<1>{name}", host.written)
        structure = rf"\b{lowered.host.tiling_struct}\b"
        host.written = re.sub(structure, host.tiling_struct, text)
    return replace(lowered, program=program, host=host)


CAPACITY = "TL-10"


def check_capacity(program: TileProgram, codes: list[KernelCode]) -> None:
    """Refuse kernels whose buffers can never fit (rule TL-10)."""
    findings = Findings()
    limit = program.host.facts.chip["ub_bytes"]
    for code in codes:
        low = code.kernel.facts.bounds(code.ub_bytes)[0]
        if low is not None and low > limit:
            parts = "; ".join(
                f"{slot.name} {slot.copies} x {text(slot.size)}" for slot in code.slots
            )
            findings.add(
                CAPACITY,
                code.kernel.span,
                f"{code.kernel.name!r} takes at least {low} bytes of {limit}: {parts}",
            )
    findings.stop_if_any()
