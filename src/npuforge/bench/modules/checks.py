# SPDX-License-Identifier: Apache-2.0
"""Which inputs an answer is judged with.

First the suite's own: so many trials at the task's sizes. Then ours: values around zero, values
over many orders of magnitude, and sizes the task does not name. Tensors too large to be computed
here keep their rank and alignment and have fewer rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from npuforge.bench.modules.protocol import ModuleProtocol
from npuforge.generate.cases import (
    Sizes,
    all_smaller,
    choose,
    counter,
    fewer_rows,
    halved,
    shape_of,
)
from npuforge.spec.graph import Graph

MOST = 2_000_000  # elements to compute with

Kind = Literal["published", "strict", "fresh"]
Values = Literal["own", "signed", "wide"]


@dataclass(frozen=True, slots=True)
class Check:
    """One call of the model.

    `sizes` are the graph's symbols as numbers, several times: the first that the task accepts are
    taken, for nobody says which go together. None: as the task's file has them. `group` is the
    number of a list of `get_input_groups`.
    """

    name: str
    kind: Kind
    values: Values = "own"
    sizes: tuple[Sizes, ...] = ()
    seed: int = 0
    group: int | None = None

    def as_job(self, graph: Graph | None) -> dict[str, Any]:
        """As the sandboxed process is asked."""
        options = [option(graph, sizes) for sizes in self.sizes] if graph is not None else []
        return {
            "published": self.kind == "published",
            "values": self.values,
            "options": options,
            "seed": self.seed,
            "group": self.group,
        }


def checks(graph: Graph | None, protocol: ModuleProtocol, groups: Sequence[int]) -> list[Check]:
    """All calls, the suite's first. Without a graph the sizes are the task's own."""
    by_group = [Check(f"group {i}", "published", group=i) for i in groups]
    if by_group and graph is None:
        first = groups[0]
        return [*by_group, Check(f"group {first}, signed", "strict", "signed", group=first)]
    sizes = _computable(graph) if graph is not None else ()
    at = "scaled down" if sizes else "given sizes"
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


def _computable(graph: Graph) -> tuple[Sizes, ...]:
    """Nothing where the task's own sizes are."""
    if counter(graph)(fewer_rows(graph, None)) <= MOST:
        return ()
    return fewer_rows(graph, MOST), all_smaller(graph, MOST)


def _fresh(
    graph: Graph, sizes: tuple[Sizes, ...], protocol: ModuleProtocol
) -> list[tuple[Values, tuple[Sizes, ...]]]:
    found: list[tuple[Values, tuple[Sizes, ...]]] = []
    smaller = [halved(graph, each) for each in sizes or (fewer_rows(graph, None),)]
    smaller.append(all_smaller(graph, MOST // 4))
    found.append(("own", tuple(each for each in smaller if each is not None)))
    if protocol.fresh == "any":
        odd = [case for case in choose(graph) if case.name in ("primes", "small")]
        found += [("signed", case.options) for case in odd]
    return found


def option(graph: Graph, sizes: Sizes) -> dict[str, Any]:
    """Shapes by position, and extents of the example that change."""
    shapes = {
        source.position: shape_of(source.type, sizes)
        for source in graph.sources
        if source.position is not None
    }
    return {"shapes": shapes, "numbers": _changed(graph, sizes)}


def _changed(graph: Graph, sizes: Sizes) -> dict[int, int]:
    """Extents of the example and what they become."""
    numbers: dict[int, int] = {}
    for name, old in fewer_rows(graph, None).items():
        numbers[old] = min(sizes[name], numbers.get(old, sizes[name]))
    return numbers
