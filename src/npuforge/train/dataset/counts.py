# SPDX-License-Identifier: Apache-2.0
"""The counts of a dataset: what its files hold and what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Counts:
    """Records of each kind, operators of each family, and the reasons of what is left out."""

    operators: int = 0
    grown: int = 0
    records: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    structures: set[str] = field(default_factory=set)
