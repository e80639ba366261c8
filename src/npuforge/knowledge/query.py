# SPDX-License-Identifier: Apache-2.0
"""What to look for: a failure as names for one axis and as words of the hardware for the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from npuforge import rules
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.words import words

_RULE = re.compile(r"\b[A-Z]{2,4}-\d{2}\b")
_CODE = re.compile(r"\b[A-Z]+(?:_[A-Z0-9]+)+\b")
_LINE = re.compile(r"\bline (\d+)\b")
_LINE_TEXT = re.compile(r"^\s*line \d+: (.*)$", re.MULTILINE)
_QUOTED_LINE = re.compile(r"^\s*(?:line \d+|remedy): .*$", re.MULTILINE)
_QUOTED = re.compile("[`'\"\u2018]([^`'\"\u2018\u2019\n]{2,120})[`'\"\u2019]")
_CALL = re.compile(r"\b((?:tl\.|AscendC::)?[A-Za-z_]\w*)\s*(?:<[^<>;(){}]*>)?\s*\(")
_TYPE = re.compile(r"\b((?:Local|Global)Tensor|T(?:Que|Buf|Pipe|QueBind)|\w+Params)\b")
_NOT_CALLS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "range", "def", "min",
                        "max", "static_cast", "reinterpret_cast", "defined"})  # fmt: skip
_NUMBERS = re.compile(r"\b\d[\d.,e+-]*\b|0x[0-9a-f]+", re.IGNORECASE)
_MOST_SAID = 400


@dataclass(frozen=True, slots=True)
class Query:
    """`names` for BM25, and less so `context`; `meaning` for the embedding. What is in `exclude` is
    not served again."""

    names: str
    meaning: str
    situation: Situation
    exclude: frozenset[str] = frozenset()
    context: str = ""


def query_of(
    situation: Situation,
    cause: str,
    feedback: str,
    source: str = "",
    exclude: Iterable[str] = (),
) -> Query:
    """A query for what went wrong: `cause` and `feedback` as a judgement gives them, `source` the
    program they speak of. The next query after one that did not help is made of the new judgement,
    with what was served in `exclude`.
    """
    return Query(
        names=" ".join(dict.fromkeys(_names(feedback, source))),
        meaning=" ".join(part for part in _meaning(situation, cause, feedback) if part),
        situation=situation,
        exclude=frozenset(exclude),
        context=" ".join(dict.fromkeys(_called(source))),
    )


def _names(feedback: str, source: str) -> Iterator[str]:
    """Rule ids and error codes, names that a diagnostic quotes, calls of the lines at fault."""
    yield from _RULE.findall(feedback)
    yield from _CODE.findall(feedback)
    for quoted in _QUOTED.findall(feedback):
        yield from _called(f"{quoted}(")
        yield from _called(quoted)
    lines = source.splitlines()
    at_fault = [int(n) for n in _LINE.findall(feedback)]
    blamed = [lines[n - 1] for n in at_fault if 0 < n <= len(lines)]
    blamed += _LINE_TEXT.findall(feedback)
    for line in blamed:
        yield from _called(line)


def _called(code: str) -> Iterator[str]:
    for name in _CALL.findall(code):
        if name not in _NOT_CALLS:
            yield name.removeprefix("AscendC::")
    yield from _TYPE.findall(code)


def _meaning(situation: Situation, cause: str, feedback: str) -> Iterator[str]:
    known = words()
    for rule_id in dict.fromkeys(_RULE.findall(feedback)):
        try:
            rule = rules.get(rule_id)
        except KeyError:
            continue
        yield f"{rule.text} {rule.fix}"
    if cause in known.causes:
        yield f"{known.causes[cause]}."
    if cause == "slow" and situation.bottleneck in known.bottlenecks:
        yield f"{known.bottlenecks[situation.bottleneck]}."
    said = _NUMBERS.sub(" ", _RULE.sub(" ", _QUOTED_LINE.sub(" ", feedback)))
    yield " ".join(said.split())[:_MOST_SAID]
    if situation.operators:
        yield f"The operator: {', '.join(situation.operators)}."
    if situation.dtypes:
        yield f"Elements: {', '.join(situation.dtypes)}."
