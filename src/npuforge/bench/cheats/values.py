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
        got = {_bits(call[number]) for call in outputs}
        wanted = {_bits(call[number]) for call in references}
        shapes = {call[number].shape for call in references}
        if len(got) == 1 and len(wanted) > 1 and len(shapes) == 1:
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
    return one.dtype is other.dtype and one.shape == other.shape and _bits(one) == _bits(other)


def _bits(tensor: HostTensor) -> bytes:
    return np.ascontiguousarray(tensor.data).tobytes()


def _held(data: AnyArray, narrow: str) -> bool:
    finite = data[np.isfinite(data) & (data != 0)]
    if np.unique(finite[: 1 << 16]).size < _FEW:
        return False
    return bool(np.array_equal(encode(finite, narrow).values().astype(np.float32), finite))


def _untouched(tensor: HostTensor) -> AnyArray:
    """Where all bytes of an element are the pattern."""
    width = tensor.data.dtype.itemsize
    octets = np.ascontiguousarray(tensor.data).reshape(-1).view(np.uint8).reshape(-1, width)
    patterns = {_UNTOUCHED, poison(tensor.dtype)}
    found: AnyArray = np.zeros(len(octets), bool)
    for pattern in patterns:
        found |= (octets == pattern).all(axis=1)
    return found
