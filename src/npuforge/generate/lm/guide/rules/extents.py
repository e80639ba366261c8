# SPDX-License-Identifier: Apache-2.0
"""Numbers of elements that no tensor has.

A host function counts the elements of tensors that its kernel works on: products of extents, each
as often as it is in the shape of one of them. `ng * nh * nh` for a tensor of `[ng, nh, ni]` is a
slip that compiles, and reads beyond the tensor's end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from math import prod

from npuforge.generate.lm.form.quoted import lines_of, stored

Shapes = Mapping[str, list[Counter[str]]]

_SYMBOL = re.compile(r"\bn[a-z]{1,2}\b")
_PRODUCT = re.compile(r"(?<![.\w])n[a-z]{1,2}\b(?: \* n[a-z]{1,2}\b)*")
_TYPE = re.compile(r"\w+\[([^\[\]]*)\]")
_END = re.compile(r"^ +last = min\(first \+ per_core, (\d+)\)$")
_PLACE = re.compile(r"^ +tl\.(?:load|store)\((\w+ \+ [^,]*),")
_FACTOR = re.compile(r"\* (\d+)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_ROOM = re.compile(r"w\d+")  # memory between kernels, of a shape of the program's own


def shapes_in(asked: str) -> dict[str, list[Counter[str]]]:
    """How often each extent is in the shapes of the question's tensors and values, and of its
    results under their own names."""
    found = {}
    for name, line in lines_of(asked).items():
        said = line.rpartition("): ")[2] if " = " in line else line.partition(": ")[2]
        found[name] = [Counter(_SYMBOL.findall(extents)) for extents in _TYPE.findall(said)]
    for result, name in stored(asked).items():
        if name in found:
            found.setdefault(result, found[name])
    return found


def strange(line: str, names: Iterable[str], shapes: Shapes) -> str | None:
    """A product in a host's line that is no part of a tensor's shape, where a kernel of the
    parameters `names` is prepared."""
    if any(_ROOM.fullmatch(name) for name in names):
        return None
    known = [shape for name in names for shape in shapes.get(name, [])]
    for found in _PRODUCT.finditer(line):
        counted = Counter(_SYMBOL.findall(found[0]))
        if not any(counted <= shape for shape in known):
            return found[0]
    return None


def numbers_in(asked: str) -> frozenset[int]:
    """Whole numbers that elements of the question may be counted with: those of its lines, and
    products of sizes that one shape has."""
    found: set[int] = set()
    for line in lines_of(asked).values():
        found.update(map(int, _NUMBER.findall(line)))
        for extents in _TYPE.findall(line):
            sizes = [int(one) for one in _NUMBER.findall(extents)]
            for count in range(2, len(sizes) + 1):
                found.update(map(prod, combinations(sizes, count)))
    return frozenset(found)


def strange_number(line: str, known: Collection[int]) -> int | None:
    """A number in a kernel's line that no tensor has as many elements as: where its cores end, or
    where in memory something is."""
    end, place = _END.match(line), _PLACE.match(line)
    said = [end[1]] if end is not None else _FACTOR.findall(place[1]) if place is not None else []
    return next((int(one) for one in said if int(one) not in known), None)
