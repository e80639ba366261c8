# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the beginning of a program, whatever follows it.

For who writes a program line by line and wants to know at once. Lines are as `parse` takes them;
blocks that have only been opened yet are allowed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import takewhile

from npuforge import dtypes
from npuforge.dtypes import DType
from npuforge.tile.check import check_kernel
from npuforge.tile.expr import Type, Var
from npuforge.tile.facts import Facts
from npuforge.tile.hosts import typed_host
from npuforge.tile.ir import Parameter, PointerParameter, ScalarParameter, Tensor
from npuforge.tile.kernels import ELEMENT_TYPES, typed_kernel
from npuforge.tile.parse import constructs, functions
from npuforge.tile.source import NOWHERE, Finding, Findings, TileError

# What the host's numbers decide: how far apart and how long things are, and how many blocks.
_LATER = frozenset({"TL-08", "TL-11", "TL-16"})
_BLOCKS = "TL-21"
_MOVED = re.compile(r"\btl\.(?:load|store)\((\w+)[^,]*, (\w+)")
_READ = re.compile(r"\btl\.load_scalar\((\w+)")
_BUFFER = re.compile(r"^ +(\w+) = tl\.alloc_ub\(.*dtype=tl\.(\w+)", re.MULTILINE)
_STEP = "    "


def in_kernel(text: str, tensors: Mapping[str, Tensor], chip: Mapping[str, int]) -> list[Finding]:
    """Of a kernel alone. Parameters named like tensors are those; others hold what is first loaded
    from them or stored to them, and are whole numbers where nothing is."""
    findings = Findings()
    try:
        (function,) = constructs(_closed(text)).body
    except TileError as error:
        return error.findings
    except ValueError:
        return []
    if not isinstance(function, ast.FunctionDef):
        return []
    facts = Facts(chip=chip)
    held = _held(text)
    unknown = set(_READ.findall(text))
    parameters: list[Parameter] = []
    for argument in function.args.args:
        name = argument.arg
        if name in tensors:
            parameters.append(PointerParameter(name, tensors[name]))
        elif name in held:
            tensor = Tensor(name, held[name], "workspace", None, NOWHERE)
            parameters.append(PointerParameter(name, tensor))
        elif name not in unknown:
            parameters.append(ScalarParameter(name, Type.INT, Var(name, Type.INT, 0)))
    kernel = typed_kernel(function, parameters, facts, {}, findings)
    found = findings.all()
    if found:  # nothing is known of what follows from an operation that may be right
        return list(takewhile(lambda one: one.rule != _BLOCKS, found))
    check_kernel(kernel, findings)
    return [one for one in findings.all() if one.rule not in _LATER]


def in_host(text: str, chip: Mapping[str, int]) -> list[Finding]:
    """Of a program whose host function has begun; its kernels are typed where it launches them."""
    try:
        parsed = functions(constructs(_closed(text)), text)
    except TileError as error:
        return error.findings
    findings = Findings()
    typed_host(parsed, chip, findings)
    return findings.all()


def _held(text: str) -> dict[str, DType]:
    """Element types of pointers, by the buffers that things are moved to or from first."""
    buffers = {name: dtype for name, dtype in _BUFFER.findall(text) if dtype in ELEMENT_TYPES}
    found: dict[str, DType] = {}
    for pointer, buffer in _MOVED.findall(text):
        if buffer in buffers:
            found.setdefault(pointer, dtypes.find(buffers[buffer]))
    return found


def _closed(text: str) -> str:
    """With something in the block that was opened last."""
    whole = text.rstrip()
    last = whole.rpartition("\n")[2]
    depth = len(last) - len(last.lstrip())
    return f"{whole}\n" + (" " * depth + f"{_STEP}pass\n" if last.endswith(":") else "")
