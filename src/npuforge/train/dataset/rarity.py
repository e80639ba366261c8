# SPDX-License-Identifier: Apache-2.0
"""How rare the rarest thing about a program is, and how many like it are worth having.

What a model gets right is what it has often read. Of forge's 16 operators that have an access to
memory which less than one program in seventy has, the ninth model got none right, whatever else
there was to them; of the 25 whose accesses one in five has, 17. Operators that are drawn at random
have the usual accesses and operations mostly, so those that do not get more variants.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec

from npuforge.generate.lm.form.grammar import ENDED
from npuforge.generate.lm.guide.facts.meaning import Meaning
from npuforge.train.records import Chat

_ACCESS = re.compile(r"^ +tl\.((?:load|store)\(.*\))$", re.MULTILINE)
_BUFFER = re.compile(r"\b(?:(?:in|out|v)\d+_*|(?:x[a-z]{1,2}|w\d+|y\d*)_\w+)(?=\[)")
_TENSOR = re.compile(r"\b(?:x[a-z]{1,2}|w\d+|y\d*)\b")
_COUNT = re.compile(r"\bn[a-z]{1,2}\b|\d+")
_USUAL = 0.02  # share of programs at which an operator gets as many variants as are asked for
_LEAST, _MOST = 0.3, 4.0  # times as many
_SEEN = 5  # programs that have something, to be written down


def features(question: str, program: str) -> frozenset[str]:
    """Operations of a question, and how a program for it goes about memory, without names."""
    accesses = {_plain(found[1]) for found in _ACCESS.finditer(program)}
    return frozenset(accesses | {one for one in Meaning.read(question).operations.values() if one})


def shares(records: Iterable[Chat]) -> dict[str, float]:
    """The share of programs that have each."""
    counted: Counter[str] = Counter()
    programs = 0
    for record in records:
        programs += 1
        program = record.messages[-1].content.partition(f"{ENDED}\n")[2]
        counted.update(features(record.messages[-2].content, program))
    often = {name: count for name, count in counted.items() if count >= _SEEN}
    return {name: round(often[name] / programs, 6) for name in sorted(often)}


def worth(question: str, program: str) -> float:
    """How many variants an operator of this program is worth, for each that a usual one gets."""
    rarest = min((known_shares().get(one, 0.0) for one in features(question, program)), default=1.0)
    return min(_MOST, max(_LEAST, math.sqrt(_USUAL / rarest))) if rarest else _MOST


@cache
def known_shares() -> dict[str, float]:
    """In programs that were grown before."""
    text = files(__package__).joinpath("shares.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, float])


def _plain(access: str) -> str:
    return _COUNT.sub("N", _TENSOR.sub("T", _BUFFER.sub("B", access)))
