# SPDX-License-Identifier: Apache-2.0
"""Modules captured as graphs: shapes, parameters, numbers, and files that misbehave."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from npuforge.errors import UsageError
from npuforge.spec.capture import capture
from npuforge.spec.capture_worker import decomposed
from npuforge.spec.session import ModuleSession

NORM = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x, scale: float):
        return torch.relu(self.norm(x)) * scale


def get_inputs():
    return [torch.randn(1 << 20, 4096), 2.5]


def get_init_inputs():
    return [4096]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "task.py"
    path.write_text(text)
    return path


def test_a_module_for_gigabytes_is_captured_without_data(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, NORM))
    assert graph.name == "task"
    by_origin = {source.origin: source for source in graph.sources}
    assert by_origin["input"].type.shape == (1 << 20, 4096)
    assert by_origin["parameter"].target == "norm.bias"
    assert list(graph.scalars.values()) == [2.5]
    operations = [node.op for node in graph.nodes]
    assert operations[0] == "aten.native_layer_norm.default"
    assert operations[-1].startswith("aten.mul")
    assert [result.mutates for result in graph.results] == [None]
    assert "native_layer_norm" in graph.text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import torch\n", "AttributeError"),
        ("def def\n", "SyntaxError"),
        ("import os\nos._exit(3)\n", "status 3"),
    ],
)
def test_a_file_that_is_no_module_gives_one_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        capture(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        capture(tmp_path / "absent.py")


DIVERGENCE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        loss = torch.nn.functional.kl_div(torch.log(x), y.t(), reduction="batchmean")
        return loss, torch.relu(torch.relu(x) * 2).sin_().sin_().sin_()


def get_inputs():
    return [torch.rand(64, 64), torch.rand(64, 64)]
"""


def test_what_eager_execution_dispatches_is_noted(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, DIVERGENCE))
    operations = [entry.op.split(".")[1] for entry in graph.eager]
    # Which of two operands PyTorch computes first is its compiler's choice.
    assert set(operations[2:4]) == {"mul", "xlogy"}
    rest = ["log", "t", "sub", "sum", "div", "relu", "mul", "relu", "sin_"]
    assert operations[:2] + operations[4:] == rest
    xlogy = graph.eager[operations.index("xlogy")]
    assert [tensor.contiguous for tensor in xlogy.inputs] == [False, False]
    assert graph.eager[5].outputs[0].shape == ()
    assert [entry.count for entry in graph.eager] == [1] * 10 + [3]  # three in a row
    texts = [value for node in graph.nodes for value in node.args if isinstance(value, str)]
    assert "nan" in texts  # JSON has no such number


HALVED = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        smaller = torch.nn.functional.interpolate(x, scale_factor=[0.5, 0.5], mode="bilinear")
        return smaller * torch.log(torch.tensor(2.0, dtype=x.dtype, device=x.device))


def get_inputs():
    return [torch.rand(2, 3, 8, 10)]
"""


def test_sizes_by_way_of_fractions_are_fixed_and_numbers_in_the_code_are_known(
    tmp_path: Path,
) -> None:
    graph = capture(written(tmp_path, HALVED))
    assert not [symbol for symbol in graph.symbols if symbol.axis >= 2]
    assert [node.type.sizes for node in graph.nodes if "upsample" in node.op]
    (number,) = [source for source in graph.sources if source.origin == "constant"]
    assert number.type.shape == ()


NETWORK = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, w):
        if torch.compiler.is_exporting():
            raise RuntimeError("it was captured")
        for _ in range(4_000):
            x = torch.relu(x @ w)
        return x


def get_inputs():
    return [torch.randn(6, 4), torch.randn(4, 4)]
"""


def test_a_module_with_a_refused_operation_is_not_captured(tmp_path: Path) -> None:
    file = written(tmp_path, NETWORK)
    with (
        ModuleSession(file, refused={"aten.mm.default"}) as session,
        pytest.raises(UsageError, match=r"^aten.mm.default of \[6, 4\] and \[4, 4\]: no plan"),
    ):
        _ = session.graph
    with pytest.raises(UsageError, match="it was captured"):
        capture(file)


