# SPDX-License-Identifier: Apache-2.0
"""The kinds of files that one run writes and another reads, each with the number of its format.

A change after which older files cannot be read raises `number` and `oldest`; a change after which
older versions cannot read new files raises `number` alone. JSON has the number as `format`, SQLite
as `user_version` or in its table of settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from npuforge.errors import UsageError

_T = TypeVar("_T")


class _Numbered(msgspec.Struct):
    format: int = 0


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file: `number` is written, `oldest` to `number` are read; 0 means no number."""

    kind: str
    number: int
    oldest: int

    def check(self, number: int, file: object) -> None:
        """Refuse a number that this version does not read."""
        if self.oldest <= number <= self.number:
            return
        known = f"{self.oldest} to {self.number}" if self.oldest < self.number else self.number
        raise UsageError(
            f"{file} was written by another version of npuforge "
            f"({self.kind} {number or 'without a number'}, this one reads {known})"
        )

    def encode(self, value: Any) -> bytes:
        """Encode an object as JSON with its number."""
        return msgspec.json.encode({"format": self.number, **msgspec.to_builtins(value)})

    def decode(self, text: bytes | str, form: type[_T], file: object) -> _T:
        """Decode what `encode` made; `UsageError` names the file and what is wrong with it."""
        try:
            self.check(number_of(text), file)
            return msgspec.json.decode(text, type=form)
        except (msgspec.DecodeError, UnicodeError) as error:
            raise UsageError(f"{file} is no {self.kind}: {error}") from error
        except RecursionError:
            raise UsageError(f"{file} is no {self.kind}: it is nested too deeply") from None


def number_of(text: bytes | str) -> int:
    """Return the number in a JSON object, 0 if it has none."""
    return msgspec.json.decode(text, type=_Numbered).format


VERDICT = FileFormat("verdict", 1, oldest=0)
RESULT_FOLDER = FileFormat("folder of results", 1, oldest=1)
BENCH_FOLDER = FileFormat("benchmark run", 1, oldest=1)
BENCH_JSON = FileFormat("result of bench --json", 1, oldest=0)
BENCH_SNAPSHOT = FileFormat("snapshot of a benchmark", 1, oldest=1)
RECORDING = FileFormat("recording", 1, oldest=0)
DATASET_FOLDER = FileFormat("dataset folder", 1, oldest=1)
RECORD = FileFormat("record", 1, oldest=0)
TRAINING_RUN = FileFormat("training run", 1, oldest=0)
KNOWLEDGE_STORE = FileFormat("store of knowledge", 1, oldest=1)
BUILD_CACHE = FileFormat("build cache", 2, oldest=2)

FORMATS = (
    VERDICT, RESULT_FOLDER, BENCH_FOLDER, BENCH_JSON, BENCH_SNAPSHOT, RECORDING, DATASET_FOLDER,
    RECORD, TRAINING_RUN, KNOWLEDGE_STORE, BUILD_CACHE,
)  # fmt: skip
