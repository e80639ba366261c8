# SPDX-License-Identifier: Apache-2.0
"""Every example program means what it says: the interpreter against torch, over awkward shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from npuforge.tile import read_program
from npuforge.tile.interpret import interpret

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile"

Inputs = Mapping[str, Tensor]
Attributes = Mapping[str, int | float | bool]


def run(name: str, inputs: Inputs, attributes: Attributes | None = None) -> dict[str, Tensor]:
    program = read_program((EXAMPLES / f"{name}.py").read_bytes())
    results = interpret(program, inputs, attributes or {})
    return {key: tensor.torch() for key, tensor in results.items()}


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def close(found: Tensor, wanted: Tensor, tolerance: float = 2e-6) -> None:
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


MATRICES = [(1, 1), (1, 8), (7, 13), (129, 257), (0, 5), (1000, 3)]
FLAT = [0, 1, 63, 4097, 300_001]


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_softmax(shape: tuple[int, int]) -> None:
    x = noise(*shape)
    close(run("softmax", {"x": x})["y"], functional.softmax(x, -1))


@pytest.mark.parametrize("count", FLAT)
def test_gelu(count: int) -> None:
    x = noise(count).half()
    close(run("gelu", {"x": x})["y"].float(), functional.gelu(x.float()).half().float(), 1e-3)


@pytest.mark.parametrize("count", FLAT[1:])
def test_huber_loss(count: int) -> None:
    x, target = noise(count), noise(count, seed=1)
    found = run("huber_loss", {"x": x, "target": target}, {"delta": 0.7})["loss"]
    close(found, functional.huber_loss(x, target, delta=0.7)[None], 1e-5)


@pytest.mark.parametrize("shape", [*MATRICES, (5, 0), (3, 20_011)], ids=str)
def test_cumsum(shape: tuple[int, int]) -> None:
    x = noise(*shape)
    wanted = torch.cumsum(x.double(), 1).float()
    close(run("cumsum", {"x": x})["y"], wanted, 1e-4)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_layer_norm(shape: tuple[int, int]) -> None:
    x, gamma, beta = noise(*shape), noise(shape[1]), noise(shape[1], seed=1)
    found = run("layer_norm", {"x": x, "gamma": gamma, "beta": beta})["y"]
    close(found, functional.layer_norm(x, (shape[1],), gamma, beta), 1e-5)


@pytest.mark.parametrize("count", FLAT[1:])
def test_adamw(count: int) -> None:
    param = noise(count).requires_grad_()
    param.grad = noise(count, seed=1)
    tensors = {"param": param.detach().clone(), "grad": param.grad.clone()}
    state = {"moment": torch.zeros(count), "square": torch.zeros(count)}
    optimizer = torch.optim.AdamW([param], lr=0.01, weight_decay=0.1)
    for step in (1, 2):
        optimizer.step()
        corrections = {
            "correction1": 1 - 0.9**step,
            "root_correction2": (1 - 0.999**step) ** 0.5,
        }
        found = run("adamw", {**tensors, **state}, {"lr": 0.01, "weight_decay": 0.1, **corrections})
        tensors["param"] = found["param"]
        state = {"moment": found["moment"], "square": found["square"]}
    close(tensors["param"], param.detach(), 1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 64), (1000, 129), (7, 4097)], ids=str)
def test_max_of_columns(shape: tuple[int, int]) -> None:
    x = noise(*shape)
    close(run("max_of_columns", {"x": x})["y"], x.amax(0), 0)


@pytest.mark.parametrize(
    ("shape", "size", "stride"),
    [((1, 1, 2, 2), 2, 2), ((2, 3, 17, 31), 3, 2), ((1, 2, 9, 130), 4, 1), ((1, 1, 5, 5), 1, 3)],
    ids=str,
)
def test_max_pool2d(shape: tuple[int, ...], size: int, stride: int) -> None:
    x = noise(*shape)
    found = run("max_pool2d", {"x": x}, {"size": size, "stride": stride})["y"]
    close(found, functional.max_pool2d(x, size, stride), 0)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_scale_shift(shape: tuple[int, int]) -> None:
    x, a, b = noise(*shape), noise(shape[0]), noise(shape[1], seed=1)
    close(run("scale_shift", {"x": x, "a": a, "b": b})["y"], x * a[:, None] + b)


@pytest.mark.parametrize(("entries", "dim", "count"), [(1, 1, 1), (50, 33, 0), (100, 257, 321)])
def test_embedding(entries: int, dim: int, count: int) -> None:
    table = noise(entries, dim)
    index = torch.randint(0, entries, (count,), generator=torch.Generator().manual_seed(count))
    close(run("embedding", {"table": table, "index": index})["y"], table[index], 0)


@pytest.mark.parametrize(
    ("shape", "size"),
    [((1, 1, 1, 1), (3, 2)), ((2, 3, 7, 13), (14, 26)), ((1, 2, 20, 33), (9, 11))],
    ids=str,
)
def test_resize_bilinear(shape: tuple[int, ...], size: tuple[int, int]) -> None:
    x = noise(*shape)
    found = run("resize_bilinear", {"x": x}, {"out_height": size[0], "out_width": size[1]})["y"]
    wanted = functional.interpolate(x, size, mode="bilinear", align_corners=False)
    close(found, wanted, 1e-5)


@pytest.mark.parametrize(("rows", "cols", "k"), [(1, 1, 1), (90, 37, 5), (2, 4096, 100)])
def test_topk(rows: int, cols: int, k: int) -> None:
    x = noise(rows, cols)
    found = run("topk", {"x": x}, {"k": k})
    values, places = torch.topk(x, k, 1)
    close(found["values"], values, 0)
    assert torch.equal(found["places"].long(), places)


@pytest.mark.parametrize("count", FLAT)
def test_masked_fill(count: int) -> None:
    x = noise(count)
    where = noise(count, seed=1) > 0
    found = run("masked_fill", {"x": x, "where": where}, {"value": -2.5})["y"]
    close(found, x.masked_fill(where, -2.5), 0)


@pytest.mark.parametrize("shape", [*MATRICES, (5, 0)], ids=str)
def test_transpose(shape: tuple[int, int]) -> None:
    x = noise(*shape)
    close(run("transpose", {"x": x})["y"], x.T, 0)


@pytest.mark.parametrize("count", FLAT)
def test_sum_all(count: int) -> None:
    x = noise(count)
    close(run("sum_all", {"x": x})["y"], x.double().sum().float()[None], 2e-4)


@pytest.mark.parametrize("shape", [(1, 1), (7, 13), (129, 257), (1000, 3)], ids=str)
def test_cross_entropy(shape: tuple[int, int]) -> None:
    scores = noise(*shape)
    generator = torch.Generator().manual_seed(shape[0])
    classes = torch.randint(0, shape[1], shape[:1], generator=generator)
    found = run("cross_entropy", {"scores": scores, "classes": classes.int()})["loss"]
    close(found, functional.cross_entropy(scores, classes, reduction="none"), 1e-5)


def test_every_example_is_tried() -> None:
    tests: Mapping[str, Callable[..., None]] = {
        name.removeprefix("test_"): value for name, value in globals().items() if "test_" in name
    }
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= set(tests)
