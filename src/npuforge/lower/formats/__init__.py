# SPDX-License-Identifier: Apache-2.0
"""The forms in which a compiled program is handed over: name, and files by path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npuforge.errors import UsageError
from npuforge.lower.compiler import Lowered
from npuforge.lower.formats import (
    direct,
    msopgen,
    multikernelbench,
    npukernelbench,
    torch_extension,
)
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.model import ModelShape

Files = dict[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """What to emit: a program, with static tiling or without, called by which module."""

    lowered: Lowered
    baked: Baked | None = None
    model: ModelShape | None = None


def _kernel_only(request: Request) -> Files:
    if request.baked is None:
        raise UsageError("npukb-kernel has its tiling in the kernel: give the shapes with --static")
    return npukernelbench.kernel_only(request.baked)


@dataclass(frozen=True, slots=True)
class Format:
    """One form: what makes its files, and which of them holds the kernel (`{}` is the name).
    `project`: it is an operator project, which may hold a kernel that was written by hand."""

    files: Callable[[Request], Files]
    kernel: str
    project: bool = False


FORMATS: dict[str, Format] = {
    "msopgen": Format(lambda r: msopgen.files(r.lowered, r.baked), "op_kernel/{}.cpp", True),
    "direct": Format(lambda r: direct.files(r.lowered, r.baked), "{}.asc"),
    "torch": Format(
        lambda r: torch_extension.files(r.lowered, r.baked, r.model), "csrc/{}_kernel.asc"
    ),
    "mkb": Format(
        lambda r: multikernelbench.six_strings(r.lowered, r.baked, r.model), "{}.py", True
    ),
    "mkb-direct": Format(
        lambda r: multikernelbench.direct_answer(r.lowered, r.baked, r.model), "{}.json"
    ),
    "npukb": Format(lambda r: npukernelbench.full(r.lowered, r.baked), "op_kernel/{}.cpp", True),
    "npukb-kernel": Format(_kernel_only, "op_kernel/{}.cpp"),
}


def find(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}; formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def emit(
    lowered: Lowered,
    form: str,
    *,
    baked: Baked | None = None,
    model: ModelShape | None = None,
) -> Files:
    """Path and text of every file of the program in a format."""
    found = find(form)
    if lowered.host.written is not None and not found.project:
        raise UsageError(f"a kernel written by hand cannot be emitted as {form}")
    return found.files(Request(lowered, baked, model))
