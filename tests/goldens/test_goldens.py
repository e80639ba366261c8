# SPDX-License-Identifier: Apache-2.0
"""24 modules, the programs planned for them, and the AscendC of these, kept to be read.

`pytest tests/goldens --update-goldens` writes `pairs/` anew; the change is then seen in review.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.goldens.conftest import Golden

from npuforge.generate.live import LiveModule
from npuforge.lower import library
from npuforge.lower.compiler import lower
from npuforge.lower.formats import direct
from npuforge.lower.passes import show
from npuforge.lower.wrap import format_cpp
from npuforge.plan.planner import plan

HERE = Path(__file__).parent
MODULES = {file.stem: file for file in sorted((HERE / "modules").glob("*.py"))}
SOC = "910b2"


@cache
def library_functions() -> dict[str, str]:
    """The library's functions by name, as they stand in a source."""
    return {n: format_cpp([library.helper(n).source.rstrip()]) for n in library.names()}


def planned(name: str) -> str:
    """The planner's first program for a module, which is captured in this process."""
    with LiveModule.of_text(MODULES[name].read_text("utf-8"), name) as module:
        return plan(module.graph, SOC, most=1).variants[0].program


def ascendc(program: str) -> str:
    """The device source with the library's functions by name alone, then the host's tiling."""
    source = direct.kernel_source(lower(program, SOC).host)
    for name, function in library_functions().items():
        source = source.replace(function, f"// library: {name}\n")
    return f"{source.rstrip()}\n\n// host\n{show(program, 'host', SOC)}"


@pytest.mark.parametrize("name", MODULES)
def test_program_and_ascendc_are_as_kept(name: str, golden: Golden) -> None:
    program = planned(name)
    pairs = HERE / "pairs"
    golden({pairs / f"{name}.tile": program, pairs / f"{name}.asc": ascendc(program)})


def test_every_kept_file_has_its_module() -> None:
    kept = {file.name for file in (HERE / "pairs").iterdir()}
    assert kept == {f"{name}.{kind}" for name in MODULES for kind in ("tile", "asc")}
    assert len(MODULES) == 24
