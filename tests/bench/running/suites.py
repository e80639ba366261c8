# SPDX-License-Identifier: Apache-2.0
"""Checkouts in MultiKernelBench's form, written here."""

from __future__ import annotations

import json
from pathlib import Path

_TASK = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {formula}


def get_inputs():
    return [torch.randn({rows}, 96)]


def get_init_inputs():
    return []
"""


def checkout(folder: Path, formulas: dict[str, str], rows: int = 24) -> Path:
    """Tasks by name, `category/name`, and what they compute from `x`."""
    for name, formula in formulas.items():
        file = folder / "reference" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_TASK.format(formula=formula, rows=rows), "utf-8")
    return folder


_TABLE = """
import json
import os

import torch


class Model(torch.nn.Module):
    def forward(self, x, slope: float):
        return {formula}


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), os.path.basename(__file__)[:-3] + ".json")
    groups = []
    with open(path) as lines:
        for line in lines:
            if line.strip():
                x, slope = json.loads(line)["inputs"]
                dtype = getattr(torch, x["dtype"])
                groups.append([torch.randn(x["shape"], dtype=dtype), slope["value"]])
    return groups


def get_init_inputs():
    return []
"""


def table(folder: Path, name: str, formula: str, cases: list[tuple[list[int], str]]) -> Path:
    """A task with cases in a file beside it: what it computes from `x` and `slope`."""
    file = folder / "reference" / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_TABLE.format(formula=formula), "utf-8")
    lines = [
        {
            "inputs": [
                {"name": "x", "type": "tensor", "dtype": dtype, "shape": shape},
                {"name": "slope", "type": "attr", "dtype": "float", "value": 0.5},
            ]
        }
        for shape, dtype in cases
    ]
    file.with_suffix(".json").write_text("\n".join(map(json.dumps, lines)) + "\n\n", "utf-8")
    return folder
