# SPDX-License-Identifier: Apache-2.0
"""JSON of the benchmark's types; paths are text in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=_plain)


def decode(text: bytes | str, kind: type[_T]) -> _T:
    return msgspec.json.decode(text, type=kind, dec_hook=_path)


def _plain(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"no JSON for {type(value).__name__}")


def _path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"no {kind.__name__} from JSON")
