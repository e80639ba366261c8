# SPDX-License-Identifier: Apache-2.0
"""Input data from a description: random numbers, constants, ranges, files."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npuforge.dtypes import AnyArray, DType, HostTensor, encode
from npuforge.errors import UsageError

_KEYS = {
    "random": {"low", "high", "seed"},
    "normal": {"mean", "std", "seed"},
    "zeros": set(),
    "ones": set(),
    "full": {"value"},
    "arange": {"start", "step"},
    "values": {"values"},
    "file": {"file"},
}


def make(spec: Any, name: str, shape: Sequence[int], dtype: DType, folder: Path) -> HostTensor:
    """The tensor `spec` describes: a word ("random"), a file name, a list, or a table."""
    table = _as_table(spec, name)
    kind = str(table.get("kind"))
    if kind not in _KEYS:
        raise UsageError(f"{name}: unknown data {kind!r}; known: {', '.join(_KEYS)}")
    if unknown := sorted(set(table) - _KEYS[kind] - {"kind"}):
        raise UsageError(f"{name}: data of kind {kind} has no {unknown[0]!r}")
    if kind == "file":
        return read(folder / str(table["file"]), name, shape, dtype)
    return encode(_values(kind, table, name, shape, dtype), dtype)


def read(path: Path, name: str, shape: Sequence[int], dtype: DType) -> HostTensor:
    """A tensor from `.npy` (type and shape are checked) or raw bytes (the size is checked)."""
    try:
        if path.suffix == ".npy":
            return _read_npy(path, name, shape, dtype)
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: cannot read {path}: {error.strerror}") from None
    need = dtype.bytes_for(math.prod(shape))
    if len(raw) != need:
        raise UsageError(
            f"{name}: {path} has {len(raw)} bytes, shape {list(shape)} of {dtype.name} takes {need}"
        )
    return HostTensor.from_bytes(raw, shape, dtype)


def _read_npy(path: Path, name: str, shape: Sequence[int], dtype: DType) -> HostTensor:
    try:
        array: AnyArray = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise UsageError(f"{name}: {path} is not a .npy file: {error}") from None
    if array.size != math.prod(shape):
        raise UsageError(f"{name}: {path} has shape {list(array.shape)}, not {list(shape)}")
    if array.dtype != dtype.array_type and dtype.name != "bfloat16":
        raise UsageError(f"{name}: {path} holds {array.dtype.name}, not {dtype.name}")
    return HostTensor.of(array.reshape(tuple(shape)), dtype)


def _as_table(spec: Any, name: str) -> Mapping[str, Any]:
    if isinstance(spec, str):
        if spec in _KEYS:
            return {"kind": spec}
        if "." in spec or "/" in spec:
            return {"kind": "file", "file": spec}
        raise UsageError(f"{name}: unknown data {spec!r}; known: {', '.join(_KEYS)}")
    if isinstance(spec, list):
        return {"kind": "values", "values": spec}
    if isinstance(spec, int | float):
        return {"kind": "full", "value": spec}
    if isinstance(spec, Mapping):
        return {"kind": "file", **spec} if "file" in spec else spec
    raise UsageError(f"{name}: data is a word, a file name, a list or a table")


def _values(
    kind: str, table: Mapping[str, Any], name: str, shape: Sequence[int], dtype: DType
) -> AnyArray:
    count = math.prod(shape)
    # Two inputs without a seed differ, and the same launch file always gives the same data.
    seed = int(table.get("seed", zlib.crc32(name.encode())))
    if kind == "random":
        return _random(np.random.default_rng(seed), table, tuple(shape), dtype)
    if kind == "normal":
        mean, std = float(table.get("mean", 0.0)), float(table.get("std", 1.0))
        return np.random.default_rng(seed).normal(mean, std, tuple(shape))
    if kind == "arange":
        start, step = table.get("start", 0), table.get("step", 1)
        ramp: AnyArray = start + step * np.arange(count)
        return ramp.reshape(tuple(shape))
    if kind == "values":
        array = np.asarray(table["values"])
        if array.size != count:
            raise UsageError(f"{name}: {array.size} values for shape {list(shape)}")
        return array.reshape(tuple(shape))
    constant = {"zeros": 0, "ones": 1}.get(kind, table.get("value", 0))
    return np.full(tuple(shape), constant)


def _random(
    generator: np.random.Generator, table: Mapping[str, Any], shape: tuple[int, ...], dtype: DType
) -> AnyArray:
    if dtype.kind == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in ("int", "uint"):
        widest = min(100, (1 << (dtype.bits - 1)) - 1)
        least = int(table.get("low", -widest if dtype.kind == "int" else 0))
        return generator.integers(least, int(table.get("high", widest)) + 1, shape, dtype=np.int64)
    low, high = float(table.get("low", -1.0)), float(table.get("high", 1.0))
    values: AnyArray = generator.uniform(low, high, shape)
    if dtype.kind == "complex":
        values = values + 1j * generator.uniform(low, high, shape)
    return values
