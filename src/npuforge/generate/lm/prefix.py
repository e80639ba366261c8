# SPDX-License-Identifier: Apache-2.0
"""The prefix check: the compiler accepts or rejects each line of a program being written.

A grammar knows which texts are programs. Names, types and shapes are the compiler's: after each
line it says whether a program can begin so, whatever follows. It never writes a line.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from npuforge import dtypes
from npuforge.errors import NpuforgeError
from npuforge.generate.lm.answer import program_in
from npuforge.generate.lm.grammar import END_OF_THOUGHT
from npuforge.generate.lm.prompt.canonical import OPERATOR
from npuforge.generate.written.signature import Signature
from npuforge.lower.compiler import lower
from npuforge.tile import chip_constants
from npuforge.tile.beginning import in_host, in_kernel
from npuforge.tile.ir import Role, Tensor
from npuforge.tile.parse import KERNEL_DECORATOR
from npuforge.tile.source import NOWHERE, Finding

_KERNEL = f"@{KERNEL_DECORATOR}\n"
_HOST = f"\ndef {OPERATOR}_host("
_ROLES = {"input": "in", "output": "out", "inout": "inout"}


@dataclass(frozen=True, slots=True)
class PrefixCheck:
    """A `Check` of programs for a signature, by the tile language's compiler."""

    tensors: Mapping[str, Tensor]
    soc: str

    @classmethod
    def of(cls, signature: Signature | None, soc: str) -> PrefixCheck:
        parameters = signature.parameters if signature is not None else ()
        tensors = {
            one.operand.name: Tensor(
                one.operand.name,
                dtypes.find(one.dtype),
                cast(Role, _ROLES[one.operand.role]),
                None,
                NOWHERE,
            )
            for one in parameters
        }
        return cls(tensors, soc)

    def line(self, completion: str) -> str | None:
        """Return why the last line cannot stand. A comment, and a line that goes on in the next
        one, can."""
        _, thought, program = completion.partition(f"{END_OF_THOUGHT}\n")
        last = program.rstrip("\n").rpartition("\n")[2].strip()
        if not thought or not last or last.startswith("#") or _goes_on(program):
            return None
        kernel = program.rpartition(_KERNEL)[2]
        try:
            if _HOST in kernel:
                return _reason(in_host(program, chip_constants(self.soc)))
            if not kernel.startswith("def "):
                return None
            return _reason(in_kernel(_KERNEL + kernel, self.tensors, chip_constants(self.soc)))
        except (NpuforgeError, RecursionError) as error:
            return str(error) or type(error).__name__

    def end(self, completion: str) -> str | None:
        """Return why the compiler refuses the whole program."""
        try:
            lower(program_in(completion), self.soc)
        except (NpuforgeError, RecursionError) as error:
            return str(error) or type(error).__name__
        return None


def _goes_on(program: str) -> bool:
    """Return whether the last line ends inside brackets."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(program).readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:
        return False
    return False


def _reason(findings: list[Finding]) -> str | None:
    return next((f"{one.rule}: {one.message}" for one in findings), None)
