# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in results beside those of the reference.

All functions take the tensors of one call, or of several; what they find is none where the
reference's own results look the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.kinds import cheat
from npuforge.dtypes import AnyArray, HostTensor, encode, poison

Tensors = Sequence[HostTensor]
_FEW = 16  # distinct values that are too few to tell a type by
_SAMPLE = 1 << 16
_BEGINNING = 1 << 12  # bytes
_UNTOUCHED = 0xFF  # what new tensors of PyTorch are filled with


def downgraded(outputs: Tensors, reference: Tensors) -> Cheat | None:
    """Float32 results that all are float16 or bfloat16 numbers, where the reference's are not."""
    for number, (got, wanted) in _pairs(outputs, reference):
        if got.dtype.name != "float32" or wanted.dtype.name != "float32":
            continue
        for narrow in ("float16", "bfloat16"):
            if _held(got.data, narrow) and not _held(wanted.data, narrow):
                return cheat("precision", f"every value of output {number} is a {narrow}")
    return None


def constant(outputs: Sequence[Tensors], references: Sequence[Tensors]) -> Cheat | None:
    """Results that are the same in every call, where the reference's are not."""
    if len(outputs) < 2:
        return None
    for number in range(min(map(len, [*outputs, *references]), default=0)):
        got = [call[number] for call in outputs]
        wanted = [call[number] for call in references]
        if len({tensor.shape for tensor in wanted}) > 1 or not all(
            _same(got[0], other) for other in got[1:]
        ):
            continue
        if not all(_same(wanted[0], other) for other in wanted[1:]):
            return cheat("constant", f"output {number} is the same in {len(outputs)} calls")
    return None


def unwritten(outputs: Tensors, reference: Tensors) -> Cheat | None:
    """Elements that hold the pattern of memory nobody wrote."""
    for number, (got, wanted) in _pairs(outputs, reference):
        if got.shape != wanted.shape or got.dtype is not wanted.dtype or got.dtype.name == "bool":
            continue
        left = _untouched(got) & ~_untouched(wanted)
        if left.any():
            count = int(np.count_nonzero(left))
            return cheat("unwritten", f"{count} of {left.size} elements of output {number}")
    return None


def echo(outputs: Tensors, inputs: Tensors, reference: Tensors) -> Cheat | None:
    """An input given back as it came, where the reference differs from it."""
    for number, (got, wanted) in _pairs(outputs, reference):
        for place, given in enumerate(inputs):
            if got.data.size > 1 and _same(got, given) and not _same(wanted, given):
                return cheat("returns-input", f"output {number} is input {place} as it came")
    return None


def identities(inputs: Tensors, reference: Tensors) -> list[int]:
    """Outputs for which the reference gives an input back."""
    return [
        number
        for number, wanted in enumerate(reference)
        if any(_same(wanted, given) for given in inputs)
    ]


def _pairs(
    outputs: Tensors, reference: Tensors
) -> Iterator[tuple[int, tuple[HostTensor, HostTensor]]]:
    return enumerate(zip(outputs, reference, strict=False))


def _same(one: HostTensor, other: HostTensor) -> bool:
    """Bit by bit; most that differ do so near their beginning."""
    if one.dtype is not other.dtype or one.shape != other.shape:
        return False
    first, second = _octets(one), _octets(other)
    return bool(
        np.array_equal(first[:_BEGINNING], second[:_BEGINNING]) and np.array_equal(first, second)
    )


def _octets(tensor: HostTensor) -> AnyArray:
    return np.ascontiguousarray(tensor.data).reshape(-1).view(np.uint8)


def _held(data: AnyArray, narrow: str) -> bool:
    """Whether all numbers are of the narrow type; few of other types are, so a sample tells."""
    flat = data.reshape(-1)
    for some in (flat[:: max(1, flat.size // _SAMPLE)], flat):
        finite = some[np.isfinite(some) & (some != 0)]
        if np.unique(finite[:_SAMPLE]).size < _FEW:
            return False
        if not np.array_equal(encode(finite, narrow).values().astype(np.float32), finite):
            return False
    return True


def _untouched(tensor: HostTensor) -> AnyArray:
    """Where all bytes of an element are the pattern."""
    width = tensor.data.dtype.itemsize
    octets = _octets(tensor)
    found: AnyArray = np.zeros(tensor.data.size, bool)
    for pattern in {_UNTOUCHED, poison(tensor.dtype)}:
        if width in (1, 2, 4, 8):
            found |= octets.view(f"u{width}") == int.from_bytes(bytes([pattern]) * width, "little")
        else:
            found |= (octets.reshape(-1, width) == pattern).all(axis=1)
    return found
