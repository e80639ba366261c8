# SPDX-License-Identifier: Apache-2.0
"""A value that was begun is finished before the next one is.

A model that has written the first of two instructions sees the quote of the next value coming, and
goes on to it; the buffer of the value is missing for the rest of the program. Of 36,459 values that
taught kernels of rows and streams quote in order to compute them 36,440 have a buffer before the
next quote.
"""

from __future__ import annotations

import re
from collections import Counter

from npuforge.generate.lm.form.quoted import about, indentation, is_quote
from npuforge.generate.lm.guide.facts.counted import product
from npuforge.generate.lm.guide.facts.meaning import Meaning, known_operations
from npuforge.generate.lm.guide.facts.picked import leaves_in_place
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose

_COPYOUT = "with tl.copyout():"
_WIDE = "float32"
_FOLDING = re.compile(
    r"^(?:arange|sum|mean|prod|a(?:rg)?max|a(?:rg)?min|any|all|_(?:log_)?softmax)\b"
)
_COPY = "copy"  # to a tensor that is updated


def finish_first(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """What must stand instead of the last line of a kernel's body, where a value has no buffer yet:
    that buffer, if it leaves no choice."""
    value = unfinished(body, last, purpose, meaning)
    shape = _shape(value, purpose, meaning) if value is not None else None
    known = value is not None and "float" in meaning.dtype(value) and meaning.tensors_of(value)
    if value is None or shape is None or not known:
        return None
    asked = [f"{name}_out" for name in purpose.leaves if meaning.results.get(name) == value]
    there = asked if asked and meaning.dtype(value) == _WIDE else [value]
    depth = indentation(last) + ("    " if last.endswith(_COPYOUT) else "")
    return f"{depth}{there[0]} = tl.alloc_ub({shape}, dtype=tl.{_WIDE})"


def _shape(value: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """Of the buffer of a value, where elements stay where they are."""
    rows = product(purpose.parameters.get("rows", ""))
    cols = product(purpose.parameters.get("cols", ""))
    if not cols or not leaves_in_place(purpose, meaning):
        return None
    if purpose.way.startswith(STREAM):
        sizes = {"tile": cols, "8": Counter[str]()}
    elif rows and rows != cols:
        sizes = {"(tile, cols)": rows + cols, "tile": rows, "cols": cols, "8": Counter[str]()}
    else:
        return None
    elements = meaning.elements(value)
    return next((shape for shape, size in sizes.items() if size == elements), None)


def unfinished(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """A value that was quoted before the last line of a kernel's body, and has no buffer."""
    if not (is_quote(last) or last.endswith(_COPYOUT)):
        return None
    known = meaning.lines.keys() >= set(purpose.reads)  # what another kernel left is no value here
    if not known or meaning.moves or meaning.shapes_alone:
        return None
    if not purpose.way.startswith((ROWS, STREAM)):
        return None
    lines = body.rstrip("\n").splitlines()[:-1]
    quotes = [place for place, line in enumerate(lines) if is_quote(line)]
    value = about(lines[quotes[-1]]) if quotes else ""
    if value not in purpose.computes or not _needs_buffer(value, meaning):
        return None
    if is_quote(last) and _is(about(last), value, meaning):
        return None
    results = [f"{name}_out" for name, left in meaning.results.items() if _is(left, value, meaning)]
    made = any(f" {one} = tl." in body for one in (value, f"{value}_", *results))
    return None if made else value


def _is(left: str, value: str, meaning: Meaning) -> bool:
    """Whether a result is a value, as it is."""
    one: str | None = left
    while one is not None and one in meaning.lines and one != value:
        one = meaning.operands[one][0] if meaning.operations[one] == _COPY else meaning.same(one)
    return one == value


def _needs_buffer(value: str, meaning: Meaning) -> bool:
    """Whether a value is computed element by element, and not folded over many rounds."""
    operation = meaning.operations.get(value, "")
    if operation not in known_operations() or _FOLDING.match(operation):
        return False
    return meaning.computes(value) and not meaning.is_idle(value)
