# SPDX-License-Identifier: Apache-2.0
"""One operator of the list: facts alone, from which a module is written when it is measured."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

LIST = Path(__file__).with_name("operators.jsonl")

Half = Literal["open", "held back"]
Kind = Literal["module", "callable", "function", "scheduler", "optimizer"]


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor that goes in; `values` is `normal`, `unit`, `bits` or `below N`."""

    name: str
    shape: list[int]
    dtype: str
    values: str


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments as facts; see `facts.py` for how a value is written."""

    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is needed to make the operator and call it.

    `target` is an import path, `module:name`. `init` makes the object, where there is one. Floating
    parameters are made in `dtype`. `family` is the first operator of the same structure.
    """

    name: str
    package: str
    version: str
    kind: Kind
    target: str
    init: Call | None
    call: Call
    inputs: list[Input]
    dtype: str
    drawn_from: str
    structure: str = ""
    family: str = ""
    half: Half = "open"


def title(target: str, inputs: Iterable[Input], dtype: str) -> str:
    """Return the stable name of an operator: its path, and the largest input."""
    path, _, name = target.partition(":")
    parts = [*dict.fromkeys(part for part in path.split(".") if part not in _COMMON), name]
    largest = max(inputs, key=lambda one: (_elements(one), one.shape), default=None)
    size = "x".join(map(str, largest.shape)) if largest is not None else "0"
    return f"{'.'.join(parts)}-{size}-{dtype}"


def half_of(family: str) -> Half:
    """Return the half by a hash of the family's name: structures are never split."""
    return "open" if digest(family)[-1] in "02468ace" else "held back"


def digest(text: str) -> str:
    """Return a hexadecimal digest that is the same on every machine."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_name(operator: Operator) -> str:
    """Return the operator's name as a Python module may be called."""
    return re.sub(r"\W+", "_", operator.name).strip("_").lower()


def read(path: Path = LIST) -> list[Operator]:
    """Read the list; every field's type is checked."""
    decoder = msgspec.json.Decoder(Operator)
    return [decoder.decode(line) for line in path.read_bytes().splitlines() if line.strip()]


def write(operators: Iterable[Operator], path: Path = LIST) -> None:
    """Write the list, an operator a line."""
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in operators))


_COMMON = ("models", "modeling", "functional", "src", "nn")


def _elements(one: Input) -> int:
    count = 1
    for extent in one.shape:
        count *= extent
    return count
