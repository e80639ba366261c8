# SPDX-License-Identifier: Apache-2.0
"""The tasks of our own suite: each runs, each gives the same twice, none is passed by a trifle."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.bench.forge.listing import table
from tests.bench.forge.loading import NAMES, TASKS, Ran, load, run
from torch import Tensor

from npuforge.bench.modules.compare import close
from npuforge.bench.settings import Settings
from npuforge.bench.suites import open_suite
from npuforge.bench.suites.forge import open_suite as open_forge
from npuforge.bench.task import Task
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError

CATEGORIES = {
    *("activation", "loss", "math", "normalization", "optimizer", "pooling", "reduce"),
    *("broadcast", "index", "resize", "scan", "sort", "fused", "quantization", "attention"),
}
SAMPLE = 40_000
CUBE = {"matmul", "convolution"}
SETTINGS = Settings(suite="forge")
SUITE = open_forge(SETTINGS)
PROTOCOL = SUITE.protocol


def test_there_are_enough_of_each_level_and_category() -> None:
    assert len(TASKS) >= 100
    assert {task.category for task in TASKS} == CATEGORIES | CUBE
    by_level = Counter(task.level for task in TASKS)
    assert set(by_level) == {1, 2, 3}
    assert min(by_level.values()) >= 25
    assert len({task.name for task in TASKS}) == len(TASKS)
    assert [task.name for task in open_suite(SETTINGS).tasks()] == NAMES


def test_the_suite_takes_no_checkout_and_has_no_paper() -> None:
    with pytest.raises(UsageError, match="--path"):
        open_suite(Settings(suite="forge", path="."))
    with pytest.raises(UsageError, match="paper"):
        open_suite(Settings(suite="forge", protocol="paper"))


def test_the_documentation_lists_every_task() -> None:
    page = Path(__file__).parents[3] / "docs" / "forge.md"
    listed = [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")]
    assert listed[-len(TASKS) - 2 :] == table()


def test_no_two_tasks_are_alike() -> None:
    """Apart from names and sizes, every model is another one, and says what it is."""
    seen: dict[str, str] = {}
    told: dict[str | None, str] = {}
    for task in TASKS:
        shape = _without_names(task.place)
        assert seen.setdefault(shape, task.name) == task.name
        said = ast.get_docstring(ast.parse(task.place.read_text()))
        assert said is not None
        assert told.setdefault(said, task.name) == task.name


def _without_names(file: Path) -> str:
    tree = ast.parse(file.read_text())
    model = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Model")
    for node in ast.walk(model):
        match node:
            case ast.Name():
                node.id = "x"
            case ast.arg():
                node.arg = "x"
                node.annotation = None
            case ast.FunctionDef():
                node.returns = None
    return ast.dump(model)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_a_task_holds_against_trifles(task: Task) -> None:
    """Zeros, ones, a constant, an input, the result for other inputs: none passes for a result."""
    ran, again = run(task, 0), run(task, 0, first_only=True)
    other = run(task, 5, first_only=True)
    assert _same(ran, again)
    for place, want in enumerate(ran.outputs[0]):
        assert want.numel() > 0
        assert not want.isnan().all()
        for trifle, given in _trifles(want, ran.inputs[0], other.outputs[0][place]):
            assert not _passes(want, given), f"{trifle} passes as result {place} of {task.name}"


def _same(first: Ran, second: Ran) -> bool:
    pairs = zip(
        (*first.inputs[0], *first.outputs[0]),
        (*second.inputs[0], *second.outputs[0]),
        strict=True,
    )
    return all(torch.equal(_bits(a), _bits(b)) for a, b in pairs)


def _bits(tensor: Tensor) -> Tensor:
    """NaN equals itself here."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _trifles(want: Tensor, inputs: Sequence[Tensor], other: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "zeros", torch.zeros_like(want)
    yield "ones", torch.ones_like(want)
    yield "a constant", torch.full_like(want, float(np.nanmedian(other.double().numpy())))
    yield "the result for other inputs", other
    for place, given in enumerate(inputs):
        if given.shape == want.shape:
            yield f"input {place}", given.to(want.dtype)


def _passes(want: Tensor, got: Tensor) -> bool:
    """Some of the elements: what is wrong in these is wrong in all."""
    step = want.numel() // SAMPLE + 1
    reference = HostTensor.of(want.flatten()[::step])
    allowed = PROTOCOL.tolerance(SETTINGS, reference.dtype.name)
    given = HostTensor.of(got.flatten()[::step])
    return close(reference, given, allowed, equal_nan=PROTOCOL.equal_nan)


def test_dynamic_tasks_have_several_shapes_of_one_kind() -> None:
    dynamic = 0
    for task in TASKS:
        module = load(task.place)
        if not hasattr(module, "get_input_groups"):
            continue
        dynamic += 1
        groups = module.get_input_groups()
        kinds = {tuple((tensor.dtype, tensor.ndim) for tensor in group) for group in groups}
        assert len(kinds) == 1, task.name
        shapes = {tuple(tuple(tensor.shape) for tensor in group) for group in groups}
        assert len(shapes) == len(groups) >= 3, task.name
        assert SUITE.groups[task.name] == len(groups)
    assert len(SUITE.groups) == dynamic >= 20
