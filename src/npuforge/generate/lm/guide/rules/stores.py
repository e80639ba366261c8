# SPDX-License-Identifier: Apache-2.0
"""How results are stored follows from what they have of a kernel's rows and columns.

Where elements stay where they are and each result has a buffer, all 2,907 taught kernels store them
in this way, in the order of their outlines.
"""

from __future__ import annotations

from npuforge.generate.lm.form.quoted import indentation
from npuforge.generate.lm.guide.facts.counted import product
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.generate.lm.guide.facts.outer import each_of, outer_of, part_of
from npuforge.generate.lm.guide.facts.picked import leaves_in_place
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose

_COPYOUT = "with tl.copyout():"


def stored(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str:
    """The lines after the one that begins a block of stores; nothing where there is a choice."""
    if not last.endswith(_COPYOUT):
        return ""
    if not leaves_in_place(purpose, meaning) and outer_of(purpose, meaning) is None:
        return ""
    lines = [_store(name, body, purpose, meaning) for name in purpose.leaves]
    if None in lines:
        return ""
    return "".join(f"{indentation(last)}    {line}\n" for line in lines)


def _store(name: str, body: str, purpose: Purpose, meaning: Meaning) -> str | None:
    value = meaning.results.get(name) or purpose.leaves[name]
    same = [one for one in purpose.leaves if value and meaning.results.get(one) == value]
    held = (f"{one}_out" for one in (name, *same) if f" {one}_out = " in body)
    buffer = next(held, None)
    elements = meaning.elements(value) if value in meaning.lines and value else None
    rows = product(purpose.parameters.get("rows", ""))
    cols = product(purpose.parameters.get("cols", ""))
    if elements is None or buffer is None:
        return None
    if value and outer_of(purpose, meaning) is not None:
        return _again(name, value, buffer, purpose, meaning)
    if purpose.way.startswith(STREAM):
        if cols and elements == cols:
            return f"tl.store({name} + start, {buffer}[:m])"
        alone = not elements and not purpose.parameters
        return f"tl.store({name}, {buffer}[:1])" if alone else None
    if not purpose.way.startswith(ROWS) or not rows or not cols or rows == cols:
        return None
    if elements == rows + cols:
        return f"tl.store({name} + start * cols, {buffer}[:n, :], stride=cols)"
    return f"tl.store({name} + start, {buffer}[:n])" if elements == rows else None


def _again(name: str, value: str, buffer: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """In a kernel that goes over an outer extent."""
    kind, each = part_of(value, purpose, meaning), each_of(purpose)
    if purpose.way.startswith(STREAM):
        return f"tl.store({name} + i0 * cols + start, {buffer}[:m])" if kind == "oc" else None
    if kind == "orc" and each is not None:
        return f"tl.store({name} + i0 * {each} + start * cols, {buffer}[:n, :], stride=cols)"
    return f"tl.store({name} + i0 * rows + start, {buffer}[:n])" if kind == "or" else None
