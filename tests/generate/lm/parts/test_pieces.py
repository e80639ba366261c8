# SPDX-License-Identifier: Apache-2.0
"""Questions in parts, and the program of the whole out of theirs: the planner writes the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from npuforge.generate import generate
from npuforge.generate.live import LiveModule
from npuforge.generate.lm.checked import is_right
from npuforge.generate.lm.engine.model import TEMPLATE, ModelFile
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling, Watch
from npuforge.generate.lm.form.form import plain
from npuforge.generate.lm.parts.pieces import Piece, assembled, pieces, program_of, wanted
from npuforge.generate.lm.parts.simpler import RULES
from npuforge.generate.lm.question.kinds import ITEM
from npuforge.generate.lm.question.task import canonical, task_text
from npuforge.generate.lm.writer import LmWriter
from npuforge.plan import planner
from npuforge.spec.graph import Graph
from npuforge.train.judge import Bench

SOC = "910b2"
Function = Callable[..., object]


class Applied(torch.nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> object:
        return self.function(x, y)


class AllApplied(torch.nn.Module):
    """Several functions at once: one module is captured, compiled and run sooner than many."""

    def __init__(self, functions: Sequence[Function]) -> None:
        super().__init__()
        self.functions = list(functions)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[object, ...]:
        found: list[object] = []
        for function in self.functions:
            result = function(x, y)
            found += result if isinstance(result, tuple) else [result]
        return tuple(found)


def _updated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    norm: torch.Tensor = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
    x.mul_(0.9).add_(y / norm)
    return norm


def _written_over(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    made = x.clone()
    made[:, 3:] = -y[:, 3:]
    return made * 2.0


def _normal(x: torch.Tensor) -> torch.Tensor:
    spread, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    normal: torch.Tensor = (x - mean) * torch.rsqrt(spread + 1e-3)
    return normal


def _copied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    places = torch.arange(6) * 1
    out = torch.zeros(6, 13)
    out[places] = x[places] * y[torch.arange(6)]
    return out.sum(-1)


def _kept(x: torch.Tensor) -> torch.Tensor:
    spread, mean = torch.var_mean(x, 1, keepdim=True)
    return (x - mean) / spread


def _sloped(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    rows, cols = torch.arange(x.shape[0])[:, None], torch.arange(x.shape[1])[None, :]
    return torch.where(cols <= rows, x - (rows - cols) * 0.5, y)


def _patches(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    images = torch.stack([x, y])[None]
    return torch.nn.functional.unfold(images, 3, padding=1, stride=2)


def _shuffled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    images = (x + y)[:, :12].reshape(6, 2, 2, 3)[None, :4].reshape(1, 4, 2, 6)
    return torch.nn.functional.pixel_shuffle(images, 2)


def _neighbours(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.local_response_norm((x * y)[None], 3, alpha=0.5)


FUNCTIONS: dict[str, Function] = {
    "rows": lambda x, y: (x * y).sum(-1, keepdim=True) * torch.softmax(x, -1),
    "columns": lambda x, y: (x - x.mean(0)) / (y.amax(1, keepdim=True) + 3.0),
    "halves": lambda x, y: torch.cat([x[:, :7] * y[:, :7], y[:, 7:]], 1).sum(0),
    "results": lambda x, y: (x.amax(-1), (x - y).abs().mean(0), x * y),
    "views": lambda x, y: (x.reshape(-1) * y.reshape(-1)).reshape(3, -1).sum(1),
    "places": lambda x, y: torch.argmax(x * y) + 1,
    "updated": _updated,
    "written over": _written_over,
    "steps": lambda x, y: x.index_select(1, torch.arange(0, 12, 2)).sum(1) + y[:, 0],
    "pairs": lambda x, y: torch.stack([x, y], -1)[..., 1] * torch.stack([x, y], -1)[..., 0].sum(),
    "logarithms": lambda x, y: torch.log_softmax(x * y, -1).sum(0),
    "spread": lambda x, y: _normal(x) * y,
    "differences": lambda x, y: torch.diff(x, prepend=torch.zeros_like(y[:, :1])),
    "copied": _copied,
    "lengths": lambda x, y: torch.hypot(x * 1e30, y * 1e30),
    "middles": lambda x, y: torch.median(x * y, -1).values,
    "spread in the middle": lambda x, y: torch.var_mean(x[:, :12].reshape(3, 4, 6) * y[0, 1], 1),
    "spread that stays": lambda x, y: _kept(x[:, :12].reshape(3, 4, 6)) * y[0, 1],
    "joins": lambda x, y: torch.cat([x, y, x * y, y + 1.0], 1).sum(0),
    "turned": lambda x, y: (x[:, :, None] * y[:, None, :]).amax(1),
    "crossed": lambda x, y: torch.linalg.cross(x[:, :3], y[:, :3]).sum(-1),
    "running": lambda x, y: torch.cumsum(x * y, 0) / 2.0,
    "trimmed": lambda x, y: (x * y).sort(-1).values[:, 3:-3].mean(-1),
    "sloped": _sloped,
    "patches": _patches,
    "shuffled": _shuffled,
    "neighbours": _neighbours,
    "rolled": lambda x, y: torch.roll(x * y, (-2, 3), (0, 1)),
    "rest of erf": lambda x, y: (torch.erfc(x) * torch.ones_like(x), torch.erfc(y.half())),
    "running logarithms": lambda x, y: torch.logcumsumexp(x * y, -1),
    "looked up": lambda x, y: x[0].gather(0, (y[0] * 3.0).abs().to(torch.int64)) * y,
    "size": lambda x, y: torch.linalg.vector_norm(x[0, 0] * y[0, 0]) + y,
    "masked in the middle": lambda x, y: torch.where(
        (x > 0.0)[:, None, :], y[None, :, :] * x[:, None, :], float("-inf")
    ),
    "groups": lambda x, y: torch.nn.functional.group_norm((x * y)[:, :12].reshape(3, 4, 6), 2),
    "sunk": lambda x, y: torch.cat([x, y[0, :1, None].expand(6, 1)], 1).sum(-1),
    "with one another": lambda x, y: (
        (x[:, 0, None] - x[:, 0]) * (y[:, :, None] <= y[:, None]).sum()
    ),
    "masked": lambda x, y: torch.where(torch.arange(x.shape[1]) < 5, x, y).mean(-1),
}


TOGETHER: dict[str, list[str]] = {
    "folds": ["rows", "columns", "halves", "results", "views", "places"],
    "updates": ["updated"],
    "parts": ["written over", "steps", "pairs", "logarithms", "spread"],
    "orders": ["differences", "copied", "lengths", "middles", "joins"],
    "turns": ["turned", "crossed", "running", "trimmed", "sloped"],
    "windows": ["patches", "neighbours", "rolled", "masked", "running logarithms"],
    "elements": [
        "rest of erf",
        "looked up",
        "size",
        "masked in the middle",
        "sunk",
        "with one another",
    ],
    "fixed rows": ["spread in the middle", "spread that stays", "shuffled", "groups"],
}


def _inputs() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(6, 13), torch.randn(6, 13)]


def _module(name: str) -> LiveModule:
    return LiveModule(Applied(FUNCTIONS[name]), _inputs(), "applied")


def _planned(graph: Graph) -> str:
    return plain(planner.plan(graph, SOC, most=1).variants[0].program, task_text(graph))


def _every(parts: Sequence[Piece]) -> Iterator[Piece]:
    for part in parts:
        yield part
        yield from _every(part.pieces)


@pytest.mark.parametrize("most", [12, 1])
@pytest.mark.parametrize("together", TOGETHER)
def test_programs_of_parts_make_that_of_the_whole(together: str, most: int) -> None:
    functions = [FUNCTIONS[name] for name in TOGETHER[together]]
    with LiveModule(AllApplied(functions), _inputs(), "applied") as module:
        bench = Bench(module)
        parts = pieces(bench.canonical, (most, 1))
        assert parts
        programs = [_planned(part.graph) for part in parts]
        whole = assembled(task_text(bench.canonical), parts, programs)
        assert whole is not None
        judged = bench.judge_program(whole)
        assert judged.correct, judged.problem


def test_every_function_is_among_those_together() -> None:
    assert sorted(name for names in TOGETHER.values() for name in names) == sorted(FUNCTIONS)


@pytest.mark.parametrize("name", ["rows", "patches"])
def test_parts_of_parts_make_it_too(name: str) -> None:
    with _module(name) as module:
        bench = Bench(module)
        graph, parts = bench.canonical, pieces(bench.canonical)
        smallest = {p.asked: _planned(p.graph) for p in _every(parts) if not p.pieces}

        def written(one: Graph) -> list[str | None]:
            return [smallest.get(task_text(one))]

        assert any(part.pieces for part in parts)
        program = program_of(graph, parts, 0, written)
        assert program is not None
        assert bench.judge_program(program).correct


def test_parts_are_asked_where_the_whole_was_given_up() -> None:
    with _module("rows") as module:
        graph, _ = canonical(module.graph)
    parts = pieces(graph)
    known: dict[str, list[str | None]] = {}

    def written(one: Graph) -> list[str | None] | None:
        return known.get(task_text(one))

    def asked() -> list[str]:
        return [task_text(one) for one in wanted(graph, parts, written)]

    assert asked() == [task_text(graph)]
    known[task_text(graph)] = ["a program", "another"]
    assert not asked()
    known[task_text(graph)] = ["a program", None]
    assert asked() == [part.asked for part in parts]
    known |= {part.asked: ["its program", "its program"] for part in parts}
    hard = next(part for part in parts if part.pieces)
    known[hard.asked] = [None, None]
    assert asked() == [part.asked for part in hard.pieces if part.asked not in known]
    assert program_of(graph, parts, 0, written) == "a program"
    assert program_of(graph, parts, 1, written) is None


def test_a_sample_that_gave_up_a_part_takes_the_next_ones() -> None:
    with _module("rows") as module:
        graph, _ = canonical(module.graph)
    parts = pieces(graph)
    programs = {part.asked: _planned(part.graph) for part in parts}

    def written(one: Graph) -> list[str | None]:
        right = programs.get(task_text(one))
        return [right, None, None]

    assert program_of(graph, parts, 2, written) is not None


def test_what_cannot_be_divided_has_no_parts() -> None:
    with LiveModule(Applied(lambda x, y: x * y), [torch.rand(8), torch.rand(8)], "one") as module:
        graph, _ = canonical(module.graph)
    assert not pieces(graph)
    again = lambda x, y: (x.mul_(2.0).sum(), y.amax() - x)  # noqa: E731 (reads what it updated)
    with LiveModule(Applied(again), [torch.rand(8), torch.rand(8)], "again") as module:
        bench = Bench(module)
        parts = pieces(bench.canonical)
        programs = [_planned(part.graph) for part in parts]
        whole = assembled(task_text(bench.canonical), parts, programs) if parts else None
        assert not parts or (whole is not None and bench.judge_program(whole).correct)


def test_the_interpreter_tells_right_from_wrong() -> None:
    with _module("rows") as module:
        graph, _ = canonical(module.graph)
    right = _planned(graph)
    assert is_right(right, graph)
    assert not is_right(right.replace("tl.mul(", "tl.sub("), graph)
    assert not is_right("no program", graph)


def test_a_row_that_does_not_fit_is_not_right() -> None:
    given = [torch.rand(2, 60_000), torch.rand(2, 60_000)]
    with LiveModule(Applied(FUNCTIONS["rows"]), given, "wide") as module:
        wide, _ = canonical(module.graph)
    with _module("rows") as module:
        narrow, _ = canonical(module.graph)
    in_rows = _planned(narrow)
    assert is_right(in_rows, narrow)
    assert not is_right(in_rows, wide)
    assert is_right(_planned(wide), wide)


def test_what_is_computed_and_then_repeated_is_repeated_apart() -> None:
    function = lambda x, y: (x[0] > 0.0).float().expand(6, 13)  # noqa: E731, ARG005
    with LiveModule(Applied(function), _inputs(), "applied") as module:
        graph, _ = canonical(module.graph)
    parts = [[node.word for node in part.graph.nodes] for part in pieces(graph, (1,))]
    assert parts == [["select.int"], ["gt.Scalar"], ["_to_copy"], ["expand"]]


def test_what_is_folded_must_not_be_empty() -> None:
    with _module("trimmed") as module:
        graph, _ = canonical(module.graph)
    conditions = [one for part in pieces(graph, (1,)) for one in part.demands]
    assert conditions == ["nb - 6 >= 1"]


def test_what_is_made_simpler_are_operations_of_pytorch() -> None:
    for name in RULES:
        if name != ITEM:
            _, operation, overload = name.split(".")
            assert hasattr(getattr(torch.ops.aten, operation), overload), name


TOLD = ModelFile(Path("told.gguf"), {TEMPLATE: "{{ messages[1].content }}"})


@dataclass
class Knowing:
    """An engine that knows small questions, the right program and a wrong one, and no others."""

    known: dict[str, str]
    asked: list[str] = field(default_factory=list)
    model: ModelFile = TOLD

    def draw(self, prompt: str | list[int], sampling: Sampling, watch: Watch) -> Drawn:
        assert isinstance(prompt, str)
        assert sampling.grammar
        watch(3)
        self.asked.append(prompt)
        right = self.known.get(prompt)
        if right is None:
            return Drawn((Sample("", 1, False),) * 2, 5, 0.1)
        wrong = right.replace("tl.mul(", "tl.sub(").replace("tl.reduce_sum(", "tl.reduce_max(")
        return Drawn((Sample(wrong, 9, True), Sample(right, 9, True)), 5, 0.1)


def test_the_writer_asks_for_parts_where_it_gets_no_whole() -> None:
    torch.manual_seed(0)
    module, inputs = Applied(FUNCTIONS["rows"]), [torch.randn(6, 13), torch.randn(6, 13)]
    with LiveModule(module, inputs, "applied") as live:
        graph, _ = canonical(live.graph)
    small = {part.asked: _planned(part.graph) for part in _every(pieces(graph)) if not part.pieces}
    engine = Knowing(small)
    writer = LmWriter(engine, Sampling(count=2))
    outcome = generate(module, inputs, name="applied", strategy=writer)
    assert outcome.verdict.ok, outcome.verdict
    assert outcome.candidates[0].variant.title == "of parts 1"
    assert engine.asked[0] == task_text(graph)
    assert len(engine.asked) == len(set(engine.asked)) > 3
