# SPDX-License-Identifier: Apache-2.0
"""Program text line by line, indented by the blocks it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

_LANES = {"float32": 8, "float16": 16, "bfloat16": 16}


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

    def store_rows(
        self, pointer: str, buffer: str, rows: str, cols: str, stride: str, dtype: str
    ) -> None:
        """Rows to global memory: whole 32 byte blocks first, then what is left of each row.

        Rows of another length are written much more slowly.
        """
        self.add(
            f"blocked = tl.align_down({cols}, {_LANES[dtype]})",
            f"tl.store({pointer}, {buffer}[{rows}, :blocked], stride={stride})",
            f"tl.store({pointer} + blocked, "
            f"{buffer}[{rows}, blocked : blocked + ({cols} - blocked)], stride={stride})",
        )

    def text(self) -> str:
        return "\n".join(self.found) + "\n"
