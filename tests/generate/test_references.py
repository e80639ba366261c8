# SPDX-License-Identifier: Apache-2.0
"""What modules compute, asked of their own process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.generate.modules import PICK, STEP

from npuforge.errors import UsageError
from npuforge.generate.cases import choose
from npuforge.generate.reference import WORKER, References
from npuforge.spec.session import ModuleSession, operator_name


def test_updates_in_place_and_results(tmp_path: Path) -> None:
    file = tmp_path / "step.py"
    file.write_text(STEP)
    with ModuleSession(file, then=WORKER) as session:
        graph = session.graph
        cases = choose(graph)
        references = References(session, cases)
        for number, case in enumerate(cases):
            answer = references.answer(number)
            assert answer.error is None, case
            param, grad = (tensor.data for tensor in answer.sources)
            mutated = [result.mutates for result in graph.results].index("param")
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(
                    answer.results[mutated].data, param - 0.5 * grad, rtol=1e-5, atol=1e-5
                )
            golden = answer.golden[mutated]
            assert golden is not None
            assert golden.dtype.name == "float64"


def test_indices_stay_in_range_when_sizes_shrink(tmp_path: Path) -> None:
    file = tmp_path / "pick.py"
    file.write_text(PICK)
    with ModuleSession(file, then=WORKER) as session:
        cases = choose(session.graph)
        references = References(session, cases)
        names = [source.name for source in session.graph.sources]
        for number in range(len(cases)):
            answer = references.answer(number)
            assert answer.error is None
            assert answer.note is None
            index = answer.sources[names.index("index")].data
            assert index.max() < answer.sources[names.index("x")].shape[1]


def test_a_module_that_ends_its_process_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "leaves.py"
    file.write_text(STEP.replace("param.add_", "import os; os._exit(4); param.add_"))
    with (
        ModuleSession(file, then=WORKER) as session,
        pytest.raises(UsageError, match="status 4"),
    ):
        assert session.graph


@pytest.mark.parametrize(
    ("text", "name"),
    [("1_Softmax-v2", "softmax_v2"), ("HingeLoss", "hinge_loss"), ("12", "operator")],
)
def test_names_of_operators(text: str, name: str) -> None:
    assert operator_name(text) == name


INDEXED = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, index):
        return x.index_add(0, index, x[: index.shape[0]])

def get_inputs():
    return [torch.rand(64, 8), 40 + torch.randint(0, 24, (32,))]

def get_init_inputs():
    return []
"""


def test_whole_numbers_at_the_sizes_asked_for(tmp_path: Path) -> None:
    """They decide the time of kernels that follow indices."""
    path = tmp_path / "indexed.py"
    path.write_text(INDEXED)
    with ModuleSession(path, then=WORKER) as session:
        given = References(session, choose(session.graph)).given()
    assert list(given) == ["index"]
    assert given["index"].shape == (32,)
    assert given["index"].data.min() >= 40


GRADIENT = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, dy):
        with torch.enable_grad():
            gate, value = torch.chunk(x, 2, dim=-1)
            y = torch.nn.functional.gelu(gate) * value
            return torch.autograd.grad(outputs=y, inputs=x, grad_outputs=dy)[0]

def get_inputs():
    return [torch.rand(8, 80, requires_grad=True), torch.rand(8, 40)]

def get_init_inputs():
    return []
"""


def test_a_module_may_ask_for_the_gradient_of_an_input(tmp_path: Path) -> None:
    """In cases of other sizes and other values too."""
    path = tmp_path / "gradient.py"
    path.write_text(GRADIENT)
    with ModuleSession(path, then=WORKER) as session:
        cases = choose(session.graph)
        references = References(session, cases)
        answers = [references.answer(number) for number in range(len(cases))]
    assert len({answer.sources[0].shape for answer in answers if answer.error is None}) > 1
    assert [answer.error for answer in answers if answer.error] == []
