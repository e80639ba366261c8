# SPDX-License-Identifier: Apache-2.0
"""Measured against modelled: the table and the three figures that sum it up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Comparison:
    name: str
    measured_us: float
    modelled_us: float
    note: str = ""

    @property
    def error(self) -> float:
        """Signed, relative to the measurement."""
        return self.modelled_us / self.measured_us - 1.0


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Rank correlation with average ranks for ties; 0 when one side is constant."""
    first, second = _ranks([a for a, _ in pairs]), _ranks([b for _, b in pairs])
    mean_a, mean_b = sum(first) / len(first), sum(second) / len(second)
    covariance = sum((a - mean_a) * (b - mean_b) for a, b in zip(first, second, strict=True))
    variance_a = sum((a - mean_a) ** 2 for a in first)
    variance_b = sum((b - mean_b) ** 2 for b in second)
    if variance_a == 0 or variance_b == 0:
        return 0.0
    return float(covariance / (variance_a * variance_b) ** 0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = (i + j) / 2
        i = j + 1
    return ranks


def print_table(rows: Sequence[Comparison]) -> None:
    """The table, then median error, Spearman and the worst five."""
    if not rows:
        print("no case matches")
        return
    for row in rows:
        times = f"measured {row.measured_us:10.2f} us  modelled {row.modelled_us:10.2f} us"
        print(f"{row.name:32} {times}  {row.error:+7.1%}  {row.note}".rstrip())
    errors = [abs(row.error) for row in rows]
    correlation = spearman([(row.measured_us, row.modelled_us) for row in rows])
    print(
        f"cases {len(rows)}  median error {median(errors):.1%}  spearman {correlation:.3f}  "
        f"within 20 % {sum(e <= 0.2 for e in errors)}/{len(rows)}"
    )
    worst = sorted(rows, key=lambda row: -abs(row.error))[:5]
    print("worst: " + "; ".join(f"{row.name} {row.error:+.0%}" for row in worst))
