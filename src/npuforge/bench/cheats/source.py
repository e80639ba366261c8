# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in an answer's text, before anything of it runs."""

from __future__ import annotations

from pathlib import Path

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.cpp_source import SUFFIXES, CppSource
from npuforge.bench.cheats.kinds import once
from npuforge.bench.cheats.python_source import PythonSource
from npuforge.twin.sources.model_answer import ModelAnswer


def inspect(answer: ModelAnswer) -> list[Cheat]:
    """Every finding once. Text that does not parse is no cheat: it does not run either."""
    found = PythonSource(answer.model, answer.model_class, frozenset({answer.module})).cheats()
    return once([*found, *inspect_cpp(answer.root)])


def inspect_cpp(root: Path) -> list[Cheat]:
    """The same of the C++ files below a folder."""
    paths = sorted(path for path in root.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    own = frozenset(name for path in paths for name in CppSource.defined(path))
    return once([found for path in paths for found in CppSource(path, root, own).cheats()])
