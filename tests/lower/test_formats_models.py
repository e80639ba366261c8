# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules that call an operator: the extension, and MultiKernelBench's two answers."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from tests.lower.format_programs import CASES, lowered, write

from npuforge.lower.compiler import lower, renamed
from npuforge.lower.formats import emit, msopgen
from npuforge.lower.formats.model import ModelShape, model_source
from npuforge.twin.model_verify import verify_model
from npuforge.twin.sources.model_answer import ModelAnswer

BLEND_TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self, offset, alpha):
        super().__init__()
        self.offset, self.alpha = offset, alpha

    def forward(self, x, acc):
        acc = acc + self.alpha * x.float()
        return acc, torch.round(acc).int() + self.offset

def get_inputs():
    return [torch.randn(30, 70).half().float().half(), torch.randn(30, 70)]

def get_init_inputs():
    return [4, 0.25]
"""

CENTRE_TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x - x.mean()

def get_inputs():
    return [torch.randn(50, 41)]

def get_init_inputs():
    return []
"""

TOTAL_TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, weight):
        return weight * x.sum(), 2 * weight

def get_inputs():
    return [torch.rand(50, 41), torch.tensor(1.5)]

def get_init_inputs():
    return []
"""

SCALE_SHIFT_TASK = """
import torch

class Model(torch.nn.Module):
    def __init__(self, rows, cols):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.randn(cols))
        self.rows = rows

    def forward(self, factor, x):
        return x * factor[:, None] + self.shift

def get_inputs():
    return [torch.randn(20), torch.randn(20, 100)]

def get_init_inputs():
    return [20, 100]
"""

TASKS = {"blend": BLEND_TASK, "centre": CENTRE_TASK, "total": TOTAL_TASK}


def verify(answer: Path, task: str, folder: Path) -> None:
    path = folder / "task.py"
    path.write_text(task)
    report = verify_model(ModelAnswer.open(answer), path, steps=("check",))
    verdict = report.verdict
    assert verdict.compiled is True, verdict.diagnostics[:3]
    assert verdict.error is None
    assert verdict.violations == []
    assert verdict.races == []
    assert verdict.correct is True, report.cases


def as_direct_answer(files: dict[str, str], model: str) -> str:
    """The files of an extension in the JSON that the twin opens."""
    document = {
        "entry": {"model": f"{model}::ModelNew"},
        "sources": [{"path": path, "content": text} for path, text in files.items()],
    }
    return json.dumps(document)


_ANSWERS = [("mkb", "total"), ("mkb-direct", "centre")]


@pytest.mark.parametrize(("form", "name"), _ANSWERS)
def test_answer(form: str, name: str, tmp_path: Path) -> None:
    files = emit(lowered(name), form)
    assert list(files) == [f"{name}.py" if form == "mkb" else f"{name}.json"]
    folder = write(files, tmp_path)
    verify(next(folder.iterdir()), TASKS[name], tmp_path)


def test_extension(tmp_path: Path) -> None:
    files = emit(lowered("blend"), "torch")
    assert set(files) == {
        "CMakeLists.txt",
        "setup.py",
        "model.py",
        "csrc/blend_launch.h",
        "csrc/blend_kernel.asc",
        "csrc/blend_binding.cpp",
    }
    for path in ("setup.py", "model.py"):
        ast.parse(files[path])
    sources = {p: text for p, text in files.items() if p.startswith("csrc") or p == "model.py"}
    answer = tmp_path / "blend.json"
    answer.write_text(as_direct_answer(sources, "model.py"))
    verify(answer, BLEND_TASK, tmp_path)


def test_a_module_with_parameters_and_another_order(tmp_path: Path) -> None:
    """What the planner passes: the task's own arguments, and tensors that the module owns."""
    text = (Path(__file__).parents[2] / "examples" / "tile" / "scale_shift.py").read_text()
    shape = ModelShape(
        init=("rows: int", "cols: int"),
        parameters=(("shift", "torch.nn.Parameter(torch.randn(cols))"),),
        forward=("factor", "x"),
        inputs={"a": "factor", "b": "self.shift"},
    )
    folder = write(emit(lower(text), "mkb", model=shape), tmp_path)
    verify(folder / "scale_shift.py", SCALE_SHIFT_TASK, tmp_path)


def test_required_arguments_come_first() -> None:
    host = lowered("blend").program.host
    shape = ModelShape.of(host)
    assert shape.init == ("offset: int", "alpha: float = 0.5", "negate: bool = False")
    source = model_source(host, shape, "ops", "blend")
    tree = ast.parse(source)
    assert any(isinstance(node, ast.ClassDef) and node.name == "ModelNew" for node in tree.body)
    assert "return ops.blend(x, acc, self.offset, self.alpha, self.negate)" in source


@pytest.mark.parametrize("name", sorted(CASES))
def test_six_strings_read_back_as_written(name: str) -> None:
    text = emit(lowered(name), "mkb")[f"{name}.py"]
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert list(values) == [
        "project_json_src",
        "host_tiling_src",
        "host_operator_src",
        "kernel_src",
        "python_bind_src",
        "model_src",
    ]
    operator = f"{name}_custom"
    sources = msopgen.sources(renamed(lowered(name), operator))
    assert values["kernel_src"].strip() == sources[f"op_kernel/{operator}.cpp"].strip()
    assert values["host_operator_src"].strip() == sources[f"op_host/{operator}.cpp"].strip()
    assert json.loads(values["project_json_src"])[0]["op"].endswith("Custom")
