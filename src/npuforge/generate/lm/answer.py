# SPDX-License-Identifier: Apache-2.0
"""The program in a completion, and its tensors as those of the module."""

from __future__ import annotations

from npuforge.generate.lm.prompt.canonical import Names
from npuforge.generate.written.signature import Signature
from npuforge.plan import Operand
from npuforge.tile.ir import Host
from npuforge.tile.parse import LANGUAGE_IMPORT

_END = "</think>"
_FENCE = "```"


def program_in(completion: str) -> str:
    """Return the text after the reasoning, without its fence if it has one."""
    text = completion.rpartition(_END)[2].strip("\n")
    if _FENCE in text:
        text = text.partition(_FENCE)[2].partition("\n")[2].partition(_FENCE)[0]
    return text.rstrip() + "\n"


def present_operands(whole: Signature, host: Host) -> Signature:
    """Return the signature without the inputs that a program leaves out because it reads none of
    their elements. Results are never left out."""
    names = {tensor.name for tensor in host.tensors}
    return whole.holding(
        [
            operand
            for operand in whole.operands
            if operand.result is not None or operand.name in names
        ]
    )


def own_operands(operands: tuple[Operand, ...], names: Names) -> tuple[Operand, ...]:
    """Return the operands of a canonical graph as those of the graph itself."""
    return tuple(
        Operand(
            operand.name,
            operand.role,
            names.sources[operand.source] if operand.source is not None else None,
            operand.result,
        )
        for operand in operands
    )


def without_header(program: str) -> str:
    """Return a planner's program from its import on, as completions have it."""
    return program[program.index(LANGUAGE_IMPORT) :]
