# SPDX-License-Identifier: Apache-2.0
"""Names that mean something in an answer's text, from `names.toml`."""

from __future__ import annotations

from importlib.resources import files

import msgspec


class PythonNames(msgspec.Struct, frozen=True):
    imports: frozenset[str]
    harmless: tuple[str, ...]
    scalars: frozenset[str]
    dunders: frozenset[str]
    torch: frozenset[str]
    methods: frozenset[str]
    questions: frozenset[str]
    kinds: dict[str, str]
    builtins: dict[str, str]
    tensor_methods: dict[str, str]
    paths: frozenset[str]


class CppNames(msgspec.Struct, frozen=True):
    torch: frozenset[str]
    methods: frozenset[str]
    device: frozenset[str]
    kinds: dict[str, str]


class Names(msgspec.Struct, frozen=True):
    python: PythonNames
    cpp: CppNames


NAMES: Names = msgspec.toml.decode(
    files("npuforge.bench.cheats").joinpath("names.toml").read_bytes(), type=Names
)
