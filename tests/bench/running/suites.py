# SPDX-License-Identifier: Apache-2.0
"""A checkout in MultiKernelBench's form, written here."""

from __future__ import annotations

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
