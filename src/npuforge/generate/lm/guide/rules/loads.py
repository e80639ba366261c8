# SPDX-License-Identifier: Apache-2.0
"""How a tensor is read follows from what it has of a kernel's rows and columns.

Where elements stay where they are that is all there is to it: of 10,568 tensors that taught kernels
of rows and streams read, all are read in one of these ways, but for how often a buffer is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from npuforge.generate.lm.form.quoted import MARK, about, indentation
from npuforge.generate.lm.guide.facts.columns import column
from npuforge.generate.lm.guide.facts.counted import product
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.outer import each_of, part_of
from npuforge.generate.lm.guide.facts.picked import leaves_in_place
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose

_ALL = (
    "{name}_in = tl.alloc_ub((tile, cols), dtype=tl.{dtype})",
    "tl.load({name} + start * cols, {name}_in[:n, :], stride=cols)",
)
_OF_ROWS = (
    "{name}_in = tl.alloc_ub(tile, dtype=tl.{dtype})",
    "tl.load({name} + start, {name}_in[:n])",
)
_SHARED = (
    "{name}_in = tl.alloc_ub(cols, dtype=tl.{dtype}, buffers=1)",
    "tl.load({name}, {name}_in[:])",
)
_ONE = (
    "{name}_in = tl.alloc_ub(8, dtype=tl.{dtype}, buffers=1)",
    "tl.load({name}, {name}_in[:1])",
)
_ELEMENTS = (
    "{name}_in = tl.alloc_ub(tile, dtype=tl.{dtype})",
    "tl.load({name} + start, {name}_in[:m])",
)
# The same in a kernel that goes over an outer extent too; `{each}` is what it has of each.
_AGAIN = {
    "orc": (_ALL[0], "tl.load({name} + i0 * {each} + start * cols, {name}_in[:n, :], stride=cols)"),
    "or": (_OF_ROWS[0], "tl.load({name} + i0 * rows + start, {name}_in[:n])"),
    "oc": (
        "{name}_in = tl.alloc_ub(cols, dtype=tl.{dtype})",
        "tl.load({name} + i0 * cols, {name}_in[:])",
    ),
    "o": (
        "{name}_in = tl.alloc_ub(8, dtype=tl.{dtype})",
        "tl.load({name} + i0, {name}_in[:1])",
    ),
    "rc": _ALL,
    "r": _OF_ROWS,
    "c": _SHARED,
    "": _ONE,
}


# The same in a stream that goes over an outer extent too.
_STREAMED = {
    "oc": (_ELEMENTS[0], "tl.load({name} + i0 * cols + start, {name}_in[:m])"),
    "c": _ELEMENTS,
    "o": _AGAIN["o"],
}


def loading(quote: str, purpose: Purpose, meaning: Meaning) -> str:
    """The lines after the quote of a tensor that is read; nothing where there is a choice."""
    name = about(quote)
    if name not in purpose.reads:
        return ""
    form = column(name, purpose, meaning)
    if form is None and name in meaning.picked:
        return ""
    if form is None:
        in_place = leaves_in_place(purpose, meaning)
        form = (form_of if in_place else _again)(name, purpose, meaning)
    if form is None:
        return ""
    _, *lines = reading(name, form, meaning)
    return "".join(f"{indentation(quote)}{line}\n" for line in lines)


def reading(name: str, form: Iterable[str], meaning: Meaning) -> list[str]:
    """The lines that read a tensor in a form, its quote first."""
    lines = (line.format(name=name, dtype=meaning.dtype(name)) for line in form)
    return [f"{MARK}{meaning.lines[name]}", *lines]


def form_of(name: str, purpose: Purpose, meaning: Meaning) -> tuple[str, str] | None:
    elements = meaning.elements(name)
    rows = product(purpose.parameters.get("rows", ""))
    cols = product(purpose.parameters.get("cols", ""))
    if elements is None or not cols:
        return None
    if not elements:
        return _ONE
    if purpose.way.startswith(STREAM):
        return _ELEMENTS if elements == cols and rows is None else None
    if not purpose.way.startswith(ROWS) or not rows or rows == cols:
        return None
    forms = ((rows + cols, _ALL), (rows, _OF_ROWS), (cols, _SHARED))
    return next((form for count, form in forms if elements == Counter(count)), None)


def _again(name: str, purpose: Purpose, meaning: Meaning) -> tuple[str, str] | None:
    """The form of a tensor in a kernel that goes over an outer extent."""
    kind = part_of(name, purpose, meaning)
    each = each_of(purpose)
    if kind is None or (kind == "orc" and each is None):
        return None
    room, load = (_STREAMED if purpose.way.startswith(STREAM) else _AGAIN)[kind]
    return room, load.replace("{each}", each or "")
