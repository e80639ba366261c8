# SPDX-License-Identifier: Apache-2.0
"""A short description of an operator (TOML) as a module's file.

name = "scaled_relu"
formula = "torch.relu(x) * scale"

[inputs]
x = { shape = [1024, 4096], dtype = "float16" }
scale = 0.5

`formula` is an expression over the inputs, or lines that end in `return`. An integer tensor takes
`below`, the bound of its values. The text is code: the module it becomes runs in the sandbox only.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import msgspec

from npuforge.errors import UsageError
from npuforge.spec.session import operator_name
from npuforge.untrusted.documents import convert, parse_toml
from npuforge.untrusted.inputs import read_input
from npuforge.untrusted.names import checked_path


class _Tensor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shape: list[int]
    dtype: str = "float32"
    below: int | None = None


class _Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    formula: str
    inputs: dict[str, _Tensor | float | int | bool]


_FLOATS = {"float32", "float16", "bfloat16", "float64"}
_INTEGERS = {"int8", "uint8", "int16", "int32", "int64"}


def module_text(file: Path) -> tuple[str, str]:
    """Name and text of the module that a description stands for."""
    name = f"{file.name} is no operator description"
    read = convert(parse_toml(read_input(file), name), _Description, name)
    for name in read.inputs:
        if not name.isidentifier():
            raise UsageError(f"{file.name}: {name!r} is no name for an input")
    return operator_name(read.name), _module(checked_path(Path(file.name)), read)


def _module(file: str, read: _Description) -> str:
    formula = textwrap.dedent(read.formula).strip()
    if "return" not in formula:
        formula = f"return ({formula})"
    made = ",\n        ".join(_value(file, name, item) for name, item in read.inputs.items())
    return f'''"""{operator_name(read.name)}: written from {file}."""

import torch


class Model(torch.nn.Module):
    def forward(self, {", ".join(read.inputs)}):
{textwrap.indent(formula, "        ")}


def get_inputs():
    return [
        {made},
    ]


def get_init_inputs():
    return []
'''


def _value(file: str, name: str, item: _Tensor | float | int | bool) -> str:
    if not isinstance(item, _Tensor):
        return repr(item)
    if item.dtype == "bool":
        return f"torch.rand({item.shape}) < 0.5"
    if item.dtype in _INTEGERS:
        below = item.below if item.below is not None else 100
        return f"torch.randint(0, {below}, {item.shape}, dtype=torch.{item.dtype})"
    if item.dtype in _FLOATS:
        return f"torch.randn({item.shape}, dtype=torch.{item.dtype})"
    raise UsageError(f"{file}: input {name} has the unknown dtype {item.dtype!r}")
