# SPDX-License-Identifier: Apache-2.0
"""The records of one random operator, which is planned, verified and timed.

Nothing is written down that did not run: programs are proven on the twin, faults are built and run,
what is called slower was timed. Variants, of which there are many more, are interpreted, and so are
operators that are not to be proven: each is the first of its variants.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass, field

from npuforge.errors import NpuforgeError
from npuforge.generate.cases import fewer_rows, operand_shapes
from npuforge.generate.interpreted import does
from npuforge.generate.live import LiveModule
from npuforge.generate.lm.answer import without_header
from npuforge.generate.lm.prompt.canonical import OPERATOR, conversation
from npuforge.lower.compiler import Lowered
from npuforge.lower.tiling import Tiling, compute_tiling
from npuforge.patience import within
from npuforge.plan import Plan, planner
from npuforge.sandbox import Sandbox
from npuforge.train.dataset.faults import faults, seeded
from npuforge.train.dataset.reasoning import reasoning, schedules
from npuforge.train.dataset.record import (
    Chat,
    GrownTask,
    JudgedBy,
    Origin,
    Preference,
    Record,
)
from npuforge.train.dataset.resize import resized
from npuforge.train.dataset.variants import varied
from npuforge.train.dataset.vendor import ascendc_record, project_record
from npuforge.train.judge import Bench, Judged
from npuforge.train.operators.draw import Drawn, draw
from npuforge.train.records import Message, as_messages
from npuforge.train.structure import structure
from npuforge.twin.timing.report import TimingReport

_MOST_S = 300.0  # of a processor, for an operator and all that is like it; hardly any takes 30
_LONGEST = 16_000  # characters of a program; a longer one teaches patience
_TRIED = 5  # faults tried for each operator
_BUILT = 1  # of these, how many may get as far as the twin, which takes a second each
_COMPARED = 0.35  # share of operators whose variants are compared
_NOTABLE = 1.05  # times as slow, to be called slower
_SIZES = 3  # other sizes each operator is planned for
# What a graph that was made up may come to: no plan, no program, an axis of no elements.
_UNFIT = (NpuforgeError, ArithmeticError)


@dataclass(slots=True)
class Grown:
    """The records of an operator; `reason` says why there are none."""

    index: int
    family: str
    structure: str = ""
    records: list[Record] = field(default_factory=list)
    reason: str = ""


def grow(
    seed: int,
    index: int,
    soc: str = "910b2",
    avoid: Collection[str] = (),
    lessons: float = 1.0,
    variants: int = 0,
    proven: float = 1.0,
    families: Collection[str] = (),
) -> Grown:
    """The operator of that number; one whose structure is to be avoided gives nothing. `lessons` is
    the share of operators that also give repairs and preferences, which take most of the time;
    `variants` is how many graphs like it are tried, for kernels that are interpreted only; `proven`
    is the share of operators that are verified on the twin, the others being interpreted, too; it
    is drawn of `families`, where some are named."""
    drawn = draw(seed, index, families)
    grown = Grown(index, drawn.family)
    proves = is_proven(seed, index, proven)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with within(_MOST_S), LiveModule.of_text(drawn.source, OPERATOR) as live:
                bench = Bench(live, soc, cases=None if proves else ())
                grown.structure = structure(bench.canonical)
                if grown.structure in avoid:
                    grown.reason = "its structure is kept for evaluation"
                    return grown
                plan = planner.plan(bench.canonical, soc, most=None if proves else 1)
                teacher = _Teacher(drawn, bench, plan, grown.structure, lessons)
                own = _proven(teacher) if proves else _interpreted(teacher)
                grown.records = [*own, *_varied(teacher, variants, avoid)]
    except Exception as error:  # hours of growth do not end with one operator that finds a fault
        said = (str(error).splitlines() or [""])[0]
        known = isinstance(error, NpuforgeError) and said
        grown.reason = said if known else f"{type(error).__name__}: {said}"
    if not grown.records and not grown.reason:
        grown.reason = "not proven"
    return grown


def is_proven(seed: int, index: int, share: float) -> bool:
    """Return whether the operator of that number is verified on the twin: more of them where the
    share is larger, and the same ones besides."""
    return random.Random(f"npuforge proof {seed} {index}").random() < share


def _proven(teacher: _Teacher) -> Iterator[Record]:
    if not Sandbox.detect().protects_files:
        raise NpuforgeError("not proven: an unisolated verdict is no record")
    yield from teacher.records()
    yield from _resized(teacher)


def _interpreted(teacher: _Teacher) -> Iterator[Record]:
    """Its kernel as that of a variant; other sizes are left to the variants."""
    found = list(teacher.interpreted())
    if not found:
        raise NpuforgeError("not proven: too long, or wrong in the interpreter")
    yield from found


def _resized(teacher: _Teacher) -> Iterator[Record]:
    """The kernel again for other sizes, where it is another one for them."""
    rng = random.Random(f"npuforge sizes {teacher.drawn.seed} {teacher.drawn.index}")
    bench = teacher.bench
    known = {teacher.program}
    for _ in range(_SIZES):
        try:
            graph = resized(bench.graph, rng)
            if graph is None:
                return
            other = Bench(bench.module, bench.soc, graph=graph)
            plan = planner.plan(other.canonical, bench.soc, most=1)
            again = _Teacher(teacher.drawn, other, plan, teacher.structure, 0.0)
            if again.program not in known:
                known.add(again.program)
                yield from again.kernel()
        except _UNFIT:
            continue


def _varied(teacher: _Teacher, count: int, avoid: Collection[str]) -> Iterator[Record]:
    """Kernels of graphs like the operator's, each by the interpreter against PyTorch."""
    rng = random.Random(f"npuforge variants {teacher.drawn.seed} {teacher.drawn.index}")
    bench = teacher.bench
    known = [bench.graph]
    for _ in range(count):
        try:
            graph = varied(rng.choice(known), rng)
            other = Bench(bench.module, bench.soc, cases=(), graph=graph)
            kind = structure(other.canonical)
            if kind in avoid:
                continue
            plan = planner.plan(other.canonical, bench.soc, most=1)
            again = _Teacher(teacher.drawn, other, plan, kind, 0.0)
            yield from again.interpreted()
            known.append(graph)
        except _UNFIT:
            continue


