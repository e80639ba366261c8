# SPDX-License-Identifier: Apache-2.0
"""Tensors that a sandboxed process leaves: headers with bounds, contents of exactly their size.

A single tensor is a file of its elements, whose shape and type a message tells. A list of tensors
is one file (`twin/torchbind/tensor_writer.py` writes it):

    8 bytes          length of the header, little endian
    header           JSON: {"tensors": [{"shape": [2, 3], "dtype": "float32"}, null, ...]}
    contents         of each tensor in order, each from a multiple of 64 bytes on
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
from msgspec import Meta

from npuforge import dtypes
from npuforge.dtypes import AnyArray, HostTensor
from npuforge.sandbox.messages import decode
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder

Extent = Annotated[int, Meta(ge=0, le=1 << 40)]
Shape = Annotated[tuple[Extent, ...], Meta(max_length=32)]
_MOST_ELEMENTS = 1 << 40
_MOST_HEADER = 1 << 20
_ALIGNMENT = 64


class TensorHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Shape and element type, as the process tells them."""

    shape: Shape
    dtype: Annotated[str, Meta(max_length=16)]

    def size(self, limit: int) -> int:
        """Return the bytes that the elements take; refuse what is over `limit`."""
        if self.dtype not in dtypes.names():
            raise HostileFileError(f"a tensor has the unknown type {self.dtype!r}")
        # Extents beside a zero are bounded too: NumPy refuses them otherwise.
        if math.prod(max(extent, 1) for extent in self.shape) > _MOST_ELEMENTS:
            raise HostileFileError(f"a tensor has over {_MOST_ELEMENTS} elements")
        size = dtypes.find(self.dtype).bytes_for(math.prod(self.shape))
        if size > limit:
            raise HostileFileError(f"a tensor has {size} bytes; at most {limit} are read")
        return size

    def tensor(self, octets: AnyArray) -> HostTensor:
        """Return the tensor with these contents."""
        return HostTensor.from_bytes(octets, self.shape, self.dtype)


class _Listing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tensors: Annotated[list[TensorHeader | None], Meta(max_length=10_000)]


def read_tensor(folder: SharedFolder, name: str, header: TensorHeader, limit: int) -> HostTensor:
    """Return the tensor whose elements the file has."""
    size = header.size(limit)
    return header.tensor(folder.array(name, limit, size=size))


def read_tensors(folder: SharedFolder, name: str, limit: int) -> list[HostTensor | None]:
    """Return the list of tensors that the file has; it has at most `limit` bytes."""
    return parse_tensors(folder.array(name, limit), name)


def parse_tensors(octets: AnyArray, name: str) -> list[HostTensor | None]:
    """Return the tensors that lie in `octets`, as views of them."""
    length = int.from_bytes(octets[:8].tobytes(), "little")
    if octets.size < 8 or length > min(_MOST_HEADER, octets.size - 8):
        raise HostileFileError(f"{name} is damaged: it has no header")
    listing = decode(octets[8 : 8 + length].tobytes(), _Listing, name)
    place = 8 + length
    found: list[HostTensor | None] = []
    for header in listing.tensors:
        if header is None:
            found.append(None)
            continue
        place += -place % _ALIGNMENT
        size = header.size(octets.size)
        if place + size > octets.size:
            raise HostileFileError(f"{name} is damaged: it ends within a tensor")
        found.append(header.tensor(octets[place : place + size]))
        place += size
    if place != octets.size:
        raise HostileFileError(f"{name} is damaged: it goes on after its tensors")
    return found
