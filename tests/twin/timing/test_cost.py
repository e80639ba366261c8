# SPDX-License-Identifier: Apache-2.0
"""Instruction costs and bank conflicts against published cycle counts."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import npuforge.twin
from npuforge.soc import constants_text, load_soc

RUNTIME = Path(npuforge.twin.__file__).parent / "cpp" / "runtime"


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = os.environ.get("CXX") or shutil.which("g++") or "clang++"
    tool = tmp_path_factory.mktemp("probe") / "probe"
    sources = [Path(__file__).parent / "cost_probe.cpp"]
    sources += [RUNTIME / name for name in ("cost.cpp", "bank_conflict.cpp")]
    command = [compiler, "-std=gnu++20", "-O1", f"-I{RUNTIME}", *map(str, sources)]
    subprocess.run([*command, "-o", str(tool)], check=True)
    return tool


def test_published_cycles(probe: Path, tmp_path: Path) -> None:
    constants = tmp_path / "constants"
    constants.write_text(constants_text(load_soc("910b1")))
    output = subprocess.run(
        [str(probe), str(constants)], check=True, capture_output=True, text=True
    ).stdout.split()
    # 2390, 4167, 4167, 2389, 3751, 2390, 3584, 2389 ticks of 50 MHz for 1000 instructions
    measured = [86.0, 150.0, 150.0, 86.0, 135.0, 86.0, 129.0, 86.0]
    for cycles, expected in zip(map(int, output[:8]), measured, strict=True):
        assert cycles == pytest.approx(expected, rel=0.10)
    assert [float(value) for value in output[8:10]] == [4.0, 8.0]
    exp, tanh, mmad, tail, known = map(int, output[10:])
    assert exp == pytest.approx(287, rel=0.03)
    assert tanh == pytest.approx(154 + 157, abs=1)
    assert mmad == pytest.approx(521, abs=5)
    assert tail == 16
    assert known == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("vector.counter_tail\n", "key value"),
        ("a 1\n", "no value"),
        ("vector.counter_tail x\n", "not a number"),
    ],
)
def test_bad_constants_are_named(probe: Path, tmp_path: Path, text: str, complaint: str) -> None:
    constants = tmp_path / "constants"
    constants.write_text(text)
    command = [str(probe), str(constants)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 1
    assert complaint in result.stderr
