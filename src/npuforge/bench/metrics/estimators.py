# SPDX-License-Identifier: Apache-2.0
"""Estimators and their intervals; all intervals are of 95 %."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # the normal quantile that leaves 2.5 % on either side
_ROUNDS = 4000
_SEED = 20260101  # intervals belong to the result: the same run gives the same ones
_CHUNK = 1 << 20  # drawn numbers held at once


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its interval; all None where there is nothing to tell it from."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


def at_k(n: int, c: int, k: int) -> float:
    """The chance that k of n samples, drawn without repetition, hold one of the c good ones.

    1 - C(n-c, k) / C(n, k): unbiased for "one of k succeeds" where n >= k were tried.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"no {c} good of {n} samples, {k} drawn")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def wilson(successes: int, trials: int) -> Estimate:
    """A share of independent trials with Wilson's interval, which holds up at 0 % and 100 %."""
    if trials == 0:
        return Estimate()
    share = successes / trials
    spread = _Z * _Z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt((share * (1 - share) + spread / 4) / trials) / (1 + spread)
    # At the ends the interval touches them; rounding must not leave the value outside.
    return Estimate(share, min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share))


def mean(values: Sequence[float]) -> Estimate:
    """The mean over tasks, with a bootstrap over tasks; one value alone has no interval."""
    return _resampled(values, lambda drawn: drawn.mean(axis=-1))


def median(values: Sequence[float]) -> Estimate:
    """The median over tasks, with a bootstrap over tasks."""
    return _resampled(values, lambda drawn: np.median(drawn, axis=-1))


def geometric_mean(values: Sequence[float]) -> Estimate:
    """The geometric mean of positive values, with a bootstrap over tasks."""
    found = mean([math.log(value) for value in values])
    return Estimate(
        *(None if x is None else math.exp(x) for x in (found.value, found.low, found.high))
    )


def paired_shares(gained: int, lost: int, pairs: int) -> Estimate:
    """The difference of two shares over the same tasks, with Agresti and Min's interval.

    It counts half a pair more of each kind, so that no change in few pairs is not called certain.
    """
    if pairs == 0:
        return Estimate()
    value = (gained - lost) / pairs
    total = pairs + 2
    centre = (gained - lost) / total
    variance = (gained + lost + 1 - (gained - lost) ** 2 / total) / total**2
    half = _Z * math.sqrt(max(variance, 0.0))
    low, high = max(centre - half, -1.0), min(centre + half, 1.0)
    return Estimate(value, min(low, value), max(high, value))


def _resampled(values: Sequence[float], statistic: Any) -> Estimate:
    """Percentiles of a statistic over tasks drawn again and again with repetition."""
    if not values:
        return Estimate()
    seen: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    value = float(statistic(seen))
    if len(seen) == 1:
        return Estimate(value)
    random = np.random.default_rng(_SEED)
    rounds = max(1, _CHUNK // len(seen))
    found = [
        statistic(seen[random.integers(len(seen), size=(min(rounds, _ROUNDS - done), len(seen)))])
        for done in range(0, _ROUNDS, rounds)
    ]
    low, high = np.quantile(np.concatenate(found), (0.025, 0.975))
    return Estimate(value, min(float(low), value), max(float(high), value))
