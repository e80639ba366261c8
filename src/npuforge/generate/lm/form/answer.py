# SPDX-License-Identifier: Apache-2.0
"""The program in a model's answer, and what it must stand for."""

from __future__ import annotations

from npuforge.generate.lm.question.task import Names
from npuforge.generate.written.signature import Signature
from npuforge.plan import Operand
from npuforge.tile.ir import Host

_END = "</think>"
_FENCE = "```"


def program_in(answer: str) -> str:
    """What follows the reasoning, out of its fence where there is one."""
    text = answer.rpartition(_END)[2].strip("\n")
    if _FENCE in text:
        text = text.partition(_FENCE)[2].partition("\n")[2].partition(_FENCE)[0]
    return text.rstrip() + "\n"


def held(whole: Signature, host: Host) -> Signature:
    """The tensors of the signature that a program has: it may do without inputs it does not read,
    never without a result."""
    names = {tensor.name for tensor in host.tensors}
    return whole.holding(
        [
            operand
            for operand in whole.operands
            if operand.result is not None or operand.name in names
        ]
    )


def own_operands(operands: tuple[Operand, ...], names: Names) -> tuple[Operand, ...]:
    """Operands of a canonical graph as those of the graph itself."""
    return tuple(
        Operand(
            operand.name,
            operand.role,
            names.sources[operand.source] if operand.source is not None else None,
            operand.result,
        )
        for operand in operands
    )
