# SPDX-License-Identifier: Apache-2.0
"""Graphs like a captured one, and whether programs do what graphs say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
import torch
from tests.generate.lm.written import program_for

from npuforge.errors import UsageError
from npuforge.generate.cases import all_smaller, shape_of
from npuforge.generate.interpreted import does, run
from npuforge.generate.live import LiveModule
from npuforge.spec.graph import Graph, Result
from npuforge.train.dataset import grow as growth
from npuforge.train.dataset.grow import grow, is_proven
from npuforge.train.dataset.record import Chat
from npuforge.train.dataset.variants import varied
from npuforge.train.judge import Bench
from npuforge.train.operators.draw import draw
from npuforge.train.structure import structure

_SEED = 9000


def _first(family: str) -> int:
    """The number of the first operator of a family: others may come and go."""
    return next(index for index in count() if draw(_SEED, index).family == family)


@pytest.fixture(scope="module")
def captured() -> Iterator[list[LiveModule]]:
    drawn = [draw(_SEED, _first(family)) for family in ("optimiser", "norm", "fold")]
    modules = [LiveModule.of_text(one.source, "op") for one in drawn]
    for module in modules:
        module.__enter__()
    yield modules
    for module in modules:
        module.__exit__(None, None, None)


def _filled(graph: Graph) -> tuple[dict[str, int], dict[str, torch.Tensor]]:
    sizes = dict(all_smaller(graph, 500))
    kinds = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
    return sizes, {
        source.name: torch.rand(shape_of(source.type, sizes)).to(kinds[source.type.dtype])
        for source in graph.sources
    }


def test_variants_are_graphs_that_pytorch_might_capture(captured: list[LiveModule]) -> None:
    rng = random.Random(1)
    kinds = set()
    for module in captured:
        known = [module.graph]
        for _ in range(25):
            graph = varied(rng.choice(known), rng)
            known.append(graph)
            kinds.add(structure(graph))
            sizes, given = _filled(graph)
            every = [Result(node.name) for node in graph.nodes if any(node.types)]
            found = run(Graph("op", graph.sources, graph.nodes, every, graph.symbols), sizes, given)
            for node, value in zip((n for n in graph.nodes if any(n.types)), found, strict=True):
                values = value if isinstance(value, tuple) else (value,)
                # Statistics of norms are wider in a captured graph than they are on a CPU.
                kind, one = node.type, values[0]
                assert tuple(one.shape) == shape_of(kind, sizes), node
                assert str(one.dtype) == f"torch.{kind.dtype}", node
    assert len(kinds) > 40


def test_the_same_dice_make_the_same_variant(captured: list[LiveModule]) -> None:
    graph = captured[0].graph
    assert varied(graph, random.Random(5)) == varied(graph, random.Random(5))
    assert varied(graph, random.Random(5)) != varied(graph, random.Random(6))


def test_a_program_that_does_something_else_is_found_out(captured: list[LiveModule]) -> None:
    bench = Bench(captured[0], cases=())
    program = program_for(bench.canonical)
    lowered, plan = bench.accepted(program)
    assert does(lowered.program, plan, bench.graph)
    wrong, plan = bench.accepted(program.replace("tl.mul(", "tl.add(", 1))
    assert not does(wrong.program, plan, bench.graph)


def test_what_pytorch_refuses_is_said(captured: list[LiveModule]) -> None:
    graph = captured[0].graph
    sizes, given = _filled(graph)
    unknown = replace(graph.nodes[0], op="aten.nowhere.default")
    with pytest.raises(UsageError, match=r"aten\.nowhere"):
        run(replace(graph, nodes=[unknown, *graph.nodes[1:]]), sizes, given)


def test_operators_give_variants_of_structures_that_may_be_known() -> None:
    loss = _first("loss")
    grown = grow(_SEED, loss, lessons=0.0, variants=6)
    found = [r for r in grown.records if isinstance(r, Chat) and r.source == "variant"]
    assert found
    structures = {record.origin.structure for record in found}
    again = grow(_SEED, loss, avoid=structures - {grown.structure}, lessons=0.0, variants=6)
    left = [r for r in again.records if isinstance(r, Chat) and r.source == "variant"]
    assert not {record.origin.structure for record in left} & (structures - {grown.structure})


def test_what_is_not_proven_is_the_first_of_its_variants() -> None:
    loss = _first("loss")
    proven = grow(_SEED, loss, lessons=0.0, variants=3)
    grown = grow(_SEED, loss, variants=3, proven=0.0)
    assert {r.source for r in grown.records if isinstance(r, Chat)} == {"variant"}
    own, *others = grown.records
    assert own.origin.structure == grown.structure == proven.structure
    variants = [r for r in proven.records if isinstance(r, Chat) and r.source == "variant"]
    assert others == variants
    assert grow(_SEED, loss, variants=3, proven=0.0).records == grown.records


def test_what_is_not_proven_and_wrong_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "does", lambda *_: False)
    grown = grow(_SEED, _first("loss"), variants=3, proven=0.0)
    assert not grown.records
    assert grown.reason.startswith("not proven")


def test_a_share_of_the_operators_is_proven() -> None:
    few, many = ({i for i in range(500) if is_proven(3, i, share)} for share in (0.1, 0.4))
    assert 25 < len(few) < 80
    assert few < many
    assert all(is_proven(3, index, 1.0) for index in range(500))
    assert not any(is_proven(3, index, 0.0) for index in range(500))
