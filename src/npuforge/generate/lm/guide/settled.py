# SPDX-License-Identifier: Apache-2.0
"""The outline of a question that leaves no choice: an operation or a few, element by element.

Where all tensors have as many elements as what comes out, a kernel is a stream. Where one of two
axes is missing in some, it takes rows and columns; where there is a third axis before these, rows
of each. A part of a tensor is moved, tensors that are joined are joined, and where there is a
kernel for an operation as a whole it is given what it needs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from npuforge.generate.lm.guide.facts.counted import extents_of, spelled
from npuforge.generate.lm.guide.facts.given_kernels import outline_of
from npuforge.generate.lm.guide.facts.meaning import SHARED, Meaning
from npuforge.generate.lm.guide.facts.outer import outer_of
from npuforge.generate.lm.guide.facts.purpose import Purpose
from npuforge.generate.lm.guide.joins import FILLED, MOST, Join, join_of
from npuforge.generate.lm.guide.rules.reads import is_shared
from npuforge.generate.lm.guide.whole_kernels import outlined
from npuforge.generate.lm.question.kinds import is_each
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.plan.ways import NARROW, WAYS
from npuforge.spec.size import Size, product

_FEW = 4  # operations: with more there may be a kernel for some of them
_SYMBOL = re.compile(r"n[a-z]{1,2}")
_COUNT = re.compile(r"\bn[a-z]{1,2}\b.* |^\(")  # what is computed of extents
_RANGE = "arange"
_REPEAT = "expand"
_ALONE = re.compile(r"(?:arange|full|clone|_to_copy)\b")  # goes over its result


def settled(meaning: Meaning) -> str:
    """The lines of the outline; nothing where there is a choice."""
    given = outline_of(meaning)
    if given:
        return given
    join = join_of(meaning)
    if join is not None and len(join.parts) <= MOST:
        joined = _joined(join, meaning)
        if joined:
            return joined
    whole = outlined(meaning)
    if whole:
        return whole
    counted = _counted(meaning)
    if counted is None:
        return ""
    way, parameters = counted
    purpose = Purpose(way, parameters, computes=_computed(meaning))
    purpose.reads = list(dict.fromkeys(_reads(meaning)))
    if outer_of(purpose, meaning) is None:
        purpose.reads.sort(key=lambda name: not is_shared(name, purpose, meaning))
    parts = (purpose.reads, purpose.computes, meaning.results)
    lines = (way, _said(parameters), " -> ".join(", ".join(part) for part in parts if part))
    return "".join(f"{OPERATOR}: {line}\n" for line in lines if line)


def _joined(join: Join, meaning: Meaning) -> str:
    """Of tensors that are joined as they are, or with one that is filled with a number."""
    match join.rooms(meaning):
        case []:
            return f"{OPERATOR}{SHARED}: {_said(join.given([], meaning))}\n"
        case [value] if meaning.operations[value] == FILLED:
            extents = extents_of(meaning.lines[value])
            lines = (
                WAYS["flat"],
                _said(_cols(extents)),
                f"w0: {meaning.dtype(value)}[{', '.join(extents)}]",
            )
            said = "".join(f"{OPERATOR}: {line}\n" for line in lines if line)
            return f"{said}{OPERATOR}_2{SHARED}: {_said(join.given(['w0'], meaning))}\n"
        case _:
            return ""


def _said(parameters: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {one}" for name, one in parameters.items())


def _reads(meaning: Meaning) -> Iterator[str]:
    """Tensors in the order in which results are made of them."""
    waiting = list(meaning.results.values())[::-1]
    while waiting:
        name = waiting.pop()
        if not meaning.operations[name]:
            yield name
        waiting += reversed(meaning.operands[name])


def _computed(meaning: Meaning) -> list[str]:
    return [name for name in meaning.lines if meaning.operations[name]]


def _counted(meaning: Meaning) -> tuple[str, dict[str, str]] | None:
    """How a kernel goes about it, and what it counts in."""
    computed = _computed(meaning)
    if len(computed) == 1 and _ALONE.match(meaning.operations[computed[0]]):
        return WAYS["flat"], _cols(extents_of(meaning.lines[computed[0]]))
    if computed and meaning.operations[computed[-1]] == _REPEAT:
        return _repeated(computed, meaning)
    values = [name for name in computed if meaning.computes(name)]
    if not 0 < len(values) <= _FEW or meaning.moves or meaning.reshapes or meaning.shapes_alone:
        return None
    each = all(is_each(meaning.operations[name]) for name in values)
    numbers = [one for name in values for one in _numbers(name, meaning)]
    if not each or len(numbers) > 1:
        return None
    results = list(meaning.results.values())
    if len(set(results)) < len(results):
        return None
    widest = [_axes(value, meaning) for value in results]
    tensors = [name for name in meaning.lines if not meaning.operations[name]]
    axes, known = widest[0], [_axes(name, meaning) for name in (*tensors, *computed)]
    if any(one != axes for one in widest) or not axes or not all(map(_SYMBOL.fullmatch, axes)):
        return None
    if len(set(axes)) < len(axes) or any(not _is_among(one, axes) for one in known):
        return None
    groups = _together(axes, known)
    if len(groups) == 1:
        return WAYS["flat"], {"cols": _product(axes)} | dict(zip(["e1"], numbers, strict=False))
    if numbers:
        return None
    *outer, rows, cols = groups
    if len(outer) > 1 or (outer and len(outer[0]) > 1):
        return None
    if not meaning.fits(cols, NARROW):
        return (WAYS["flat"], {"cols": _product(cols)}) if not outer and tensors else None
    apart = {"e2": _product(rows + cols)} if outer else {}
    counted = {"rows": _product(rows), "cols": _product(cols)}
    if cols in known:  # what rows share is read or computed before them
        counted = dict(reversed(counted.items()))
    return WAYS["rows"], {**counted, **apart}


def _repeated(computed: list[str], meaning: Meaning) -> tuple[str, dict[str, str]] | None:
    """A tensor whose elements are repeated along axes that it has not."""
    *looks, value = computed
    tensors = list(_reads(meaning))
    axes = _axes(value, meaning)
    alike = all(meaning.is_look(name) for name in looks) and len(tensors) == 1
    if not alike or len(set(axes)) < len(axes):
        return None
    own = _axes(tensors[0], meaning)
    known = all(map(_SYMBOL.fullmatch, own)) and _is_among(own, axes)
    groups = [(there, list(some)) for there, some in itertools.groupby(axes, own.__contains__)]
    match groups if known else []:
        case [(True, rows), (False, cols)]:
            counted, outer = {"rows": rows, "cols": cols}, False
        case [(False, rows), (True, cols)]:
            counted, outer = {"cols": cols, "rows": rows}, False
        case [(False, _), (True, rows), (False, cols)]:
            counted, outer = {"rows": rows, "cols": cols}, True
        case _:
            return None
    said = {name: _product(some) for name, some in counted.items()}
    said |= {"e2": _product([*counted["rows"], *counted["cols"]])} if outer else {}
    numbers = {name for name, one in said.items() if one.isdigit()}
    return WAYS["rows"], {name: one for name, one in said.items() if name not in numbers}


def _together(axes: list[str], known: list[list[str]]) -> list[list[str]]:
    """The axes in groups, of which every tensor and value has all or none."""
    groups = [axes[:1]]
    for before, axis in itertools.pairwise(axes):
        if all((before in one) == (axis in one) for one in known):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _product(axes: list[str]) -> str:
    return spelled(Size.parse(" * ".join(axes)))


def _numbers(value: str, meaning: Meaning) -> list[str]:
    """Numbers that follow from extents, have no name, and that a value is made of: ranges are
    counted otherwise."""
    if meaning.operations[value].startswith(_RANGE):
        return []
    found = [one for one in meaning.given_to(value) if _COUNT.search(one)]
    return [spelled(Size.parse(one)) for one in found]


def _cols(extents: list[str]) -> dict[str, str]:
    size = product(map(Size.parse, extents))
    return {"cols": spelled(size)} if size.known is None else {}


def _axes(name: str, meaning: Meaning) -> list[str]:
    return [one for one in extents_of(meaning.lines[name]) if one != "1"]


def _is_among(some: list[str], axes: list[str]) -> bool:
    """Whether axes are some of others, in their order."""
    left: Iterator[str] = iter(axes)
    return all(one in left for one in some)
