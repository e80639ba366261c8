# SPDX-License-Identifier: Apache-2.0
"""C++ text compiled before a kernel: element types of its tensors, and its tiling structures.

The kernel headers use two names defined here: `NPUFORGE_DEFAULT_TILING_STRUCT`, the structure of
GET_TILING_DATA, and `NPUFORGE_TILING_STRUCT_FOR_KEY(X)`, which applies X(key, structure) to every
structure registered for one tiling key. Both are absent when the host code registers none; the
kernel then names its own structure.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from npuforge.twin.host.description import Field, OpDescription, Operator, TilingStruct


def kernel_prelude(
    description: OpDescription,
    op: str | None,
    dtypes: Mapping[str, str],
    formats: Mapping[str, str] | None = None,
) -> str:
    """The prelude of operator `op` for element types `dtypes` (DT_..., by parameter name).

    Types that are not given follow from the operator's declared combinations.
    """
    operator = description.operator(op)
    lines = ["#pragma once"]
    lines += _types(operator, operator.combination(dtypes), formats or {})
    structs = _needed(description, operator)
    if any(struct.library for struct in structs.values()):
        lines.append('#include "kernel_tiling/kernel_tiling.h"')
    for struct in structs.values():
        if not struct.library:
            lines += _definition(struct)
    default = description.default_struct(operator)
    if default is not None:
        lines.append(f"#define NPUFORGE_DEFAULT_TILING_STRUCT {default.name}")
    keyed = description.keyed_structs(operator)
    if keyed:
        entries = " ".join(f"X({key}ULL, {struct.name})" for key, struct in sorted(keyed.items()))
        lines.append(f"#define NPUFORGE_TILING_STRUCT_FOR_KEY(X) {entries}")
    return "\n".join(lines) + "\n"


def _types(
    operator: Operator, dtypes: Mapping[str, str], formats: Mapping[str, str]
) -> Iterable[str]:
    """Macros DTYPE_X, ORIG_DTYPE_X, FORMAT_X, and the numbers preprocessor tests compare with."""
    table = {name: row["cpp"] for name, row in _table("element_types.csv").items()}
    for name, row in (_table("element_types.csv") | _table("formats.csv")).items():
        yield f"#ifndef {name}"
        yield f"#define {name} {row['number']}"
        yield "#endif"
    named = {parameter.name for parameter in operator.inputs}
    for index, parameter in enumerate((*operator.inputs, *operator.outputs)):
        macro = parameter.name.upper()
        if index >= len(operator.inputs) and parameter.name in named:
            macro += "_REF"  # an output written in place of the input of the same name
        dtype = dtypes.get(parameter.name)
        if dtype is not None:
            if table[dtype]:
                yield f"#define DTYPE_{macro} {table[dtype]}"
            yield f"#define ORIG_DTYPE_{macro} {dtype}"
        default = parameter.formats[0] if parameter.formats else "ND"
        yield f"#define FORMAT_{macro} FORMAT_{formats.get(parameter.name, default)}"


@cache
def _table(file_name: str) -> dict[str, dict[str, str]]:
    """A data file by its names; an element type has no C++ type where kernels cannot hold it."""
    with Path(__file__).with_name(file_name).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["name"]: row for row in rows}


def _needed(description: OpDescription, operator: Operator) -> dict[str, TilingStruct]:
    """Structures of the operator by name, every one after those it contains."""
    known = {struct.name: struct for struct in description.tiling_structs}
    ordered: dict[str, TilingStruct] = {}

    def add(struct: TilingStruct) -> None:
        if struct.name in ordered:
            return
        if not struct.library:
            for member in struct.fields:
                if member.is_struct:
                    add(known.get(_unqualified(member.type)) or _from_field(member))
        ordered[struct.name] = struct

    default = description.default_struct(operator)
    for struct in (default, *description.keyed_structs(operator).values()):
        if struct is not None:
            add(struct)
    return ordered


def _from_field(field: Field) -> TilingStruct:
    """A nested structure that was never registered is known from the field that holds it."""
    name = _unqualified(field.type)
    return TilingStruct(name, name, field.size, False, field.members)


def _definition(struct: TilingStruct) -> Iterable[str]:
    yield f"struct {struct.name} {{"
    for field in struct.fields:
        suffix = f"[{field.array_length}]" if field.array_length else ""
        yield f"    {_unqualified(field.type)} {field.name}{suffix};"
    yield "};"
    yield (
        f"static_assert(sizeof({struct.name}) == {struct.size}, "
        f'"layout of {struct.name} differs from the host\'s");'
    )


def _unqualified(type_name: str) -> str:
    return type_name.rpartition("::")[2].strip()
