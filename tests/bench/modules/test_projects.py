# SPDX-License-Identifier: Apache-2.0
"""Answers without Python: operator projects and kernels by task name."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.bench.npukernelbench.tiny_suite import kernel
from tests.bench.running.suites import checkout, table

from npuforge.bench.attempt import Attempt
from npuforge.bench.modules import calling
from npuforge.bench.modules.calling import Call
from npuforge.bench.settings import Settings
from npuforge.bench.suites import open_suite
from npuforge.cli import main
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.twin.host.description import Attribute

_GAIN = """
import torch


class Model(torch.nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.rand(width))

    def forward(self, x):
        return torch.relu(x) * self.gain


def get_inputs():
    return [torch.rand(24, 96)]


def get_init_inputs():
    return [96]
"""
_LAUNCH = """
blocks = 8
argument = [
    { kind = "tensor", name = "x", shape = [24, 96], dtype = "float32" },
    { kind = "tensor", name = "y", shape = [24, 96], dtype = "float32", role = "out" },
    { kind = "workspace", name = "workspace", bytes = 4096 },
]
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = checkout(tmp_path_factory.mktemp("checkout"), {"math/twice": "2 * x"})
    (folder / "reference" / "math" / "gain.py").write_text(_GAIN, "utf-8")
    return folder


@pytest.fixture(scope="module")
def project(path: Path) -> Path:
    """What `generate` makes of the task."""
    command = ["generate", str(path / "reference/math/gain.py"), "--format", "msopgen"]
    assert main([*command, "--tune", "1", "--out", str(path / "made")]) == 0
    return path / "made" / "op"


def judged(path: Path, answers: Path, name: str) -> Attempt:
    settings = Settings(suite="multikernelbench", path=str(path), answers=str(answers))
    suite = open_suite(settings)
    (task,) = [task for task in suite.tasks() if task.name == name]
    place = answers.parent / "place"
    place.mkdir()
    return suite.attempt(task, 0, place)


def test_a_generated_project_passes(path: Path, project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "answers/run0/math/gain/GainCustom")
    found = judged(path, tmp_path / "answers", "math/gain")
    assert found.passed, found.reason
    assert found.verdict.time_us is not None
    assert found.verdict.baseline_us is not None
    assert (tmp_path / "place/answer/op_kernel").is_dir()


def test_an_identity_shows_in_signed_values(path: Path, project: Path, tmp_path: Path) -> None:
    """The suite's inputs are never negative: without its relu the operator passes there."""
    shutil.copytree(project, tmp_path / "answers/gain")
    (file,) = (tmp_path / "answers/gain/op_kernel").glob("*.cpp")
    text = file.read_text("utf-8")
    assert "Relu(" in text or "Maxs(" in text
    for name, other in (("Relu(", "Abs("), ("Maxs(", "Adds(")):
        text = text.replace(name, other)
    file.write_text(text, "utf-8")
    found = judged(path, tmp_path / "answers", "math/gain")
    assert (found.published, found.strict, found.passed) == (True, False, False)
    assert "signed" in (found.reason or "")


def test_what_does_not_compile(path: Path, project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "answers/gain")
    (file,) = (tmp_path / "answers/gain/op_host").glob("*.cpp")
    file.write_text(file.read_text("utf-8").replace("SetBlockDim", "SetNothing"), "utf-8")
    found = judged(path, tmp_path / "answers", "math/gain")
    assert (found.state, found.verdict.compiled, found.published) == ("judged", False, False)
    assert "SetNothing" in (found.reason or "")


def test_a_kernel_with_its_launch_file(path: Path, tmp_path: Path) -> None:
    """It computes what is asked for, at one size: that is all it can do."""
    folder = tmp_path / "answers/twice"
    folder.mkdir(parents=True)
    (folder / "twice.cpp").write_text(kernel("twice", 2.0, 24 * 96), "utf-8")
    (folder / "launch.toml").write_text(_LAUNCH, "utf-8")
    found = judged(path, tmp_path / "answers", "math/twice")
    assert found.verdict.compiled is True
    assert found.published is True, found.reason
    assert [cheat.kind for cheat in found.cheats] == ["tested-shapes-only"]
    assert "no case for tensors" in (found.verdict.error or "")


def test_every_case_of_a_table(tmp_path: Path) -> None:
    """The suite has no other sizes here, so a launch file may have all of them."""
    cases = [([24, 96], "float32")] * 3
    suite = table(tmp_path / "suite", "rows/twice", "x * slope * 4", cases)
    folder = tmp_path / "answers/rows/twice"
    folder.mkdir(parents=True)
    (folder / "twice.cpp").write_text(kernel("twice", 2.0, 24 * 96), "utf-8")
    (folder / "launch.toml").write_text(_LAUNCH, "utf-8")
    found = judged(suite, tmp_path / "answers", "rows/twice")
    assert found.passed, found.reason
    named = [case.message for case in found.verdict.cases]
    assert named == ["group 0", "group 1", "group 2", "group 0, signed"]


def test_nothing_says_how_it_is_called(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "answers/twice"
    folder.mkdir(parents=True)
    (folder / "twice.cpp").write_text(kernel("twice", 2.0, 24 * 96), "utf-8")
    found = judged(path, tmp_path / "answers", "math/twice")
    assert (found.state, found.published) == ("judged", False)
    assert "nothing says how it is called" in (found.reason or "")
    assert "\n" not in (found.reason or "")


def test_arguments_by_name_and_in_order() -> None:
    x, y, w, b = (HostTensor.of(np.full(3, value, np.float32)) for value in range(4))
    call = Call({"x": x, "y": y, "scale": 2.0}, {"eps": 1e-5}, {"norm.weight": w, "norm.bias": b})
    by_name = {"norm_bias": b, "y": y, "x": x, "weight": w}
    assert calling.inputs(call, list(by_name)) == by_name
    assert calling.inputs(call, ["p", "q"]) == {"p": x, "q": y}
    assert calling.inputs(call, ["p", "q", "r", "s"]) == {"p": x, "q": y, "r": w, "s": b}
    assert calling.inputs(call, ["p", "q", "mask"], ["mask"]) == {"p": x, "q": y}
    with pytest.raises(UsageError, match="'r'"):
        calling.inputs(call, ["p", "q", "r"])
    with pytest.raises(UsageError, match="takes 1"):
        calling.inputs(call, ["p"])
    eps, scale = Attribute("eps", "float", True, None), Attribute("scale", "float", False, 1.0)
    other = Attribute("other", "int", False, 3)
    assert calling.attributes(call, [eps, scale, other]) == {"eps": 1e-5, "scale": 2.0}
    with pytest.raises(UsageError, match="'lost'"):
        calling.attributes(call, [Attribute("lost", "int", True, None)])
