# SPDX-License-Identifier: Apache-2.0
"""Which inputs an answer is judged with.

First the suite's own: so many trials at the task's sizes. Then ours: values around zero, values
over many orders of magnitude, and sizes the task does not name. Tensors too large to be computed
here keep their rank and alignment and have fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from npuforge.bench.modules.protocol import ModuleProtocol
from npuforge.generate.cases import Sizes, choose, counter, fewer_rows, halved, shape_of
from npuforge.spec.graph import Graph

MOST = 2_000_000  # elements to compute with

Kind = Literal["published", "strict", "fresh"]
Values = Literal["own", "signed", "wide"]


@dataclass(frozen=True, slots=True)
class Check:
    """One call of the model. `sizes` are the graph's symbols; None: as the task's file has them.

    `group` is the number of a list of `get_input_groups`.
    """

    name: str
    kind: Kind
    values: Values = "own"
    sizes: Sizes | None = None
    seed: int = 0
    group: int | None = None

    def as_job(self, graph: Graph | None) -> dict[str, Any]:
        """As the sandboxed process is asked."""
        shapes = None
        if self.sizes is not None:
            assert graph is not None
            shapes = {
                source.position: shape_of(source.type, self.sizes)
                for source in graph.sources
                if source.position is not None
            }
        numbers = changed(graph, self.sizes) if graph is not None and self.sizes else {}
        return {
            "published": self.kind == "published",
            "values": self.values,
            "shapes": shapes,
            "numbers": numbers,
            "seed": self.seed,
            "group": self.group,
        }


def checks(graph: Graph | None, protocol: ModuleProtocol, groups: int | None) -> list[Check]:
    """All calls, the suite's first. Without a graph the sizes are the task's own."""
    by_group = [Check(f"group {i}", "published", group=i) for i in range(groups or 0)]
    if by_group and graph is None:
        return [*by_group, Check("group 0, signed", "strict", "signed", group=0)]
    sizes = _computable(graph) if graph is not None else None
    at = "scaled down" if sizes is not None else "given sizes"
    seed = protocol.seed
    found = by_group or [
        Check(f"trial {trial}, {at}", "published", "own", sizes, seed + trial)
        for trial in range(protocol.trials)
    ]
    found += [
        Check(f"signed values, {at}", "strict", "signed", sizes, seed + 101),
        Check(f"wide values, {at}", "strict", "wide", sizes, seed + 102),
    ]
    if graph is not None:
        found += [
            Check(f"fresh sizes, {values} values", "fresh", values, other, seed + 103)
            for values, other in _fresh(graph, sizes, protocol)
        ]
    return found


def _computable(graph: Graph) -> Sizes | None:
    """None where the task's own sizes are."""
    whole = fewer_rows(graph, None)
    return None if counter(graph)(whole) <= MOST else fewer_rows(graph, MOST)


def _fresh(
    graph: Graph, sizes: Sizes | None, protocol: ModuleProtocol
) -> list[tuple[Values, Sizes]]:
    found: list[tuple[Values, Sizes]] = []
    smaller = halved(graph, sizes or fewer_rows(graph, None))
    if smaller is not None:
        found.append(("own", smaller))
    if protocol.fresh == "any":
        odd = [case for case in choose(graph) if case.name in ("primes", "small")]
        found += [("signed", case.options[-1]) for case in odd]
    return found


def changed(graph: Graph, sizes: Sizes) -> dict[int, int]:
    """Extents of the example and what they become."""
    numbers: dict[int, int] = {}
    for name, old in fewer_rows(graph, None).items():
        numbers[old] = min(sizes[name], numbers.get(old, sizes[name]))
    return numbers
