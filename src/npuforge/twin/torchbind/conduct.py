# SPDX-License-Identifier: Apache-2.0
"""What the worker noted about a candidate (`watch.py`), read back and checked for its seal."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from npuforge.dtypes import HostTensor
from npuforge.sandbox import MIB, messages
from npuforge.sandbox.messages import Count, decode
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import parse_tensors

RECORD_FILE = "record.json"
MISSING = "the process ended without a record of what it did"
_MOST = 64 * MIB

# kernel: written by a launch of this call. input: an input, or a copy of one. kept: memory from
# before this call. made: filled with a constant. torch: computed by PyTorch. host, native: written
# or made by other code of the host. unwritten: nobody wrote it.
Origin = Literal["kernel", "input", "kept", "made", "torch", "host", "native", "unwritten"]


_What = Annotated[str, Meta(max_length=1024)]
_Counts = Annotated[dict[_What, Count], Meta(max_length=10_000)]
_Names = Annotated[list[_What], Meta(max_length=10_000)]
_Numbers = Annotated[list[Count], Meta(max_length=100_000)]


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`plain` says that it is a tensor and nothing derived from one; `kind` is its class."""

    origin: Origin
    kind: _What
    plain: bool


class Conduct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of the model. Counters are by what was counted; sizes are in bytes."""

    launches: Count
    outputs: Annotated[list[Output], Meta(max_length=10_000)]
    computed: _Counts = {}
    narrowed: _Counts = {}
    read: _Counts = {}
    filled_by_host: _Numbers = []
    changed_inputs: _Numbers = []
    replaced: _Names = []


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole run: `events` are what Python's audit hooks saw while the candidate's code ran."""

    forwards: Annotated[list[Conduct], Meta(max_length=10_000)]
    launches: Count
    events: _Counts = {}
    replaced: _Names = []
    files: _Names = []


class _Sealed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    body: Annotated[str, Meta(max_length=_MOST)]
    seal: Annotated[str, Meta(max_length=64)]


@dataclass(slots=True)
class Told:
    """The record if it is the worker's, the outputs that it vouches for, what is wrong with them.

    `forged`: somebody else wrote the record or outputs. `error`: the outputs are no tensors that
    can be compared.
    """

    record: Record | None = None
    forged: str | None = None
    error: str | None = None
    outputs: list[list[HostTensor]] = field(default_factory=list)


def read(folder: SharedFolder, secret: bytes, limit: int) -> Told:
    """Return what the process left; each file of outputs has at most `limit` bytes."""
    told = Told()
    if not folder.holds(RECORD_FILE):
        told.forged = MISSING
        return told
    try:
        sealed = messages.read(folder, RECORD_FILE, _Sealed, _MOST)
        body = sealed.body.encode()
        expected = hmac.digest(secret, body, "sha256").hex().encode()
        if not hmac.compare_digest(expected, sealed.seal.encode()):
            raise HostileFileError("the seal is not the worker's")
        told.record = decode(body, Record, RECORD_FILE)
    except (HostileFileError, UnicodeEncodeError):
        told.forged = "the record is not the worker's"
        return told
    _read_outputs(folder, told, told.record.files, limit)
    return told


def _read_outputs(folder: SharedFolder, told: Told, digests: list[str], limit: int) -> None:
    """Read each file once: what is compared is what the seal vouches for."""
    for number, expected in enumerate(digests):
        name = output_file(number)
        size = folder.size(name)
        if size is not None and size > limit:
            told.error = f"{name} has {size} bytes; at most {limit} are read"
            told.outputs.append([])
            continue
        try:
            octets = folder.array(name, limit)
        except HostileFileError:
            octets = np.empty(0, np.uint8)
        if hashlib.sha256(octets.data).hexdigest() != expected:
            told.forged = f"outputs{number} are not those that the worker saved"
            told.outputs = []
            return
        try:
            tensors = parse_tensors(octets, name)
        except HostileFileError as error:
            told.error, tensors = str(error), []
        told.outputs.append([tensor for tensor in tensors if tensor is not None])
    if folder.holds(output_file(len(digests))):
        told.forged = f"outputs{len(digests)} were not saved by the worker"


def output_file(number: int) -> str:
    """Return the name of the file with what a case gave."""
    return f"outputs{number}.tensors"
