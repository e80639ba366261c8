# SPDX-License-Identifier: Apache-2.0
"""Places in a tile program, and what is wrong at them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NamedTuple

from npuforge import rules
from npuforge.errors import NpuforgeError


class Span(NamedTuple):
    """A stretch of source; lines count from 1, columns from 1."""

    line: int
    column: int
    end_line: int
    end_column: int

    @staticmethod
    def of(node: ast.AST) -> Span:
        """Where a node stands; a module has no place and starts the text."""
        if not isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias):
            return NOWHERE
        line, column = node.lineno, node.col_offset
        end_line = node.end_lineno
        if end_line is None or node.end_col_offset is None:
            return Span(line, column + 1, line, column + 1)
        return Span(line, column + 1, end_line, node.end_col_offset + 1)


NOWHERE = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule of the language: where, what, and what to do about it."""

    rule: str
    span: Span
    message: str
    fix: str

    def line_text(self, file: str) -> str:
        """The finding as one line of a report."""
        return (
            f"{file}:{self.span.line}:{self.span.column}: [{self.rule}] {self.message} ({self.fix})"
        )


class TileError(NpuforgeError):
    """A program that does not compile; `findings` has every error found."""

    exit_status = 1

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = sorted(
            findings, key=lambda finding: (finding.span.line, finding.span.column)
        )
        first = self.findings[0]
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        super().__init__(
            f"line {first.span.line}: [{first.rule}] {first.message}; {first.fix}{more}"
        )


class Findings:
    """Collects findings, so that one run reports all of them."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def add(self, rule: str, where: Span | ast.AST, message: str, fix: str | None = None) -> None:
        """Note a broken rule; without `fix` the catalogue's own remedy is given."""
        span = where if isinstance(where, Span) else Span.of(where)
        finding = Finding(rule, span, message, fix or rules.get(rule).fix)
        if finding not in self._found:
            self._found.append(finding)

    def __bool__(self) -> bool:
        return bool(self._found)

    def all(self) -> list[Finding]:
        """In the order in which they were noted."""
        return list(self._found)

    def stop_if_any(self) -> None:
        """Raise what was found so far."""
        if self._found:
            raise TileError(self._found)
