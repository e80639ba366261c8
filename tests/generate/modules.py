# SPDX-License-Identifier: Apache-2.0
"""Modules to generate from, and plans by hand for them."""

from __future__ import annotations

from pathlib import Path

from npuforge.plan import Operand, Plan, Variant
from npuforge.spec.graph import Graph

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile"

NORM = """
import torch


class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(40, 96)]


def get_init_inputs():
    return [96]
"""

STEP = """
import torch


class Model(torch.nn.Module):
    def forward(self, param, grad):
        param.add_(grad, alpha=-0.5)
        return param.abs().max(), grad * 2


def get_inputs():
    return [torch.randn(3, 50), torch.randn(3, 50)]
"""

PICK = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, index, mask):
        return torch.gather(x, 1, index) * mask


def get_inputs():
    rows, columns = 3000, 4000
    return [
        torch.rand(rows, columns),
        torch.randint(0, columns, (rows, 1200)),
        torch.rand(rows, 1200) > 0.5,
    ]
"""


def norm_plan(graph: Graph, soc: str) -> Plan:  # noqa: ARG001
    """Three variants: one forgets scale and shift, one is right, one does not compile."""
    right = (EXAMPLES / "layer_norm.py").read_text()
    wrong = right.replace("tl.mul(tile_out[:n, :], tile_out[:n, :], scale)", "").replace(
        "tl.add(tile_out[:n, :], tile_out[:n, :], shift)", ""
    )
    return Plan(
        "layer_norm",
        (
            Variant("forgetful", wrong, "fewer instructions"),
            Variant("whole rows", right, "one pass"),
            Variant("broken", right.replace("tl.copyout", "tl.copyaway"), "never"),
        ),
        (
            Operand("x", "input", "x"),
            Operand("gamma", "input", "p_norm_weight"),
            Operand("beta", "input", "p_norm_bias"),
            Operand("y", "output", result=0),
        ),
    )
