# SPDX-License-Identifier: Apache-2.0
"""CANN Bench's score: how near a case comes to the hardware's bound, an operator, a whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npuforge.bench.suites.cannbench import protocol


def hap(time_us: float | None, baseline_us: float | None, bound_us: float | None) -> float | None:
    """Hardware-anchored performance: 1/2 at the baseline, 1 at the bound, more beyond it.

    None where there is no time or no bound, or where the formula has no meaning. A baseline that
    nobody measured is replaced by the published proxy.
    """
    if not time_us or not bound_us or time_us <= 0 or bound_us <= 0:
        return None
    slack = (baseline_us if baseline_us and baseline_us > 0 else proxy(bound_us)) - bound_us
    whole = time_us - bound_us + slack
    return slack / whole if whole > 0 else None


def proxy(bound_us: float) -> float:
    """The baseline that stands in for one nobody measured."""
    weights = protocol.load().score
    return max(weights.proxy_factor * bound_us, weights.proxy_least_us)


@dataclass(frozen=True, slots=True)
class CaseScore:
    """`ran`: no failure other than a wrong number. `hap` counts only where `accurate`."""

    ran: bool
    accurate: bool
    hap: float | None


def operator(compiled: bool, cases: Sequence[CaseScore]) -> float:
    """An operator's score, of 100 (more where the bound was beaten).

    The paper on Hawk writes 20 CS + 30 Acc + 50 PR: the same sum, with PR the mean of `hap`.
    """
    if not compiled or not cases:
        return 0.0
    weights = protocol.load().score
    right = [case for case in cases if case.accurate]
    total = weights.compile * sum(case.ran for case in cases)
    total += weights.accuracy * len(right)
    total += weights.performance * sum(case.hap or 0.0 for case in right)
    return 100.0 * total / len(cases)
