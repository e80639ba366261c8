# SPDX-License-Identifier: Apache-2.0
"""What is asked one after the other: questions, then the parts of those that were given up.

Answers to parts lie beside those to questions, under names that follow from what was asked, so that
a part that several questions have is asked once, and an interrupted run goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from npuforge.generate.lm.answer import program_in
from npuforge.generate.lm.pieces import Written, wanted
from npuforge.generate.lm.task import as_question
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.evaluate.sample import Answers
from npuforge.train.records import as_messages

PARTS = "parts"  # the suite of all parts of questions

Found = Mapping[tuple[str, str], Answers]


def part_name(asked: str) -> str:
    """What the answers to a part are called."""
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def next_round(prompts: Sequence[Prompt], found: Found) -> list[Prompt]:
    """What must be asked now that so much is answered: prompts first, then parts."""
    known = [one for one in prompts if not one.problem]
    new = [one for one in known if (one.suite, one.name) not in found]
    if new:
        return new
    parts: dict[str, Prompt] = {}
    for prompt in known:
        so_far = written(prompt.asked, found[prompt.suite, prompt.name], found)
        for asked in wanted(prompt.asked, prompt.pieces, so_far):
            parts[asked] = Prompt(
                suite=PARTS,
                name=part_name(asked),
                level=None,
                prompt=as_messages(as_question(asked)),
            )
    return list(parts.values())


def written(asked: str, own: Answers, found: Found) -> Written:
    """Programs by what was asked: those to a question, and those to any part that was answered."""

    def programs(one: str) -> list[str | None] | None:
        given = own if one == asked else found.get((PARTS, part_name(one)))
        if given is None:
            return None
        # Answers that nobody guided all came to some end.
        ended = given.ended or [True] * len(given.answers)
        return [
            program_in(text) if whole else None
            for text, whole in zip(given.answers, ended, strict=True)
        ]

    return programs
