# SPDX-License-Identifier: Apache-2.0
"""Buffers that instructions read past the end of.

What makes a mask reads whole blocks of 256 bytes, whatever it is asked for: buffers are as long as
that anyway, unless what it reads begins inside of one.
"""

from __future__ import annotations

from npuforge.tile.expr import Const
from npuforge.tile.ir import Kernel, Op, View, walk

BLOCK = 256  # bytes
_WHOLE = frozenset({"compare", "is_nan", "is_inf"})


def read_past_the_end(kernel: Kernel) -> set[str]:
    """The names of such buffers."""
    return {
        operand.buffer.name
        for statement in walk(kernel.body)
        if isinstance(statement, Op) and statement.name in _WHOLE
        for operand in statement.ins
        if isinstance(operand, View) and any(axis.start != Const(0) for axis in operand.axes)
    }
