# SPDX-License-Identifier: Apache-2.0
"""What goes wrong while a program runs: a finding like those of the compiler, at its line."""

from __future__ import annotations

from npuforge import rules
from npuforge.tile.source import Finding, Span, TileError


def failure(rule: str, span: Span, message: str) -> TileError:
    """The error to raise for a rule broken at run time."""
    return TileError([Finding(rule, span, message, rules.get(rule).fix)])
