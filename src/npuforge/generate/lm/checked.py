# SPDX-License-Identifier: Apache-2.0
"""Whether a model's program does what its question says, by the language's interpreter.

A few milliseconds and one small case: not a proof, but enough to tell which of several samples of a
part is worth putting into a program.
"""

from __future__ import annotations

import re

from npuforge.errors import NpuforgeError, UsageError
from npuforge.generate.interpreted import does
from npuforge.generate.lm.answer import held
from npuforge.generate.lm.form import complete
from npuforge.generate.lm.meaning import known_operations
from npuforge.generate.written.signature import signature_of
from npuforge.lower.compiler import lower
from npuforge.patience import TooLongError, within
from npuforge.plan import Plan
from npuforge.spec.graph import Graph

_SEEDS = (0, 1)
_MOST_S = 20.0  # of a processor; a program may count to anything
# What moves elements or looks at them, which no table of instructions has. Nothing else is run:
# graphs come from modules that nobody vouches for, and PyTorch has operations that open files.
_MOVES = re.compile(
    r"^(?:view|squeeze|unsqueeze|expand|permute|slice|select|clone|alias|_to_copy|full|full_like"
    r"|scalar_tensor|arange|cat|getitem|sort|topk|constant_pad_nd|repeat|flip|copy|index_select"
    r"|split_with_sizes|tril|triu|roll|any|all|prod)\b"
)


def is_right(program: str, graph: Graph, chip: str = "910b2") -> bool:
    """Whether nothing shows that it is wrong; what cannot be told is not held against it."""
    try:
        tile = lower(complete(program, chip).text, chip).program
        plan = Plan(graph.name, (), held(signature_of(graph), tile.host).operands)
    except (NpuforgeError, RecursionError):
        return False
    if not all(_is_known(node.word) for node in graph.nodes):
        return True
    try:
        with within(_MOST_S):
            return all(does(tile, plan, graph, seed) for seed in _SEEDS)
    except UsageError:
        return True
    except (NpuforgeError, RecursionError, TooLongError):
        return False


def _is_known(word: str) -> bool:
    plain = {name.partition("[")[0] for name in known_operations()}
    return word in plain or _MOVES.match(word) is not None
