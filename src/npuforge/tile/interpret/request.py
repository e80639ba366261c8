# SPDX-License-Identifier: Apache-2.0
"""An operation with the values of its operands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npuforge.dtypes import AnyArray, DType, encode
from npuforge.tile.expr import Number
from npuforge.tile.interpret.cast import widened
from npuforge.tile.interpret.failure import failure
from npuforge.tile.ir import Op, View

Values = tuple[AnyArray, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """`operands` are the values of `op.ins`, `shapes` the extents of `op.outs`."""

    op: Op
    operands: tuple[AnyArray | Number, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def dtype(self) -> DType:
        """Element type of the first result."""
        found = self.op.outs[0].buffer.dtype
        assert found is not None, self.op
        return found

    def array(self, index: int) -> AnyArray:
        """The operand, which is a tile, in its storage form."""
        value = self.operands[index]
        assert isinstance(value, np.ndarray), self.op
        return value

    def element(self, index: int) -> AnyArray:
        """The operand in the storage form of the result; a scalar as an array without axes."""
        return self._typed(index, self.dtype)

    def like(self, index: int, other: int) -> AnyArray:
        """The operand in the element type of another operand, which is a tile."""
        view = self.op.ins[other]
        assert isinstance(view, View)
        assert view.buffer.dtype is not None
        return self._typed(index, view.buffer.dtype)

    def numbers(self, index: int) -> AnyArray:
        """The operand to compute with: floats of half width as float32."""
        return widened(self.element(index), self.dtype)

    def _typed(self, index: int, dtype: DType) -> AnyArray:
        value = self.operands[index]
        if isinstance(value, np.ndarray):
            return value
        if dtype.kind != "float":
            limits = np.iinfo(dtype.array_type)
            if not limits.min <= value <= limits.max:
                raise failure("TL-14", self.op.span, f"{value} does not fit {dtype.name}")
        return np.asarray(encode(np.asarray(value), dtype).data)
