# SPDX-License-Identifier: Apache-2.0
"""Read the tensors and other arguments of a launch file, which is hostile input.

Shapes, names and sizes are bounded before anything is made of them; files lie in the launch file's
folder or below it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from npuforge.dtypes import find
from npuforge.errors import UsageError
from npuforge.twin import data
from npuforge.twin.launch import (
    AbsentArgument,
    Argument,
    ListArgument,
    Role,
    ScalarArgument,
    TensorArgument,
    TilingArgument,
    WorkspaceArgument,
    pack_fields,
    scalar,
)
from npuforge.untrusted.inputs import MIB, read_input
from npuforge.untrusted.names import checked_name, shown

MOST_ARGUMENTS = 256
_MOST_DIMENSIONS = 16
_MOST_BYTES = 4 << 30  # of all tensors of a launch file
_MOST_WORKSPACE = 64 << 30
_MOST_FIELDS = 100_000  # numbers of a structure
_TENSOR = {"kind", "name", "shape", "dtype", "role", "data"}
_KEYS = {
    "tensor": _TENSOR,
    "scalar": {"kind", "name", "dtype", "value", "fields", "file", "hex"},
    "workspace": {"kind", "name", "bytes"},
    "tiling": {"kind", "name", "fields", "file", "hex"},
    "list": {"kind", "name", "role", "tensors"},
    "absent": {"kind", "name"},
}


class ArgumentReader:
    """Reads the arguments of a launch file; its tensors together are bounded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = _MOST_BYTES

    def argument(
        self, entry: Mapping[str, Any], number: int, default: str = "argument"
    ) -> Argument:
        """Return the argument of a table; `default` and `number` name it where it has no name."""
        name = checked_name("argument", entry.get("name", f"{default}{number}"), "the name")
        kind = entry.get("kind", "tensor")
        if not isinstance(kind, str) or kind not in _KEYS:
            known = ", ".join(_KEYS)
            raise UsageError(f"{name}: unknown kind {shown(str(kind))}; known: {known}")
        only(entry, _KEYS[kind], name)
        if kind == "tensor":
            return self._tensor(entry, name)
        if kind == "absent":
            return AbsentArgument(name)
        if kind == "workspace":
            size = whole(need(entry, "bytes", name), f"{name}: bytes")
            if not 0 <= size <= _MOST_WORKSPACE:
                raise UsageError(f"{name}: a workspace of {size} bytes is not possible")
            return WorkspaceArgument(name, size)
        if kind == "tiling":
            return TilingArgument(name, self._raw(entry, name))
        if kind == "scalar":
            if "value" not in entry:
                return ScalarArgument(name, self._raw(entry, name))
            return scalar(name, entry["value"], text(need(entry, "dtype", name), f"{name}: dtype"))
        members = [
            self._tensor({"role": entry.get("role", "in"), **member}, f"{name}[{index}]")
            for index, member in enumerate(tables(entry, "tensors"))
        ]
        return ListArgument(name, tuple(members))

    def _tensor(self, entry: Mapping[str, Any], name: str) -> TensorArgument:
        only(entry, _TENSOR, name)
        dtype = find(text(need(entry, "dtype", name), f"{name}: dtype"))
        sizes = need(entry, "shape", name)
        if not isinstance(sizes, list) or len(sizes) > _MOST_DIMENSIONS:
            raise UsageError(f"{name}: shape is a list of at most {_MOST_DIMENSIONS} sizes")
        shape = tuple(whole(size, f"{name}: shape") for size in sizes)
        if any(size < 0 for size in shape):
            raise UsageError(f"{name}: shape {list(shape)} is not possible")
        # An extent beside a zero counts, as NumPy refuses it too, and so do four bytes an element,
        # as data is made in wide numbers.
        count = math.prod(max(size, 1) for size in shape)
        self._left -= max(dtype.bytes_for(count), 4 * count)
        if self._left < 0:
            raise UsageError(
                f"{name}: shape {list(shape)} is not possible: all tensors together have at most "
                f"{_MOST_BYTES >> 30} GiB"
            )
        role = entry.get("role", "in")
        if role not in get_args(Role):
            known = ", ".join(get_args(Role))
            raise UsageError(f"{name}: role is one of {known}, not {shown(str(role))}")
        if role == "out":
            if "data" in entry:
                raise UsageError(f"{name}: an output has no data")
            return TensorArgument(name, shape, dtype, "out")
        values = data.make(entry.get("data", "random"), name, shape, dtype, self._folder)
        return TensorArgument(name, shape, dtype, "inout" if role == "inout" else "in", values)

    def _raw(self, entry: Mapping[str, Any], name: str) -> bytes:
        given = [key for key in ("fields", "file", "hex") if key in entry]
        if len(given) != 1:
            raise UsageError(f"{name}: give exactly one of fields, file or hex")
        value = entry[given[0]]
        if given[0] == "hex":
            try:
                return bytes.fromhex(text(value, f"{name}: hex"))
            except ValueError:
                raise UsageError(f"{name}: hex is not a string of hexadecimal bytes") from None
        if given[0] == "file":
            path = self._folder / text(value, f"{name}: file")
            return read_input(path, MIB, within=self._folder)
        return pack_fields(name, _fields(value, name))


def _fields(value: Any, name: str) -> list[tuple[str, str, Any]]:
    members: list[tuple[str, str, Any]] = []
    count = 0
    for member in value if isinstance(value, list) else (None,):
        if not isinstance(member, list) or len(member) != 3:
            raise UsageError(f"{name}: a field is [name, type, value]")
        field, kind, content = member
        count += len(content) if isinstance(content, list) else 1
        if count > _MOST_FIELDS:
            raise UsageError(f"{name}: a structure has at most {_MOST_FIELDS} numbers")
        checked_name("identifier", field, f"{name}: the field's name")
        members.append((field, text(kind, f"{name}.{field}: type"), content))
    return members


def tables(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return a list of tables, empty where the key is missing."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise UsageError(f"'{key}' is a list of tables ([[{key}]] in TOML)")
    if len(value) > MOST_ARGUMENTS:
        raise UsageError(f"'{key}' has {len(value)} tables; at most {MOST_ARGUMENTS} are read")
    return value


def only(table: Mapping[str, Any], known: set[str], where: str) -> None:
    """Refuse a key that is not known."""
    for key in table:
        if key not in known:
            raise UsageError(
                f"{where}: unknown key {shown(str(key))}; known: {', '.join(sorted(known))}"
            )


def need(table: Mapping[str, Any], key: str, where: str) -> Any:
    """Return the value of a key that must be there."""
    if key not in table:
        raise UsageError(f"{where} lacks '{key}'")
    return table[key]


def text(value: Any, where: str) -> str:
    """Return the value if it is text."""
    if not isinstance(value, str):
        raise UsageError(f"{where}: {shown(str(value))} is not text")
    return value


def whole(value: Any, where: str) -> int:
    """Return the value if it is an integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{where}: {shown(str(value))} is not a whole number")
    return value
