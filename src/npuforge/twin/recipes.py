# SPDX-License-Identifier: Apache-2.0
"""How each kind of source is compiled and linked: the one place that holds compiler flags."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from npuforge.sandbox import GIB, MIB, Limits
from npuforge.twin.cache import digest
from npuforge.twin.compilers import Compiler

Kind = Literal["kernel", "brief_kernel", "host", "direct", "extension", "direct_extension"]

CPP_ROOT = Path(__file__).with_name("cpp")
RUNTIME_LIBRARY = "npuforge_rt"
RUNNER = "npuforge-runner"
HOST_RUNNER = "npuforge-host-runner"

BUILD_LIMITS = Limits(
    cpu_s=120,
    wall_s=180,
    memory_bytes=3 * GIB,
    processes=32,
    output_bytes=2 * MIB,
    file_bytes=512 * MIB,
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Flags of one kind; folders and the header to precompile are relative to our C++ root."""

    compile: tuple[str, ...]
    folders: tuple[str, ...] = ()
    precompiled: str | None = None
    link: tuple[str, ...] = ()
    with_runtime: bool = False
    suffix: str = ""


# Kernels: line tables and frame pointers for call sites; what only warns is not our business, and
# narrowing is left to the lint, which knows the device compiler's view of it.
_UNTRUSTED = (
    "-std=gnu++20",
    "-O1",
    "-g1",
    "-fno-omit-frame-pointer",
    "-fPIC",
    "-fvisibility=default",
    "-Wno-narrowing",
    "-w",
)
_DEVICE_FOLDERS = ("", "include", "npu")

_KERNEL = Recipe(
    _UNTRUSTED,
    _DEVICE_FOLDERS,
    "include/kernel_operator.h",
    # A kernel may bear the name of a function of the C library (wait): its own comes first.
    ("-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic"),
    with_runtime=True,
    suffix=".so",
)

RECIPES: dict[Kind, Recipe] = {
    "kernel": _KERNEL,
    # Kernels that are run a few times on small tensors: what they cost is their compilation.
    "brief_kernel": replace(_KERNEL, compile=(*_UNTRUSTED, "-O0")),
    # Projects define helpers twice in files that the vendor's build links separately.
    "host": Recipe(
        _UNTRUSTED,
        ("host",),
        "host/host_pch.h",
        ("-shared", "-Wl,-z,muldefs"),
        suffix=".so",
    ),
    # Bindings are called a few times per run: compile speed is all that counts. Later standards
    # bring names (std::lerp) that bindings use for functions of their own.
    "extension": Recipe(
        ("-std=gnu++17", "-O0", "-fPIC", "-fvisibility=default", "-w"),
        ("torch",),
        link=("-shared",),
        suffix=".so",
    ),
    "direct_extension": Recipe(
        _UNTRUSTED,
        (*_DEVICE_FOLDERS, "torch", "host"),
        link=("-shared",),
        with_runtime=True,
        suffix=".so",
    ),
    "direct": Recipe(
        _UNTRUSTED,
        _DEVICE_FOLDERS,
        "include/kernel_operator.h",
        ("-rdynamic",),
        with_runtime=True,
    ),
}

RUNTIME = Recipe(
    (
        *("-std=gnu++20", "-O3", "-march=native", "-fPIC", "-fno-omit-frame-pointer"),
        # Loops over sqrt and comparisons become vector code; results are the same.
        *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
    ),
    ("", "include", "npu", "runtime"),
)
HOST_PROGRAM = Recipe(("-std=gnu++20", "-O2", "-fPIC"), ("host",))


def family_flags(compiler: Compiler) -> tuple[str, ...]:
    """Flags that say the same to gcc and clang in different words."""
    if compiler.family == "clang":
        return ("-fno-color-diagnostics", "-ferror-limit=20")
    return ("-fdiagnostics-color=never", "-fmax-errors=20")


@cache
def processor() -> str:
    """What -march=native depends on."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    lines = {
        line
        for line in text.splitlines()
        if line.startswith(("model name", "flags", "Features", "CPU part", "CPU implementer"))
    }
    return digest(*sorted(lines))
