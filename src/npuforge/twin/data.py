# SPDX-License-Identifier: Apache-2.0
"""Input data from a description: random numbers, constants, ranges, files.

A description is hostile input: files lie in its own folder, numbers are checked before they are
used, and an array is made only for a shape that was bounded before.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npuforge.dtypes import AnyArray, DType, HostTensor, encode
from npuforge.errors import UsageError
from npuforge.untrusted.inputs import read_input
from npuforge.untrusted.names import shown

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
_NPY_HEADER = 1 << 16
_LARGEST = 1 << 62  # of bounds of random integers
_NUMBERS = "biuf"  # NumPy's kinds


def make(spec: Any, name: str, shape: Sequence[int], dtype: DType, folder: Path) -> HostTensor:
    """Return the tensor that `spec` describes: a word ("random"), a file name, a list, a table."""
    table = _as_table(spec, name)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise UsageError(f"{name}: unknown data {shown(str(kind))}; known: {', '.join(_KEYS)}")
    if unknown := sorted(set(table) - _KEYS[kind] - {"kind"}):
        raise UsageError(f"{name}: data of kind {kind} has no {shown(unknown[0])}")
    if kind == "file":
        return read(folder, table.get("file"), name, shape, dtype)
    values = _values(kind, table, name, shape, dtype)
    if dtype.kind in ("int", "uint", "bool") and not np.isfinite(values).all():
        raise UsageError(f"{name}: {dtype.name} holds neither NaN nor infinity")
    with np.errstate(all="ignore"):
        return encode(values, dtype)


def read(folder: Path, file: Any, name: str, shape: Sequence[int], dtype: DType) -> HostTensor:
    """Return a tensor from a file in `folder` or below.

    `.npy` files are checked for type and shape, other files, raw bytes, for their size.
    """
    if not isinstance(file, str):
        raise UsageError(f"{name}: a file's name is text")
    path = folder / file
    need = dtype.bytes_for(math.prod(shape))
    if path.suffix == ".npy":
        widest = math.prod(shape) * np.dtype(np.complex128).itemsize
        return _read_npy(read_input(path, widest + _NPY_HEADER, within=folder), name, shape, dtype)
    raw = read_input(path, need, within=folder)
    if len(raw) != need:
        raise UsageError(
            f"{name}: {file} has {len(raw)} bytes, shape {list(shape)} of {dtype.name} takes {need}"
        )
    return HostTensor.from_bytes(raw, shape, dtype)


def _read_npy(raw: bytes, name: str, shape: Sequence[int], dtype: DType) -> HostTensor:
    file = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            read_header = np.lib.format.read_array_header_2_0
        sizes, _, kind = read_header(file)
        if kind.kind not in "biufc" or math.prod(sizes) != math.prod(shape):
            raise UsageError(
                f"{name}: the .npy file holds {kind} of shape {list(sizes)}, not {list(shape)}"
            )
        file.seek(0)
        array: AnyArray = np.load(file, allow_pickle=False)
    except (ValueError, TypeError, SyntaxError, OverflowError, EOFError, MemoryError) as error:
        raise UsageError(f"{name}: the .npy file is damaged: {str(error)[:200]}") from None
    if array.dtype != dtype.array_type and dtype.name != "bfloat16":
        raise UsageError(f"{name}: the .npy file holds {array.dtype.name}, not {dtype.name}")
    return HostTensor.of(array.reshape(tuple(shape)), dtype)


def _as_table(spec: Any, name: str) -> Mapping[str, Any]:
    if isinstance(spec, str):
        if spec in _KEYS:
            return {"kind": spec}
        if "." in spec or "/" in spec:
            return {"kind": "file", "file": spec}
        raise UsageError(f"{name}: unknown data {shown(spec)}; known: {', '.join(_KEYS)}")
    if isinstance(spec, list):
        return {"kind": "values", "values": spec}
    if isinstance(spec, int | float):
        return {"kind": "full", "value": spec}
    if isinstance(spec, Mapping) and all(isinstance(key, str) for key in spec):
        return {"kind": "file", **spec} if "file" in spec else spec
    raise UsageError(f"{name}: data is a word, a file name, a list or a table")


def _values(
    kind: str, table: Mapping[str, Any], name: str, shape: Sequence[int], dtype: DType
) -> AnyArray:
    if kind in ("random", "normal"):
        # Two inputs without a seed differ, and the same launch file always gives the same data.
        seed = table.get("seed", zlib.crc32(name.encode()))
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise UsageError(f"{name}: a seed is an integer of 0 or more")
        generator = np.random.default_rng(seed)
        if kind == "random":
            return _random(generator, table, name, tuple(shape), dtype)
        mean, std = _number(table, "mean", 0.0, name), _number(table, "std", 1.0, name)
        return generator.normal(mean, abs(std), tuple(shape))
    if kind == "arange":
        start, step = _number(table, "start", 0, name), _number(table, "step", 1, name)
        if max(abs(start), abs(step)) > _LARGEST and isinstance(start + step, int):
            raise UsageError(f"{name}: start and step are integers of at most 62 bits")
        with np.errstate(all="ignore"):
            ramp: AnyArray = start + step * np.arange(math.prod(shape))
        return ramp.reshape(tuple(shape))
    if kind == "values":
        return _listed(table.get("values"), name, shape)
    if kind == "full":
        return np.full(tuple(shape), _number(table, "value", 0, name, finite=False))
    return np.full(tuple(shape), int(kind == "ones"))


def _listed(values: Any, name: str, shape: Sequence[int]) -> AnyArray:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise UsageError(f"{name}: the values are no array of numbers") from None
    if array.dtype.kind not in _NUMBERS and array.size:
        raise UsageError(f"{name}: the values are no array of numbers")
    if array.size != math.prod(shape):
        raise UsageError(f"{name}: {array.size} values for shape {list(shape)}")
    return array.reshape(tuple(shape))


def _random(
    generator: np.random.Generator,
    table: Mapping[str, Any],
    name: str,
    shape: tuple[int, ...],
    dtype: DType,
) -> AnyArray:
    if dtype.kind == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in ("int", "uint"):
        widest = min(100, (1 << (dtype.bits - 1)) - 1)
        least = _number(table, "low", -widest if dtype.kind == "int" else 0, name)
        most = _number(table, "high", widest, name)
        if not -_LARGEST <= least <= most <= _LARGEST:
            raise UsageError(f"{name}: random data is from low up to high, of 62 bits")
        return generator.integers(int(least), int(most) + 1, shape, dtype=np.int64)
    low, high = _number(table, "low", -1.0, name), _number(table, "high", 1.0, name)
    if not low <= high or not math.isfinite(high - low):
        raise UsageError(f"{name}: random data is from low up to high")
    values: AnyArray = generator.uniform(low, high, shape)
    if dtype.kind == "complex":
        values = values + 1j * generator.uniform(low, high, shape)
    return values


def _number(
    table: Mapping[str, Any], key: str, default: float, name: str, *, finite: bool = True
) -> float:
    """Return a number, which stays an integer if it is one."""
    value = table.get(key, default)
    if not isinstance(value, int | float) or (finite and not math.isfinite(value)):
        raise UsageError(f"{name}: {key} is a number, not {shown(str(value))}")
    return value
