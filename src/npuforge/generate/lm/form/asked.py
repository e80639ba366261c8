# SPDX-License-Identifier: Apache-2.0
"""What a question (`task_text`) says of the program it asks for: tensors, their types, the head."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from npuforge import dtypes
from npuforge.generate.lm.form.quoted import lines_of, quoted, stored
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.tile.ir import Role, Tensor
from npuforge.tile.kernels import ELEMENT_TYPES
from npuforge.tile.source import NOWHERE

_TENSOR = re.compile(r"^(\w+): (\w+)\[(.*)\]$")
_VALUE = re.compile(r"^(\w+) = .*: (\w+)\[([^\[\]]*)\]$")
_SYMBOL = re.compile(r"\bn[a-z]{1,2}\b")
_NAME = re.compile(r"\b[xn][a-z]{1,2}\b")
_KINDS = {"in": "input", "out": "output", "inout": "inout"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question read. `head` is the host function's, with what it says of its tensors' shapes
    before anything else; nothing where the question does not tell."""

    lines: dict[str, str]  # what can be quoted, by the tensor or value it is about
    tensors: dict[str, Tensor]
    head: str | None

    @classmethod
    def read(cls, text: str) -> Asked:
        lines = lines_of(text)
        text = _read(text)
        head = list(_parameters(text))
        tensors = {
            name: Tensor(name, dtypes.find(dtype), role, None, NOWHERE)
            for name, role, dtype, _ in head
            if dtype in ELEMENT_TYPES
        }
        shapes = [shape for _, role, _, shape in head if role == "out"]
        symbols = {
            one for extents in _shapes(text).values() for one in _SYMBOL.findall(str(extents))
        }
        known = None not in shapes and len(tensors) == len(head)
        known = known and symbols <= _places(_shapes(text)).keys()
        return cls(lines, tensors, _head(head, text) if known else None)


def _read(text: str) -> str:
    """Without tensors of which neither elements nor extents matter: programs do not take these."""
    lines = [line for line in text.splitlines() if not line.startswith("where ")]
    named = Counter(name for line in lines for name in set(_NAME.findall(line)))
    unread = {
        line
        for line in lines
        if _TENSOR.match(line) and all(named[name] == 1 for name in _NAME.findall(line))
    }
    return "".join(f"{line}\n" for line in text.splitlines() if line not in unread)


def _shapes(text: str) -> dict[str, list[str]]:
    """Extents of the tensors that are read."""
    found = (_TENSOR.match(line) for line in text.splitlines())
    return {one[1]: one[3].split(", ") if one[3] else [] for one in found if one is not None}


def _preamble(text: str) -> Iterator[str]:
    """Numbers of the extents, and the shapes that follow from them, as the planner writes them."""
    shapes = _shapes(text)
    places = _places(shapes)
    in_order = sorted(places, key=lambda name: (len(name), name))
    yield from (f"    {name} = {places[name]}" for name in in_order)
    for tensor, extents in shapes.items():
        pairs = [(f"{tensor}.shape[{axis}]", extent) for axis, extent in enumerate(extents)]
        wrong = [f"{place} == {extent}" for place, extent in pairs if places.get(extent) != place]
        if wrong:
            expected = ", ".join(extents)
            yield f'    tl.require({" and ".join(wrong)}, "{tensor} has shape ({expected})")'


def _places(shapes: dict[str, list[str]]) -> dict[str, str]:
    """Where each extent is read."""
    found: dict[str, str] = {}
    for tensor, extents in shapes.items():
        for axis, extent in enumerate(extents):
            if _SYMBOL.fullmatch(extent):
                found.setdefault(extent, f"{tensor}.shape[{axis}]")
    return found


def _head(parameters: list[tuple[str, Role, str, str | None]], text: str) -> str:
    lines = [f"def {OPERATOR}_host("]
    for name, role, dtype, shape in parameters:
        extents = f", {shape}" if role == "out" else ""
        lines.append(f"    {name}: tl.{_KINDS[role]}(tl.{dtype}{extents}),")
    return quoted("\n".join([*lines, "):"]) + "\n", text) + "".join(
        f"{line}\n" for line in _preamble(text)
    )


def _parameters(text: str) -> Iterator[tuple[str, Role, str, str | None]]:
    """Name, role, element type and, of outputs, the shape as the host says it."""
    results = stored(text)
    places = _places(_shapes(text))
    for line in text.splitlines():
        if (tensor := _TENSOR.match(line)) is not None:
            yield tensor[1], "inout" if tensor[1] in results else "in", tensor[2], None
    known = (_VALUE.match(line) or _TENSOR.match(line) for line in text.splitlines())
    values = {found[1]: found for found in known if found is not None}
    for output, name in results.items():
        if name in values and output not in values:  # not one that is updated
            yield output, "out", values[name][2], _shape(values[name][3], places)


def _shape(extents: str, places: dict[str, str]) -> str | None:
    if not set(_SYMBOL.findall(extents)) <= places.keys():
        return None
    said = _SYMBOL.sub(lambda found: places[found[0]], extents)
    return f"({said},)" if said else "()"
