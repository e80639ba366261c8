# SPDX-License-Identifier: Apache-2.0
"""A kernel that somebody wrote in AscendC, with host code made for it.

The host launches every vector core and hands over all extents of all tensors: a host function of
the tile language says that, so that every format and the twin treat such a kernel like any other.
What the kernel has to look like is an `Interface`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from npuforge.dtypes import HostTensor
from npuforge.lower.compiler import Lowered
from npuforge.lower.host_code import translate_host
from npuforge.lower.kernel_class import emit_kernel
from npuforge.lower.kernel_source import parameters
from npuforge.lower.names import pascal
from npuforge.lower.on_twin import ROLES, TwinProgram
from npuforge.lower.tiling import Tiling
from npuforge.sandbox import Limits
from npuforge.tile import read_program
from npuforge.tile.expr import Number
from npuforge.twin.execute import RunResult
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch import (
    AliasArgument,
    Argument,
    Launch,
    TensorArgument,
    TilingArgument,
    WorkspaceArgument,
    pack_fields,
)
from npuforge.twin.sources.operator import SYSTEM_WORKSPACE

WORKSPACE_BYTES = 32 << 20
_READS_VALUES = re.compile(r"\bGetValue\s*\(")


@dataclass(frozen=True, slots=True)
class Interface:
    """What a kernel is called, called with, and told; `lowered` has the host code of it."""

    lowered: Lowered

    @property
    def name(self) -> str:
        return self.lowered.program.name

    @property
    def entry(self) -> str:
        """The head of the entry function."""
        pointers = [name for name, _ in parameters(self.lowered.host)]
        listed = ", ".join(f"GM_ADDR {name}" for name in [*pointers, "workspace", "tiling"])
        return f'extern "C" __global__ __aicore__ void {self.name}({listed})'

    @property
    def structure(self) -> str:
        """The tiling structure as C++ sees it."""
        members = "".join(f"    {f.type} {f.name};\n" for f in self.lowered.host.fields)
        return f"struct {self.lowered.host.tiling_struct} {{\n{members}}};\n"

    def holding(self, source: str) -> Lowered:
        """The program with this kernel in it."""
        return replace(self.lowered, host=replace(self.lowered.host, written=source))


def interface(name: str, head: str, extents: Mapping[str, Sequence[str]], soc: str) -> Interface:
    """For the host function that begins with `head`; `extents` are those of its tensors in the
    tile language, by name."""
    sizes = {f"{t}_dim{n}": size for t, all_ in extents.items() for n, size in enumerate(all_)}
    tensors = ", ".join(extents)
    text = (
        "import tile.language as tl\n\n"
        f"@ascend_kernel\ndef {name}_kernel({', '.join([*extents, 'scratch', *sizes])}):\n"
        "    with tl.compute():\n        pass\n\n"
        f"{head}\n"
        f"    scratch = tl.workspace(({WORKSPACE_BYTES},), tl.uint8)\n"
        f"    {name}_kernel[tl.num_cores()]({', '.join([tensors, 'scratch', *sizes.values()])})\n"
    )
    program = read_program(text, soc)
    codes = {
        id(launch): emit_kernel(launch.kernel, f"{pascal(name)}Kernel")
        for launch in program.launches()
    }
    host = translate_host(program, codes)
    return Interface(Lowered(program, tuple(codes.values()), host, soc))


@dataclass
class HandwrittenProgram(TwinProgram):
    """The kernel on the twin: an `Interface` that holds it."""

    def __post_init__(self) -> None:
        self.source = self.lowered.host.written or ""

    @cached_property
    def build(self) -> KernelBuild:
        code = self.lowered.host
        prelude = (
            f"#pragma once\n#include <cstdint>\n{Interface(self.lowered).structure}"
            f"#define NPUFORGE_DEFAULT_TILING_STRUCT {code.tiling_struct}\n"
        )
        return Kernel.build(self.source, entry=code.program.name, prelude=prelude)

    @cached_property
    def follows_values(self) -> bool:
        """Whether it reads values at all; the twin finds out whether they matter."""
        return _READS_VALUES.search(self.source) is not None

    def time(
        self,
        shapes: Mapping[str, Sequence[int]],
        attributes: Mapping[str, Number] | None = None,
        *,
        values: Mapping[str, HostTensor] | None = None,
        trace: Path | None = None,
        limits: Limits | None = None,
    ) -> RunResult:
        """Model the time without data; with `values` where what the kernel does follows them."""
        return self._execute(shapes, dict(values or {}), attributes, "time", trace, limits)

    def _launched(self, tiling: Tiling, arguments: list[Argument]) -> Launch:
        return Launch(tiling.blocks, arguments, tiling.key)

    def _arguments(
        self,
        shapes: Mapping[str, Sequence[int]],
        held: Mapping[str, HostTensor],
        tiling: Tiling,
    ) -> list[Argument]:
        found: list[Argument] = []
        seen: set[str] = set()
        for name, tensor in parameters(self.lowered.host):
            if tensor.name in seen:
                found.append(AliasArgument(name, tensor.name))
                continue
            seen.add(tensor.name)
            shape = tiling.output_shapes.get(tensor.name) or tuple(shapes.get(tensor.name, ()))
            data = held.get(tensor.name)
            found.append(
                TensorArgument(tensor.name, tuple(shape), tensor.dtype, ROLES[tensor.role], data)
            )
        size = SYSTEM_WORKSPACE + tiling.workspace_bytes
        return [
            *found,
            WorkspaceArgument("workspace", size),
            TilingArgument("tiling", pack_fields("tiling", self._members(tiling))),
        ]
