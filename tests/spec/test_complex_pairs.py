# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as pairs: what modules with them come to, proven on the twin."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from npuforge.errors import UsageError
from npuforge.generate import generate
from npuforge.generate.live import LiveModule


class Applied(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.function(x, y)


def _complex(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.complex64)


def _placed(x: torch.Tensor) -> torch.Tensor:
    """Every second row of what is nothing otherwise."""
    places = torch.arange(6) * 2
    made = torch.zeros(places.max().item() + 1, 40, dtype=x.dtype)  # type: ignore[arg-type]
    made[places] = x[torch.arange(6)]
    return made


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x * y,
        lambda x, y: (x - y) * 0.5,
        lambda x, y: (x * y.conj()).real,
        lambda x, y: torch.abs(x.real) + torch.abs(y.imag),
        lambda x, y: torch.abs(x + y),
        lambda x, y: -x[:, 1:] * y[:, 1:].real,
        lambda x, y: _placed(x * y),
    ],
)
def test_complex_numbers_are_pairs_of_real_ones(
    function: Callable[..., torch.Tensor],
) -> None:
    outcome = generate(Applied(function), [_complex(6, 40), _complex(6, 40)], name="applied")
    assert outcome.verdict.ok, outcome.verdict
    assert outcome.verdict.correct
    assert outcome.verdict.cases[0].shapes[0][-1] == 2
    assert outcome.verdict.cases[0].dtypes[0] == "float32"


def test_a_graph_has_the_parts_of_its_complex_tensors() -> None:
    with LiveModule(Applied(lambda x, y: x * y), [_complex(4, 8), _complex(4, 8)], "mul") as live:
        graph = live.graph
    assert [source.type.extents[-1] for source in graph.sources] == ["2", "2"]
    assert all(kind.dtype == "float32" for node in graph.nodes for kind in node.types if kind)
    assert graph.nodes[-1].op == "aten.cat.default"


def test_what_is_not_known_of_complex_numbers_is_refused_by_their_type() -> None:
    with pytest.raises(UsageError, match="complex64"):
        generate(Applied(lambda x, y: torch.exp(x) * y), [_complex(4), _complex(4)], name="exp")


def test_products_of_double_precision_complex_numbers_are_refused() -> None:
    def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y.real.double()

    with pytest.raises(UsageError, match="no plan"):
        generate(Applied(scaled), [_complex(4), _complex(4)], name="scaled")
