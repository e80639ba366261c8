# SPDX-License-Identifier: Apache-2.0
"""Many answers to one module, judged for whether they compile and are right, and nothing else.

Most of what a judgement takes is the C++ compiler. So a kernel that several programs come to is
compiled once, and all kernels together; programs that launch the same kernel in the same way are
run once; and what is wrong in one case is not run on the next. The judgements are those of
`Bench.judge_program`, with the first thing wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from npuforge.errors import UsageError
from npuforge.lower.formats import direct
from npuforge.lower.on_twin import TwinProgram
from npuforge.lower.tiling import compute_tiling
from npuforge.plan import Plan
from npuforge.train.judge import Bench, Judged
from npuforge.twin.together import Part, build_together

_TOGETHER = 8  # kernels: more save little, and the compiler's memory and time are limited

_Shapes = Mapping[str, tuple[int, ...]]  # of a case, by the graph's sources


def judge_many(bench: Bench, programs: Iterable[str]) -> dict[str, Judged]:
    """The judgement of each program; equal ones are judged once."""
    found: dict[str, Judged] = {}
    accepted: dict[str, tuple[TwinProgram, Plan]] = {}
    for program in dict.fromkeys(programs):
        try:
            lowered, plan = bench.accepted(program)
        except (UsageError, RecursionError) as error:
            found[program] = Judged(program, problem=str(error) or type(error).__name__)
        else:
            accepted[program] = TwinProgram(lowered), plan
    if not accepted:
        return found
    _build([one for one, _ in accepted.values()])
    shapes = _shapes(bench)
    known: dict[tuple[object, ...], Judged] = {}
    for program, (built, plan) in accepted.items():
        runs = _runs(built, plan, shapes)
        if runs not in known:
            known[runs] = bench.judge_built(program, built, plan, briefly=True)
        found[program] = replace(known[runs], program=program)
    return found


def _build(programs: Sequence[TwinProgram]) -> None:
    """Build the programs' kernels together; those that cannot be are left to be built alone."""
    by_part: dict[Part, list[TwinProgram]] = {}
    for program in programs:
        by_part.setdefault(Part(program.source, program.entry), []).append(program)
    parts = list(by_part)
    for start in range(0, len(parts), _TOGETHER):
        some = parts[start : start + _TOGETHER]
        for part, build in zip(some, build_together(some) or (), strict=False):
            for program in by_part[part]:
                program.given = build


def _shapes(bench: Bench) -> list[_Shapes]:
    """The shapes of every case; none where the module refuses it."""
    names = [source.name for source in bench.graph.sources]
    answers = (bench.references.answer(number) for number in range(len(bench.cases)))
    return [
        {name: held.shape for name, held in zip(names, answer.sources, strict=False)}
        for answer in answers
    ]


def _runs(program: TwinProgram, plan: Plan, cases: Sequence[_Shapes]) -> tuple[object, ...]:
    """All that decides what becomes of a program in the cases: its kernel, the tensors it is given,
    and how it is launched, or why it is not."""
    tensors = tuple(
        (one.name, one.role, one.dtype) for one in direct.pointers(program.lowered.host)
    )
    launches: list[str] = []
    for shapes in cases:
        given = {
            operand.name: shapes[operand.source]
            for operand in plan.operands
            if operand.source is not None and operand.source in shapes
        }
        try:
            launches.append(repr(compute_tiling(program.lowered, given)) if shapes else "")
        except UsageError as error:
            launches.append(f"refused: {error}")
    return program.source, tensors, plan, tuple(launches)
