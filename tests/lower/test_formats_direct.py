# SPDX-License-Identifier: Apache-2.0
"""Programs that launch their kernel themselves, on the twin, as emitted."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.lower.format_programs import CASES, Case, lowered, wanted, write

from npuforge.dtypes import HostTensor
from npuforge.lower.formats import emit
from npuforge.lower.formats.baked import bake
from npuforge.twin.sources import recognise
from npuforge.twin.sources.direct import DirectProgram, ProgramRun
from npuforge.twin.toolchain import BuildResult

_COMPARE = """
import sys, numpy as np
for name, kind in (word.split("=") for word in sys.argv[1:]):
    found, wanted = (np.fromfile(f"{d}/{name}.bin", kind) for d in ("output", "wanted"))
    tolerance = 2e-5 if kind[0] == "f" else 0
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
"""


def arguments(name: str, case: Case) -> list[str]:
    host = lowered(name).program.host
    words = [",".join(map(str, case.shapes[tensor.name])) for tensor in host.inputs]
    for attribute in host.attributes:
        value = case.attributes.get(attribute.name, attribute.default)
        words.append(str(int(value) if isinstance(value, bool) else value))
    return words


def run(program: DirectProgram, build: BuildResult, name: str, case: Case) -> ProgramRun:
    """Run it with the inputs in its folder, and compare what it wrote."""
    results = wanted(name, case)
    for folder in ("input", "wanted"):
        (program.root / folder).mkdir(exist_ok=True)
    for key, tensor in case.inputs.items():
        (program.root / "input" / f"{key}.bin").write_bytes(HostTensor.of(tensor).to_bytes())
    for key, result in results.items():
        (program.root / "wanted" / f"{key}.bin").write_bytes(result.to_bytes())
    kinds = [f"{key}={result.data.dtype.str[1:]}" for key, result in results.items()]
    command = shlex.join(["python", "-c", _COMPARE, *kinds])
    return program.run(build, arguments=arguments(name, case), verify=command)


@pytest.mark.parametrize("name", ["blend", "total"])
def test_program_runs(name: str, tmp_path: Path) -> None:
    program = recognise(write(emit(lowered(name), "direct"), tmp_path))
    assert isinstance(program, DirectProgram)
    assert program.lint() == []
    build = program.build()
    assert build.ok, build.diagnostics[:3]
    for case in CASES[name]:
        done = run(program, build, name, case)
        assert done.error is None
        assert done.status == 0, done.printed
        assert done.correct is True, done.printed
        assert done.races == []
        # The workspace ends on a whole block; what follows its last element is not written.
        assert [v for v in done.violations if v.rule != "MEM-09" or name != "centre"] == []
    refused = program.run(build, arguments=[])
    assert refused.status == 1
    assert "usage: " in refused.printed


def test_static_program(tmp_path: Path) -> None:
    case, other = CASES["blend"][0], CASES["blend"][1]
    program = lowered("blend")
    files = emit(program, "direct", baked=bake(program, case.shapes, case.attributes))
    source = recognise(write(files, tmp_path))
    assert isinstance(source, DirectProgram)
    build = source.build()
    assert build.ok, build.diagnostics[:3]
    done = run(source, build, "blend", case)
    assert (done.status, done.correct, done.violations) == (0, True, [])
    refused = source.run(build, arguments=arguments("blend", other))
    assert "the kernel is built for x [700]" in refused.printed
