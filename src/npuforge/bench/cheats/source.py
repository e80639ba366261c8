# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in an answer's text, before anything of it runs."""

from __future__ import annotations

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.cpp_source import SUFFIXES, CppSource
from npuforge.bench.cheats.kinds import once
from npuforge.bench.cheats.python_source import PythonSource
from npuforge.twin.sources.model_answer import ModelAnswer


def inspect(answer: ModelAnswer) -> list[Cheat]:
    """Every finding once. Text that does not parse is no cheat: it does not run either."""
    paths = sorted(path for path in answer.root.rglob("*") if path.suffix in SUFFIXES)
    own = frozenset(name for path in paths for name in CppSource.defined(path))
    found = PythonSource(answer.model, answer.model_class, frozenset({answer.module})).cheats()
    for path in paths:
        found += CppSource(path, answer.root, own).cheats()
    return once(found)
