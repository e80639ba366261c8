# SPDX-License-Identifier: Apache-2.0
"""Names that say too little: private functions that many files define, and locals."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from tools.counters.tree import Source


def private_functions(sources: Iterable[Source]) -> Counter[str]:
    """Count the files that define each private function at their top."""
    return Counter(
        name
        for source in sources
        for name in {
            node.name
            for node in source.tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_")
        }
    )


def occurrences(sources: Iterable[Source], name: str) -> int:
    """Count the places where a variable or an argument has the name."""
    return sum(
        sum(node.id == name for node in source.nodes(ast.Name))
        + sum(node.arg == name for node in source.nodes(ast.arg))
        for source in sources
    )
