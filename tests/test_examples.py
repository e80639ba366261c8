# SPDX-License-Identifier: Apache-2.0
"""Example modules: the formulas are right and need no matrix unit."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

from npuforge.spec.capture import capture

MODULES = Path(__file__).parents[1] / "examples" / "modules"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", MODULES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def streams() -> list[torch.Tensor]:
    torch.manual_seed(7)
    shapes = ((5, 4, 33), (5, 4, 4), (5, 33), (5, 4))
    return [torch.randn(shape, dtype=torch.float64).float() for shape in shapes]


def test_mhc_post_mixes_streams_and_adds_the_output() -> None:
    x, h_res, h_out, h_post = streams()
    found = loaded("mhc_post").Model()(x, h_res, h_out, h_post)
    mixed = torch.einsum("bij,bid->bjd", h_res, x)
    torch.testing.assert_close(found, mixed + torch.einsum("bj,bd->bjd", h_post, h_out))


def test_mhc_post_grad_is_what_autograd_says() -> None:
    inputs = [value.requires_grad_() for value in streams()]
    y = loaded("mhc_post").Model()(*inputs)
    gy = torch.randn_like(y)
    y.backward(gy)
    found = loaded("mhc_post_grad").Model()(gy, *inputs)
    for own, value in zip(found, inputs, strict=True):
        torch.testing.assert_close(own, value.grad)


@pytest.mark.parametrize("name", ["mhc_post", "mhc_post_grad", "softmax"])
def test_examples_are_captured_without_products_of_matrices(name: str) -> None:
    graph = capture(MODULES / f"{name}.py")
    operations = {node.op.split(".")[1] for node in graph.nodes}
    assert operations
    assert not operations & {"mm", "bmm", "addmm", "convolution"}
    assert graph.eager
