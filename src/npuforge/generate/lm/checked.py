# SPDX-License-Identifier: Apache-2.0
"""Whether a model's program does what its question says, by the language's interpreter.

A few milliseconds, one small case, and whether the host takes the sizes that were asked for: not a
proof, but enough to tell which of several samples of a part is worth putting into a program.
"""

from __future__ import annotations

from npuforge.errors import NpuforgeError, UsageError
from npuforge.generate.interpreted import does
from npuforge.generate.lm.form.answer import held
from npuforge.generate.lm.form.form import complete
from npuforge.generate.lm.question.kinds import ITEM
from npuforge.generate.written.signature import signature_of
from npuforge.lower.compiler import lower
from npuforge.patience import TooLongError, within
from npuforge.plan import Plan
from npuforge.plan.expand import is_planned
from npuforge.spec.graph import Graph
from npuforge.tile.interpret import require_sizes

_SEEDS = (0, 1)
_MOST_S = 20.0  # of a processor; a program may count to anything


def is_right(program: str, graph: Graph, chip: str = "910b2") -> bool:
    """Whether nothing shows that it is wrong; what cannot be told is not held against it."""
    try:
        tile = lower(complete(program, chip).text, chip).program
        plan = Plan(graph.name, (), held(signature_of(graph), tile.host).operands)
        require_sizes(tile, _shapes(plan, graph), chip)
    except (NpuforgeError, RecursionError):
        return False
    # Nothing else is run: graphs come from modules that nobody vouches for, and PyTorch has
    # operations that open files.
    if not all(node.op == ITEM or is_planned(node.op) for node in graph.nodes):
        return True
    try:
        with within(_MOST_S):
            return all(does(tile, plan, graph, seed) for seed in _SEEDS)
    except UsageError:
        return True
    except (NpuforgeError, RecursionError, TooLongError):
        return False


def _shapes(plan: Plan, graph: Graph) -> dict[str, tuple[int, ...]]:
    shapes = {source.name: tuple(source.type.shape) for source in graph.sources}
    return {one.name: shapes[one.source] for one in plan.operands if one.source is not None}
