# SPDX-License-Identifier: Apache-2.0
"""The time at the given shapes, also where modelling every tile would take minutes.

Work on many rows repeats: every so many rows all cores do the same again. So a large launch is
modelled with the first rows and with one period more, and the rest is added in whole periods. The
number of rows modelled has the remainder of the full number, so that the last, partly empty round
counts. Where the two times are not in proportion, the launch is modelled in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from npuforge.dtypes import HostTensor
from npuforge.generate.cases import (
    Sizes,
    counter,
    fewer_rows,
    free_symbols,
    operand_shapes,
    operand_values,
)
from npuforge.generate.program import Program
from npuforge.plan import Plan
from npuforge.sandbox import Limits
from npuforge.spec.graph import Graph
from npuforge.twin.execute import RunResult
from npuforge.twin.timing.report import PipeTimes, TimingReport

_IN_FULL = 600_000_000  # elements up to which a launch is modelled whole
_STEADY = 100_000_000  # elements that no longer fit a cache
_PERIOD = 40_000_000
_ROUNDS = (48, 12)  # rows in a period are a multiple of this: cores, or cores with parts of rows
_LEAST_PERIODS = 4
_SCALES = (1, 2, 4)
_PROPORTION = (0.75, 1.25)
# A kernel that follows values may run on and on without data; it is then timed with data.
_LIMITS = Limits(cpu_s=40.0, wall_s=60.0)


@dataclass(frozen=True, slots=True)
class Timed:
    """The run with its report at the given shapes; `note` says where that is no plain run."""

    result: RunResult
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Split:
    """`whole` rows of `symbol`: `first` are modelled, then `period` more; `times` are left."""

    symbol: str
    whole: int
    first: int
    period: int

    @property
    def times(self) -> int:
        return (self.whole - self.first) // self.period


def in_full(
    program: Program,
    plan: Plan,
    graph: Graph,
    trace: Path,
    given: Callable[[], Mapping[str, HostTensor]] = dict,
) -> Timed:
    """The time at the given shapes, with the given values where they matter; `trace` gets a
    timeline."""
    sizes = fewer_rows(graph, None)
    if program.follows_values:
        values = operand_values(plan, given())
        shapes = operand_shapes(plan, graph, sizes)
        result = program.time(shapes, values=values, trace=trace, limits=_LIMITS)
        return Timed(result, result.timing_note)
    for scale in _SCALES:  # tiles may cover more rows than a period: then a longer one is tried
        split = _split(graph, sizes, scale)
        if split is None:
            break
        timed = _by_periods(program, plan, graph, sizes, split, trace)
        if timed is not None:
            return timed
    result = program.time(operand_shapes(plan, graph, sizes), trace=trace, limits=_LIMITS)
    return Timed(result, result.timing_note)


def _split(graph: Graph, sizes: Sizes, scale: int) -> _Split | None:
    count = counter(graph)
    if count(sizes) <= _IN_FULL:
        return None
    outer = min(free_symbols(graph), key=lambda symbol: symbol.axis, default=None)
    if outer is None:
        return None
    whole = sizes[outer.name]
    a_row = max(1, count({**sizes, outer.name: 2}) - count({**sizes, outer.name: 1}))
    for rounds in _ROUNDS:
        period = scale * rounds * _up(_PERIOD, rounds * a_row)
        first = period * _up(_STEADY, period * a_row) + whole % period
        if whole >= first + _LEAST_PERIODS * period:
            return _Split(outer.name, whole, first, period)
    return None


def _up(value: int, unit: int) -> int:
    return max(1, -(-value // unit))


def _by_periods(
    program: Program, plan: Plan, graph: Graph, sizes: Sizes, split: _Split, trace: Path
) -> Timed | None:
    def run(rows: int, timeline: Path | None) -> RunResult:
        shapes = operand_shapes(plan, graph, {**sizes, split.symbol: rows})
        return program.time(shapes, trace=timeline)

    with ThreadPoolExecutor(2) as pool:
        some, more = pool.map(run, (split.first, split.first + split.period), (trace, None))
    if some.timing is None or more.timing is None or some.timing_note or more.timing_note:
        return None
    low, high = _PROPORTION
    expected = some.timing.time_us * split.period / split.first
    if not low * expected <= more.timing.time_us - some.timing.time_us <= high * expected:
        return None
    report = extended(some.timing, more.timing, split.times)
    note = (
        f"time and timeline: {split.first} of {split.whole} rows modelled, "
        f"the rest in periods of {split.period}"
    )
    return Timed(replace(some, timing=report), note)


def extended(some: TimingReport, more: TimingReport, times: int) -> TimingReport:
    """The report with what `more` has beyond `some` added `times` times."""

    def grown(first: float, second: float) -> float:
        return first + times * (second - first)

    time_us = grown(some.time_us, more.time_us)
    ours, theirs = some.roofline, more.roofline
    best = grown(ours.best_us, theirs.best_us)
    roofline = replace(
        ours,
        best_us=best,
        memory_us=grown(ours.memory_us, theirs.memory_us),
        compute_us=grown(ours.compute_us, theirs.compute_us),
        share=min(1.0, best / time_us),
    )
    pipes = {
        name: PipeTimes(
            grown(pipe.busy_us, more.pipes[name].busy_us),
            grown(pipe.wait_us, more.pipes[name].wait_us),
            grown(pipe.instructions, more.pipes[name].instructions),
        )
        for name, pipe in some.pipes.items()
        if name in more.pipes
    }
    return replace(more, time_us=time_us, pipes=pipes, roofline=roofline)
