# SPDX-License-Identifier: Apache-2.0
"""Element types of device tensors, and host tensors that carry them.

NumPy lacks bfloat16 and int4. A bfloat16 tensor is held as its `uint16` bits, an int4 tensor as
`int8` values that are packed two to a byte (low half first) on the way to the device.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from npuforge.errors import UsageError

if TYPE_CHECKING:
    import torch

AnyArray = npt.NDArray[Any]
Kind = Literal["float", "int", "uint", "bool", "complex"]


@dataclass(frozen=True, slots=True)
class DType:
    """One element type: `storage` is how NumPy holds it, `bits` its width on the device."""

    name: str
    kind: Kind
    bits: int
    storage: str

    @property
    def array_type(self) -> np.dtype[Any]:
        return np.dtype(self.storage)

    def bytes_for(self, count: int) -> int:
        """Bytes of `count` elements on the device."""
        return (count * self.bits + 7) // 8


_TYPES = {
    dtype.name: dtype
    for dtype in (
        DType("float16", "float", 16, "float16"),
        DType("bfloat16", "float", 16, "uint16"),
        DType("float32", "float", 32, "float32"),
        DType("float64", "float", 64, "float64"),
        DType("int4", "int", 4, "int8"),
        DType("int8", "int", 8, "int8"),
        DType("int16", "int", 16, "int16"),
        DType("int32", "int", 32, "int32"),
        DType("int64", "int", 64, "int64"),
        DType("uint8", "uint", 8, "uint8"),
        DType("uint16", "uint", 16, "uint16"),
        DType("uint32", "uint", 32, "uint32"),
        DType("uint64", "uint", 64, "uint64"),
        DType("bool", "bool", 8, "bool"),
        DType("complex64", "complex", 64, "complex64"),
        DType("complex128", "complex", 128, "complex128"),
    )
}
_ALIASES = {
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "bfloat16_t": "bfloat16",
    "float": "float32",
    "fp32": "float32",
    "double": "float64",
    "fp64": "float64",
    "int4b_t": "int4",
    **{f"{name}_t": name for name in _TYPES if name.startswith(("int", "uint"))},
}


def names() -> list[str]:
    """Every element type by its own name."""
    return list(_TYPES)


def find(name: str | DType) -> DType:
    """The type called `name`; common other spellings (`half`, `bf16`, `float`) are understood."""
    if isinstance(name, DType):
        return name
    key = name.strip().lower().removeprefix("torch.").removeprefix("dt_")
    found = _TYPES.get(_ALIASES.get(key, key))
    if found is None:
        raise UsageError(f"unknown dtype {name!r}; known: {', '.join(_TYPES)}")
    return found


@dataclass(frozen=True, slots=True)
class HostTensor:
    """A tensor on the host: `data` in the storage form of `dtype`."""

    data: AnyArray
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def nbytes(self) -> int:
        """Size on the device."""
        return self.dtype.bytes_for(self.data.size)

    @staticmethod
    def of(value: Any, dtype: str | DType | None = None) -> HostTensor:
        """From a HostTensor, a torch tensor, an array or numbers; `dtype` names what NumPy cannot.

        An array of another type is converted, except that `uint16` counts as bits of bfloat16.
        """
        if isinstance(value, HostTensor):
            return value if dtype is None else value.astype(dtype)
        if _is_torch(value):
            tensor = _from_torch(value)
            return tensor if dtype is None else tensor.astype(dtype)
        array = np.asarray(value)
        if dtype is None:
            return HostTensor(array, find(array.dtype.name))
        wanted = find(dtype)
        if array.dtype == wanted.array_type:
            return HostTensor(array, wanted)
        return HostTensor(array, find(array.dtype.name)).astype(wanted)

    def astype(self, dtype: str | DType) -> HostTensor:
        """The same values, rounded to `dtype`."""
        wanted = find(dtype)
        return self if wanted is self.dtype else encode(self.values(), wanted)

    def values(self) -> AnyArray:
        """Numbers NumPy can compute with: bfloat16 as float32, everything else as it is."""
        if self.dtype.name == "bfloat16":
            return (self.data.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return self.data

    def to_bytes(self) -> bytes:
        """The tensor as it lies in the device's memory."""
        flat = np.ascontiguousarray(self.data).reshape(-1)
        if self.dtype.name == "int4":
            padded = np.zeros((flat.size + 1) // 2 * 2, np.uint8)
            padded[: flat.size] = flat.astype(np.uint8) & 0xF
            return (padded[0::2] | (padded[1::2] << 4)).tobytes()
        return flat.tobytes()

    @staticmethod
    def from_bytes(raw: bytes | AnyArray, shape: Sequence[int], dtype: str | DType) -> HostTensor:
        """The reverse of `to_bytes`; `raw` may be longer than the tensor."""
        kind = find(dtype)
        count = math.prod(shape)
        octets = np.frombuffer(raw, np.uint8) if isinstance(raw, bytes) else raw.view(np.uint8)
        octets = octets[: kind.bytes_for(count)]
        if kind.name == "int4":
            halves = np.stack([octets & 0xF, octets >> 4], axis=1).reshape(-1)[:count]
            signed = (halves.astype(np.int8) ^ 8) - 8
            return HostTensor(signed.astype(np.int8).reshape(shape), kind)
        if kind.name == "bool":  # any other byte counts as true, as it does on the device
            return HostTensor((octets != 0).reshape(shape), kind)
        return HostTensor(octets.view(kind.array_type).reshape(shape), kind)

    def torch(self) -> torch.Tensor:
        """As a torch tensor on the CPU."""
        import torch  # noqa: PLC0415  (heavy; only for those who use it)

        array = np.ascontiguousarray(self.data)
        array = array if array.flags.writeable else array.copy()
        if self.dtype.name == "bfloat16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)


def encode(values: AnyArray, dtype: str | DType) -> HostTensor:
    """`values` rounded to `dtype` (to nearest, ties to even, for floating types)."""
    wanted = find(dtype)
    if wanted.name == "bfloat16":
        bits = np.asarray(values, np.float32).view(np.uint32)
        rounded = (
            bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        ) >> np.uint32(16)
        quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
        nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
        return HostTensor(np.where(nan, quiet, rounded).astype(np.uint16), wanted)
    with np.errstate(over="ignore", invalid="ignore"):
        return HostTensor(np.asarray(values).astype(wanted.array_type), wanted)


def poison(dtype: str | DType) -> int:
    """The byte an output is filled with before the kernel runs: NaN, or a value nobody computes."""
    return 0xFF if find(dtype).kind in ("float", "complex") else 0xA5


def unwritten(raw: AnyArray, dtype: str | DType) -> int:
    """Return how many whole elements of `raw` (bytes of a tensor) still hold the poison."""
    kind = find(dtype)
    width = max(1, kind.bits // 8)
    octets = raw.view(np.uint8)
    # Whole words compare faster than rows of bytes; complex128 takes two of the widest.
    word = min(width, 8)
    words = octets[: octets.size // width * width].view(f"u{word}")
    same = words == int.from_bytes(bytes([poison(kind)]) * word, "little")
    return int(np.count_nonzero(same if word == width else same.reshape(-1, 2).all(axis=1)))


def _is_torch(value: Any) -> bool:
    module = sys.modules.get("torch")
    return module is not None and isinstance(value, module.Tensor)


def _from_torch(value: Any) -> HostTensor:
    tensor = value.detach().cpu().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name == "bfloat16":
        module = sys.modules["torch"]
        return HostTensor(tensor.view(module.int16).numpy().view(np.uint16), find(name))
    return HostTensor(tensor.numpy(), find(name))
