# SPDX-License-Identifier: Apache-2.0
"""What the worker noted about a candidate (`watch.py`), read back and checked for its seal."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Literal

import msgspec

from npuforge.sandbox import MIB, open_plain

RECORD_FILE = "record.json"
MISSING = "the process ended without a record of what it did"
_MOST = 64 * MIB

# kernel: written by a launch of this call. input: an input, or a copy of one. kept: memory from
# before this call. made: filled with a constant. torch: computed by PyTorch. host, native: written
# or made by other code of the host. unwritten: nobody wrote it.
Origin = Literal["kernel", "input", "kept", "made", "torch", "host", "native", "unwritten"]


class Output(msgspec.Struct, frozen=True):
    """`plain` says that it is a tensor and nothing derived from one; `kind` is its class."""

    origin: Origin
    kind: str
    plain: bool


class Conduct(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the model. Counters are by what was counted; sizes are in bytes."""

    launches: int
    outputs: list[Output]
    computed: dict[str, int] = {}
    narrowed: dict[str, int] = {}
    read: dict[str, int] = {}
    filled_by_host: list[int] = []
    changed_inputs: list[int] = []
    replaced: list[str] = []


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run: `events` are what Python's audit hooks saw while the candidate's code ran."""

    forwards: list[Conduct]
    launches: int
    events: dict[str, int] = {}
    replaced: list[str] = []
    files: list[str] = []


class _Sealed(msgspec.Struct, frozen=True):
    body: str
    seal: str


def read(scratch: Path, secret: bytes) -> tuple[Record | None, str | None]:
    """The record if it is the worker's, and what is wrong: somebody else wrote it, or outputs."""
    text = _bytes(scratch / RECORD_FILE)
    if text is None:
        return None, MISSING
    try:
        sealed = msgspec.json.decode(text, type=_Sealed)
    except msgspec.DecodeError:
        return None, "the record is not the worker's"
    expected = hmac.digest(secret, sealed.body.encode(), "sha256").hex()
    if not hmac.compare_digest(expected, sealed.seal):
        return None, "the record is not the worker's"
    record = msgspec.json.decode(sealed.body, type=Record)
    for number, expected in enumerate(record.files):
        found = _digest(scratch / f"outputs{number}.pt")
        if found != expected:
            return record, f"outputs{number} are not those that the worker saved"
    if (scratch / f"outputs{len(record.files)}.pt").exists():
        return record, f"outputs{len(record.files)} were not saved by the worker"
    return record, None


def _bytes(path: Path) -> bytes | None:
    file = open_plain(path, _MOST)
    if file is None:
        return None
    with file:
        return file.read()


def _digest(path: Path) -> str | None:
    file = open_plain(path, 1 << 40)
    if file is None:
        return None
    found = hashlib.sha256()
    with file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
