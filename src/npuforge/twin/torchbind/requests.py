# SPDX-License-Identifier: Apache-2.0
"""Messages of the bridge for operator calls, with their bounds.

A request is a line of JSON. Tensors cross in files that the trusted side names: the inputs of the
call are `in0.bin`, `in1.bin`, ... in the order in which they stand in the message, and what the
operator has written comes back as `out0.bin`, ... So a message holds numbers and shapes alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from npuforge.sandbox.messages import Identifier, Text, Whole, decode
from npuforge.sandbox.shared_folder import HostileFileError
from npuforge.sandbox.tensor_files import TensorHeader

MOST_LINE = 1 << 20
MOST_CALLS = 10_000
MOST_CALL_BYTES = 4 << 30
MOST_SESSION_BYTES = 256 << 30
MOST_ARGUMENTS = 256


class Nothing(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="none"
):
    """An optional argument that is left out."""


class Tensor(TensorHeader, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="tensor"):
    """A tensor; `filled` says that somebody wrote values into it before the call."""

    filled: bool


class Scalar(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="scalar"
):
    value: bool | Whole | float | Text


class Special(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="special"
):
    """A number that JSON lacks."""

    value: Literal["inf", "-inf", "nan"]


_Items = Meta(max_length=4096)


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="list"):
    """A list within a list: attributes may be lists of lists of numbers."""

    items: Annotated[list[Nothing | Scalar | Special], _Items]


class List(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="list"):
    items: Annotated[list[Nothing | Tensor | Scalar | Special | Row], _Items]


Plain = Nothing | Scalar | Special | Row
Argument = Nothing | Tensor | Scalar | Special | List


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of the operator that an API function `aclnnNAME` stands for."""

    api: Identifier
    arguments: Annotated[list[Argument], Meta(max_length=MOST_ARGUMENTS)]

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors in the order in which their files are numbered."""
        for argument in self.arguments:
            items = argument.items if isinstance(argument, List) else [argument]
            yield from (item for item in items if isinstance(item, Tensor))

    def size(self) -> int:
        """Return the bytes of all tensors; refuse a call that has too many."""
        total = 0
        for tensor in self.tensors():
            total += tensor.size(MOST_CALL_BYTES)
            if total > MOST_CALL_BYTES:
                raise HostileFileError(f"a call has over {MOST_CALL_BYTES} bytes of tensors")
        return total


class Reply(msgspec.Struct, frozen=True):
    """Reply to the process: why the call failed, or the numbers of the tensors written."""

    error: str | None = None
    written: list[int] = []


def parse_request(line: bytes) -> Request:
    """Return the request; raise HostileFileError for anything else."""
    return decode(line, Request, "the operator call")


def number_of(value: Scalar | Special) -> bool | int | float | str:
    """Return the value that the message stands for."""
    return float(value.value) if isinstance(value, Special) else value.value
