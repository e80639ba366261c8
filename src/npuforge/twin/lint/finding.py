# SPDX-License-Identifier: Apache-2.0
"""What the lint reports, and source text that has no file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npuforge import rules


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source that lives in a string; `name` stands for its path in reports."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule at one place; lines and columns start at 1."""

    file: str
    line: int
    column: int
    rule: str
    severity: rules.Severity
    message: str
    fix: str