class Composites(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        larger: torch.Tensor = torch.nn.functional.interpolate(x[None], scale_factor=2.0)[0]
        larger += 1.0
        rows = torch.nn.functional.layer_norm(larger @ w, (7,))
        twice: torch.Tensor = torch.ops.npuforge_tests.twice(rows)
        return torch.nn.functional.softmax(twice.reshape(3, 2, 7), dim=-1)


@pytest.mark.filterwarnings("ignore")  # torch warns of itself
def test_a_program_is_decomposed_as_torch_would_with_whole_operations_left_whole() -> None:
    make: Any = torch.library.Library  # has no types
    library = make("npuforge_tests", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")
    program = torch.export.export(Composites(), (torch.rand(6, 5), torch.rand(10, 7)))
    table: Any = torch.export.default_decompositions()  # its methods have no types
    for one in list(table.keys()):
        if "upsample" in one.name():
            table.pop(one)
    found, theirs = decomposed(program), program.run_decompositions(table)
    assert found.graph_module.code == theirs.graph_module.code
    targets = {str(node.target) for node in found.graph.nodes}
    assert {"aten.upsample_nearest1d.vec", "aten._softmax.default"} <= targets
    assert not any("twice" in target or "add_" in target for target in targets)


ITEMS = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, power):
        filled = torch.full([x.shape[0], 1], power.item(), dtype=power.dtype)
        return (x ** power.item() + filled).masked_fill(x > 0.5, value=power.item())


def get_inputs():
    return [torch.rand(6, 5), torch.tensor([2.0])]
"""

ADAM = """
import torch


class Model(torch.nn.Module):
    def forward(self, weight, mean, square, step):
        count = step.item() + 1
        spread = torch.sqrt(square / (1 - 0.99**count)) + 1e-8
        weight.addcdiv_(mean, spread, value=-0.1 / (1 - 0.9**count))
        return weight


def get_inputs():
    return [torch.randn(6, 5), torch.randn(6, 5), torch.rand(6, 5), torch.tensor([3])]
"""

DECIDED = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x.floor() if mode.item() == 1 else x.ceil()


def get_inputs():
    return [torch.rand(6, 5), torch.tensor([1])]
"""


def test_numbers_taken_out_of_tensors_stay_values_that_are_read(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, ITEMS))
    assert [source.type.shape for source in graph.sources] == [(6, 5), (1,)]
    (power,) = [node for node in graph.nodes if node.op == "aten.pow.Tensor_Tensor"]
    assert power.type.shape == (6, 5)
    assert len(graph.symbols) == 2


def test_an_optimiser_takes_its_step_from_a_tensor(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, ADAM))
    assert [result.mutates for result in graph.results if result.mutates]
    assert sum(node.op == "aten.pow.Scalar" for node in graph.nodes) == 2


def test_what_is_decided_by_a_number_in_a_tensor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mode\.item\(\) == 1|data-dependent"):
        capture(written(tmp_path, DECIDED))


PINNED = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, axis, places, count):
        taken = torch.index_select(x, axis, places)
        return taken * torch.arange(1, count.item())[torch.argmax(places)]


def get_inputs():
    return [torch.rand(6, 5), torch.tensor(1), torch.randint(0, 5, (3,)), torch.tensor(9)]
"""


def test_whole_numbers_that_decide_are_those_of_the_example(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, PINNED))
    assert [source.type.shape for source in graph.sources] == [(6, 5), (3,)]
    assert [source.position for source in graph.sources] == [0, 2]
    assert list(graph.scalars.values()) == [1, 9]
    taken = next(node for node in graph.nodes if node.op == "aten.index_select.default")
    assert taken.args[1] == 1


POWERS = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, y, power, mode):
        rounded = torch.floor if mode.item() == 2 else torch.ceil
        return [rounded(torch.norm(one.float(), p=power.float().item())) for one in (x, y)]


def get_inputs():
    return [torch.rand(6, 5), torch.rand(7), torch.tensor(1), torch.tensor(2.0)]
"""

COUNTED = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        inner = torch.prod(torch.tensor(y.shape[1:])).item()
        places = torch.arange(4) * 2
        out = torch.zeros(places.max().item() + 1)
        out[places] = x.flatten()[:4]
        return x.reshape(-1, inner) * y.reshape(1, inner), out


def get_inputs():
    return [torch.rand(6, 10), torch.rand(1, 2, 5)]
"""

DRAWN = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2 if torch.rand(()).item() > 0.5 else x


def get_inputs():
    return [torch.rand(6, 10)]
"""


def test_what_numbers_of_the_example_decide_is_as_they_say(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, POWERS))
    assert [source.position for source in graph.sources] == [0, 1]
    assert list(graph.scalars.values()) == [1, 2.0]
    words = Counter(node.word for node in graph.nodes)
    assert (words["linalg_vector_norm"], words["floor"], words["ceil"]) == (2, 2, 0)


def test_what_follows_from_shapes_and_numbers_alone_is_known(tmp_path: Path) -> None:
    graph = capture(written(tmp_path, COUNTED))
    first, second = (result.name for result in graph.results)
    types = {node.name: node.type for node in graph.nodes}
    assert [source.name for source in graph.sources] == ["x", "y"]
    assert types[first].shape == (6, 10)
    assert types[second].shape == (7,)


def test_what_chance_decides_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        capture(written(tmp_path, DRAWN))
