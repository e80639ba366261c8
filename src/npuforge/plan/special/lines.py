# SPDX-License-Identifier: Apache-2.0
"""Program text line by line, indented by the blocks it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field


@dataclass
class Lines:
    """`with lines.block("for ..."):` indents what is added inside."""

    found: list[str] = field(default_factory=list)
    _depth: int = 0

    def add(self, *lines: str) -> None:
        self.found += [" " * 4 * self._depth + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(f"{head}:")
        self._depth += 1
        yield
        self._depth -= 1

    def copyin(self) -> AbstractContextManager[None]:
        return self.block("with tl.copyin()")

    def compute(self) -> AbstractContextManager[None]:
        return self.block("with tl.compute()")

    def copyout(self) -> AbstractContextManager[None]:
        return self.block("with tl.copyout()")

    def text(self) -> str:
        return "\n".join(self.found) + "\n"