@dataclass(slots=True)
class _Teacher:
    drawn: Drawn
    bench: Bench
    planned: Plan
    structure: str
    lessons: float

    @property
    def origin(self) -> Origin:
        drawn = self.drawn
        return Origin(
            family=drawn.family, structure=self.structure, seed=drawn.seed, index=drawn.index
        )

    @property
    def prompt(self) -> list[Message]:
        return as_messages(conversation(self.bench.canonical))

    @property
    def program(self) -> str:
        """Return the planner's favourite as completions have it."""
        return self.variant(0)

    def variant(self, number: int) -> str:
        """Return a variant of the planner's as completions have it."""
        return without_header(self.planned.variants[number].program)

    def kernel(self) -> Iterator[Record]:
        """The kernel alone."""
        right = self.bench.judge_program(self.program, timed=True)
        if right.correct and right.timing is not None:
            answer = self.answer(right)
            yield Chat(messages=[*self.prompt, answer], source="kernel", origin=self.origin)

    def interpreted(self) -> Iterator[Record]:
        """The kernel alone, where the interpreter says that it is right."""
        program = self.program
        if len(program) > _LONGEST:
            return
        lowered, plan = self.bench.accepted(program)
        if does(lowered.program, plan, self.bench.graph):
            answer = self.said(program, lowered, self.tiling(lowered, plan), None)
            yield Chat(messages=[*self.prompt, answer], source="variant", origin=self.origin)

    def records(self) -> Iterator[Record]:
        if len(self.program) > _LONGEST:
            raise NpuforgeError(f"a program of {len(self.program)} characters is too long")
        right = self.bench.judge_program(self.program, timed=True)
        if not right.correct or right.timing is None:
            raise NpuforgeError(f"not proven: {right.problem}")
        rng = random.Random(f"npuforge faults {self.drawn.seed} {self.drawn.index}")
        tiling = self.tiling(*right.accepted)
        answer = self.answer(right)
        yield Chat(messages=[*self.prompt, answer], source="kernel", origin=self.origin)
        yield ascendc_record(self.drawn, right, tiling, self.origin)
        yield project_record(self.drawn, right, tiling, self.origin)
        best = right
        if rng.random() < self.lessons:
            yield from self.repairs(right, answer, rng)
            if len(self.planned.variants) > 1 and rng.random() < _COMPARED:
                best = yield from self.compared(right, answer)
        yield GrownTask(
            prompt=self.prompt,
            task=JudgedBy(self.drawn.source, best.time_us),
            origin=self.origin,
        )

    def tiling(self, lowered: Lowered, plan: Plan) -> Tiling:
        sizes = fewer_rows(self.bench.graph, None)
        return compute_tiling(lowered, operand_shapes(plan, self.bench.graph, sizes))

    def answer(self, judged: Judged) -> Message:
        lowered, plan = judged.accepted
        return self.said(judged.program, lowered, self.tiling(lowered, plan), judged.timing)

    def said(
        self, program: str, lowered: Lowered, tiling: Tiling, timing: TimingReport | None
    ) -> Message:
        thought = reasoning(
            self.bench.canonical,
            lowered,
            schedules(self.planned.variants[0].program),
            tiling,
            timing,
        )
        return Message("assistant", f"<think>\n{thought}\n</think>\n{program}")

    def repairs(self, right: Judged, answer: Message, rng: random.Random) -> Iterator[Record]:
        """Programs with a fault, what the compiler or the twin says to them, and the repair."""
        built = 0
        for name in rng.sample(sorted(faults()), _TRIED):
            wrong = seeded(right.program, name, rng)
            if wrong is None:
                continue
            judged = self.bench.judge_program(wrong) if built < _BUILT else None
            if judged is None:
                return
            built += judged.parsed
            if judged.correct or not judged.problem:
                continue
            yield self.repair(wrong, judged, answer)
            if judged.compiled:
                yield Preference(
                    prompt=self.prompt,
                    chosen=[answer],
                    rejected=[_instead(answer, right.program, wrong)],
                    why="wrong",
                    origin=self.origin,
                )

    def repair(self, wrong: str, judged: Judged, answer: Message) -> Chat:
        said = "It does not compile" if not judged.compiled else "It runs and is wrong"
        asked = (
            f"{self.prompt[-1].content}This program was written for it:\n{wrong}"
            f"{said}: {judged.problem}\nWrite it correctly.\n"
        )
        return Chat(
            messages=[self.prompt[0], Message("user", asked), answer],
            source="repair",
            origin=self.origin,
        )

    def compared(self, right: Judged, answer: Message) -> Generator[Record, None, Judged]:
        """The variants against each other; the value is the fastest that is proven."""
        best, best_answer = right, answer
        for variant in range(1, len(self.planned.variants)):
            other = self.bench.judge_program(self.variant(variant), timed=True)
            if not other.correct or not other.time_us or not best.time_us:
                continue
            said = self.answer(other)
            (fast, chosen), (slow, rejected) = sorted(
                [(best, best_answer), (other, said)], key=lambda pair: pair[0].time_us or 0.0
            )
            assert fast.time_us is not None
            assert slow.time_us is not None
            if slow.time_us >= _NOTABLE * fast.time_us:
                yield Preference(
                    prompt=self.prompt,
                    chosen=[chosen],
                    rejected=[rejected],
                    why="slower",
                    origin=self.origin,
                )
            best, best_answer = fast, chosen
        return best


def _instead(answer: Message, right: str, wrong: str) -> Message:
    return Message("assistant", answer.content.replace(right, wrong))
