# SPDX-License-Identifier: Apache-2.0
"""Many answers to one module, judged for whether they compile and are right, and nothing else.

Most of what a judgement takes is the C++ compiler. So programs that come to the same kernel and the
same host code are judged once, the others are compiled together, and what is wrong in one case is
not run on the next. The judgements are those of `Bench.judge_program`, with the first thing wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from npuforge.errors import UsageError
from npuforge.lower.compiler import Lowered
from npuforge.lower.formats import direct
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan import Plan
from npuforge.train.judge import Bench, Judged
from npuforge.twin.together import Part, build_together

_TOGETHER = 8  # programs: more save little, and the compiler's memory and time are limited


@dataclass(frozen=True, slots=True)
class _Accepted:
    """What the compiler made of a program; `text` has all of it, kernels and host."""

    program: str
    text: str
    lowered: Lowered
    plan: Plan


def judge_many(bench: Bench, programs: Iterable[str]) -> dict[str, Judged]:
    """The judgement of each program; equal ones are judged once."""
    found: dict[str, Judged] = {}
    same: dict[tuple[str, Plan], list[_Accepted]] = {}
    for program in dict.fromkeys(programs):
        try:
            lowered, plan = bench.accepted(program)
        except (UsageError, RecursionError) as error:
            found[program] = Judged(program, problem=str(error) or type(error).__name__)
            continue
        one = _Accepted(program, direct.program_source(lowered.host), lowered, plan)
        same.setdefault((one.text, plan), []).append(one)
    groups = list(same.values())
    for start in range(0, len(groups), _TOGETHER):
        some = groups[start : start + _TOGETHER]
        for group, built in zip(some, _built([group[0] for group in some]), strict=True):
            judged = bench.judge_built(group[0].program, built, group[0].plan, briefly=True)
            found |= {one.program: replace(judged, program=one.program) for one in group}
    return found


def _built(accepted: Sequence[_Accepted]) -> list[TwinProgram]:
    """The programs, built together where all of them compile."""
    alone = [TwinProgram(one.lowered) for one in accepted]
    builds = build_together([Part(program.source, program.entry) for program in alone])
    if builds is None:
        return alone
    return [
        TwinProgram(program.lowered, given=build)
        for program, build in zip(alone, builds, strict=True)
    ]
