# SPDX-License-Identifier: Apache-2.0
"""Names real kernels use exist, or say that the hardware has them and the twin does not yet."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from npuforge.twin.kernel import Kernel

NAMES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("names.toml").read_text())
HEAD = '#include "kernel_operator.h"\n'


def listed(side: str, kind: str) -> list[str]:
    names: list[str] = NAMES[side][kind].split()
    assert len(names) == len(set(names))
    return names


def test_names_of_the_vector_side_exist() -> None:
    lines = [f"using AscendC::{name};" for name in listed("vector", "names")]
    lines += [f"using ::{name};" for name in listed("vector", "global_names")]
    for name in listed("vector", "macros"):
        lines += [f"#ifndef {name}", f'#error "{name}"', "#endif"]
    entry = 'extern "C" __global__ __aicore__ void entry(GM_ADDR) {}'
    build = Kernel.build(HEAD + "namespace probe {\n" + "\n".join(lines) + "\n}\n" + entry)
    assert build.ok, build.log


@pytest.mark.parametrize("kind", ["functions", "types"])
def test_names_of_the_cube_side_say_that_they_are_missing(kind: str) -> None:
    uses = "".join(
        f"AscendC::{name}(1);\n" if kind == "functions" else f"AscendC::{name} v_{name};\n"
        for name in listed("cube", kind)
    )
    entry = f'extern "C" __global__ __aicore__ void entry(GM_ADDR) {{\n{uses}}}'
    build = Kernel.build(HEAD + entry)
    assert not build.ok
    for name in listed("cube", kind):
        assert f"cube API {name} is not in the twin yet" in build.log
