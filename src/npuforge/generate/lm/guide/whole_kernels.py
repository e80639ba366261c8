# SPDX-License-Identifier: Apache-2.0
"""A question that is one operation for which there is a kernel as a whole: rows that are sorted,
and rows that are taken by places. What such a kernel is given follows from the question.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from npuforge.generate.lm.guide.facts.counted import extents_of, size_of, spelled
from npuforge.generate.lm.guide.facts.meaning import SHARED, Meaning
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.plan.ways import WAYS
from npuforge.spec.size import Size, product

_ITEM = "getitem"
_SORTS = {"sort": 1, "sort.stable": 1, "topk": 2}  # where the axis is given
_TAKES = ("index.Tensor", "index_select")
_NARROW = {"int64": "int32"}  # what rows are sorted as
_WHOLE = ("int32",)  # types of which the number that is kept is said, all or some
_FLOATING = "float32"
_DIRECTION = re.compile(r"^( +tl\.\w+\(.*)descending=(?:True|False)\)$")


class _Sort(NamedTuple):
    """Rows of a tensor in order, and which results are their elements and where these were."""

    value: str
    tensor: str
    extent: str
    kept: str
    results: dict[str, str]  # by the items that they are

    def rooms(self, meaning: Meaning) -> list[tuple[list[str], str]]:
        """The shapes and types of what is left on the way, in its order."""
        kind, shape = meaning.dtype(self.tensor), extents_of(meaning.lines[self.tensor])
        narrow = _NARROW.get(kind, kind)
        found = [(shape, narrow)] if narrow != kind else []
        return found + [
            ([*shape[:-1], self.kept], dtype)
            for item, dtype in (("0", narrow), ("1", "int64"))
            if item != next(iter(self.results))
        ]

    def outline(self, meaning: Meaning) -> str:
        kind, shape = meaning.dtype(self.tensor), extents_of(meaning.lines[self.tensor])
        axes = [*shape[:-1], self.kept]
        narrow = _NARROW.get(kind, kind)
        held = iter(
            f"w{number}: {dtype}[{', '.join(extents)}]"
            for number, (extents, dtype) in enumerate(self.rooms(meaning))
        )
        lines: list[str] = []
        source, name = self.tensor, OPERATOR
        if narrow != kind:
            room, name = next(held), f"{OPERATOR}_2"
            source = room.partition(":")[0]
            lines = [WAYS["flat"], f"cols = {_product(shape)}", f"{self.tensor} -> {room}"]
        (first, *others) = self.results
        left = {item: self.results[item] if item == first else next(held) for item in "01"}
        some = self.kept != self.extent
        said = [f"extent = {self.extent}", f"x = {source}"]
        said += [f"kept = {self.kept}"] if some else []
        said += [f"values = {left['0']}"]
        said += [f"kept = {self.kept}"] if not some and narrow in _WHOLE else []
        said += [f"places = {left['1']}"]
        found = "".join(f"{OPERATOR}: {line}\n" for line in lines)
        found += f"{name}{SHARED}: {', '.join(said)}\n"
        for item in others:
            room = left[item].partition(":")[0]
            made = f"{self.value}, {meaning.results[self.results[item]]} -> "
            made = made if item == "1" else ""
            rest = (
                WAYS["flat"],
                f"cols = {_product(axes)}",
                f"{room} -> {made}{self.results[item]}",
            )
            found += "".join(f"{OPERATOR}_2: {line}\n" for line in rest)
        return found


def sort_of(meaning: Meaning) -> _Sort | None:
    """The sort that a question is."""
    values = [name for name, operation in meaning.operations.items() if operation]
    value = values[0] if values else ""
    if meaning.operations.get(value) not in _SORTS:
        return None
    items = {one: meaning.given_to(one) for one in values[1:]}
    if any(meaning.operations[one] != _ITEM or given[0] != value for one, given in items.items()):
        return None
    plain = [one for one in meaning.given_to(value) if "=" not in one]
    tensor, *given = plain
    if meaning.operations.get(tensor) != "":
        return None
    place, extents = _SORTS[meaning.operations[value]] - 1, extents_of(meaning.lines[tensor])
    axis = given[place] if len(given) > place else "-1"
    kind = meaning.dtype(tensor)
    known = kind == _FLOATING or _NARROW.get(kind, kind) in _WHOLE
    results = {items[one][1]: result for result, one in meaning.results.items() if one in items}
    if axis not in ("-1", str(len(extents) - 1)) or not known or len(results) != len(items):
        return None
    if not results or (kind in _NARROW and "0" in results) or list(results) != sorted(results):
        return None
    kept = given[0] if meaning.operations[value] == "topk" else extents[-1]
    return _Sort(value, tensor, extents[-1], kept, results)


def direction(last: str, meaning: Meaning) -> str | None:
    """What must stand instead of a line that sorts the other way round."""
    found, sort = _DIRECTION.match(last), sort_of(meaning)
    if found is None or sort is None:
        return None
    right = f"{found[1]}descending={_descends(sort.value, meaning)})"
    return right if right != last else None


def _descends(value: str, meaning: Meaning) -> bool:
    given = meaning.given_to(value)
    if meaning.operations[value] == "topk":
        return given[3:4] != ["False"] and "largest=False" not in given
    return given[2:3] == ["True"] or "descending=True" in given


class _Take(NamedTuple):
    """Rows of a tensor along an axis that is not the last."""

    tensor: str
    places: str
    result: str
    extents: list[Size]
    axis: int

    def outline(self) -> str:
        extent = spelled(self.extents[self.axis])
        said = f"index = {self.places}, extent = {extent}, x = {self.tensor}, y = {self.result}"
        return f"{OPERATOR}{SHARED}: {said}\n"

    def counted(self, count: str) -> dict[str, str]:
        outer, inner = product(self.extents[: self.axis]), product(self.extents[self.axis + 1 :])
        return {"outer": spelled(outer), "count": count, "inner": spelled(inner)}


def take_of(meaning: Meaning) -> _Take | None:
    """The rows by a list of places that a question is."""
    if meaning.only is None or meaning.operations[meaning.only[1]] not in _TAKES:
        return None
    result, value = meaning.only
    given = meaning.given_to(value)
    tensor, *rest = given
    if meaning.operations[value] == _TAKES[0]:
        before = re.fullmatch(r"\[((?:None, )*)(\w+)\]", rest[0])
        axis, places = (before[1].count("None"), before[2]) if before is not None else (0, "")
    else:
        axis, places = int(rest[0]), rest[1]
    if any(meaning.operations.get(one) != "" for one in (tensor, places)):
        return None
    sizes = [size_of(one) for one in extents_of(meaning.lines[tensor])]
    extents = [one for one in sizes if one is not None]
    if len(extents) != len(sizes) or len(extents_of(meaning.lines[places])) != 1:
        return None
    axis %= len(extents)
    inner = product(extents[axis + 1 :])
    return _Take(tensor, places, result, extents, axis) if inner.known != 1 else None


def begins(meaning: Meaning) -> str:
    """The lines with which a host function begins that takes rows or sorts them."""
    take, sort = take_of(meaning), sort_of(meaning)
    if sort is not None:
        return "".join(
            f"    w{number} = tl.workspace(({', '.join(shape)},), tl.{dtype})\n"
            for number, (shape, dtype) in enumerate(sort.rooms(meaning))
        )
    if take is None:
        return ""
    counted = take.counted(extents_of(meaning.lines[take.places])[0])
    return "".join(f"    {OPERATOR}_{name} = {said}\n" for name, said in counted.items())


def outlined(meaning: Meaning) -> str:
    """The outline of such a question; nothing where it is none."""
    sort, take = sort_of(meaning), take_of(meaning)
    if sort is not None:
        return sort.outline(meaning)
    return take.outline() if take is not None else ""


def _product(extents: list[str]) -> str:
    return spelled(Size.parse(" * ".join(f"({one})" for one in extents)))
