# SPDX-License-Identifier: Apache-2.0
"""Honest answers show nothing in their text, by hand or by the planner; test_gallery runs some."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench.cheats.honest import BUFFERED, CAREFUL, HONEST_DIRECT_BINDING, PREPARED
from tests.bench.cheats.subject import direct, six
from tests.lower.format_programs import lowered, write

from npuforge.bench.cheats import inspect
from npuforge.lower.compiler import lower
from npuforge.lower.formats import emit
from npuforge.lower.formats.model import ModelShape
from npuforge.twin.sources.model_answer import ModelAnswer


@pytest.mark.parametrize("model", [CAREFUL, BUFFERED], ids=["careful", "buffered"])
def test_six_strings(model: str, tmp_path: Path) -> None:
    assert inspect(six(tmp_path, model)) == []


def test_direct_launch(tmp_path: Path) -> None:
    assert inspect(direct(tmp_path, PREPARED, HONEST_DIRECT_BINDING)) == []


@pytest.mark.parametrize("form", ["mkb", "mkb-direct"])
@pytest.mark.parametrize("name", ["blend", "centre", "total"])
def test_the_planners_answers(form: str, name: str, tmp_path: Path) -> None:
    folder = write(emit(lowered(name), form), tmp_path)
    assert inspect(ModelAnswer.open(next(folder.iterdir()))) == []


def test_the_references_class_may_make_parameters(tmp_path: Path) -> None:
    """The planner makes what a module owns by the reference's class and does not call it."""
    reference = """
import os, json
class Model(torch.nn.Module):
    def __init__(self, rows, cols):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.randn(cols))

    def forward(self, factor, x):
        return x * factor[:, None] + self.shift

def get_input_groups():
    return json.load(open(os.path.join(os.path.dirname(__file__), "cases.json")))
"""
    text = (Path(__file__).parents[3] / "examples" / "tile" / "scale_shift.py").read_text()
    shape = ModelShape(
        init=("rows: int", "cols: int"),
        parameters=(("reference", "Model(rows, cols)"),),
        forward=("factor", "x"),
        inputs={"a": "factor", "b": "self.reference.shift"},
        definitions=reference,
    )
    folder = write(emit(lower(text), "mkb", model=shape), tmp_path)
    assert inspect(ModelAnswer.open(folder / "scale_shift.py")) == []


def test_what_does_not_parse_is_no_cheat(tmp_path: Path) -> None:
    assert inspect(six(tmp_path, "class ModelNew(", "at::Tensor f( {")) == []
