# SPDX-License-Identifier: Apache-2.0
"""What the emitters of one kernel share: names, printed expressions, helpers, temporaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from npuforge.dtypes import DType
from npuforge.lower import library
from npuforge.lower.buffers import Kind, Plan
from npuforge.lower.cpp import Printer
from npuforge.lower.geometry import Geometry, Rows, element_bytes
from npuforge.lower.names import Namer
from npuforge.lower.scratch import scratch_size
from npuforge.tile.expr import ZERO, Call, Const, Expr, Type, align_up, mul
from npuforge.tile.facts import Facts
from npuforge.tile.ir import Buffer, View

_DEVICE_TYPES = {
    "float16": "half",
    "bfloat16": "bfloat16_t",
    "float32": "float",
    "bool": "uint8_t",
}


def device_type(dtype: DType | None) -> str:
    """The element type in C++; masks and truth values are bytes."""
    if dtype is None:
        return "uint8_t"
    return _DEVICE_TYPES.get(dtype.name, f"{dtype.name}_t")


@dataclass(slots=True)
class Context:
    """State while the code of one kernel is written."""

    facts: Facts
    geometry: Geometry
    plan: Plan
    names: Namer
    printer: Printer
    helpers: dict[str, None] = field(default_factory=dict)  # in order of first use
    scratch: list[Expr] = field(default_factory=list)
    uses_wait: bool = False
    _sized: dict[tuple[str, tuple[Expr, ...]], Expr] = field(default_factory=dict)

    def text(self, expr: Expr, parent: int = 0) -> str:
        return self.printer(expr, parent)

    def local(self, buffer: Buffer) -> str:
        """The LocalTensor of a buffer."""
        return self.names.name(buffer.name, "Local")

    def element(self, buffer: Buffer) -> str:
        return device_type(buffer.dtype)

    def at(self, buffer: Buffer, offset: Expr) -> str:
        """A tensor that starts `offset` elements into the buffer."""
        if buffer.dtype is None and offset != ZERO:
            offset = Call("cdiv", (offset, Const(8)))  # views of masks start at whole bytes
        return (
            self.local(buffer) if offset == ZERO else f"{self.local(buffer)}[{self.text(offset)}]"
        )

    def start(self, view: View) -> str:
        return self.at(view.buffer, self.geometry.offset(view))

    def rows(self, view: View) -> Rows:
        found = self.geometry.rows(view)
        assert found is not None, "the checks refuse views that are not rows"
        return found

    def scalar(self, value: Expr, dtype: DType) -> str:
        """A scalar operand in the element type of the tile."""
        text = self.text(value)
        kind = device_type(dtype)
        if kind == "float" and value.type is Type.FLOAT:
            return text
        return f"static_cast<{kind}>({text})"

    def wait(self, event: str) -> str:
        """One pipe waits for another: `V_S`, `MTE2_V`, ..."""
        self.uses_wait = True
        return f"WaitFor<HardEvent::{event}>();"

    def helper(self, name: str, sizes: Mapping[str, Expr] | None = None) -> str:
        """Use a library function; its temporary is sized for `sizes`, the largest possible."""
        self.helpers.setdefault(name)
        formula = library.helper(name).scratch
        if formula != "0":
            wanted = (formula, tuple((sizes or {}).values()))
            if wanted not in self._sized:
                self._sized[wanted] = scratch_size(formula, sizes or {})
            self.scratch.append(self._sized[wanted])
        return name

    def need_scratch(self, size: Expr) -> None:
        self.scratch.append(align_up(size, 32))

    def most(self, buffer: Buffer) -> dict[str, Expr]:
        """Sizes for temporaries: a view is never larger than its buffer."""
        leading = Const(1) if len(buffer.shape) == 1 else buffer.shape[0]
        if len(buffer.shape) == 3:
            leading = mul(leading, buffer.shape[1])
        return {
            "rows": leading,
            "cols": buffer.shape[-1],
            "pitch": self.geometry.pitch(buffer),
            "n": self.geometry.elements(buffer),
            "k": buffer.shape[-1],
            "size": Const(element_bytes(buffer)),
        }

    def kind(self, buffer: Buffer) -> Kind:
        return self.plan.buffers[buffer.name].kind

    def each_row(self, views: Sequence[View], call: str, indent: str = "    ") -> list[str]:
        """`call` with {0}, {1}, ... for the tensors and {n} for the count, as few times as can be.

        One call where the rows follow each other without gaps, otherwise one for each row.
        """
        rows = [self.rows(view) for view in views]
        count = self.geometry.flat(rows)
        if count is not None:
            starts = [self.at(item.view.buffer, item.offset) for item in rows]
            return [call.format(*starts, n=self.text(count))]
        counter = self.names.name("row_index")
        starts = []
        for item in rows:
            step = f"{counter} * {self.text(item.pitch, 7)}"
            start = step if item.offset == ZERO else f"{self.text(item.offset)} + {step}"
            starts.append(f"{self.local(item.view.buffer)}[{start}]")
        width = self._row_count(rows)
        return [
            f"for (int64_t {counter} = 0; {counter} < {self.text(rows[0].rows)}; ++{counter}) {{",
            indent + call.format(*starts, n=self.text(width)),
            "}",
        ]

    def _row_count(self, rows: Sequence[Rows]) -> Expr:
        """Elements of one row: whole rows take their pads along, so that they are written too."""
        if all(self.geometry.full_width(item.view) for item in rows):
            pitches = {self.text(item.pitch): item.pitch for item in rows}
            if len(pitches) == 1:
                return next(iter(pitches.values()))
            destination = rows[0]
            finest = max(
                element_bytes(item.view.buffer)
                for item in rows
                if item.view is not destination.view
            )
            if finest <= element_bytes(destination.view.buffer):
                return destination.pitch
        return rows[0].cols
