# SPDX-License-Identifier: Apache-2.0
"""The search by itself: what it goes on from, when it stops, how it crosses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from npuforge.generate.proof import Proof
from npuforge.generate.tuning import Trial
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.feedback import Cause, Feedback
from npuforge.generate.written.loop import Kind, Question, Search, search
from npuforge.models import ModelError
from npuforge.plan import Variant
from npuforge.verdict import Case


def made(title: str, cause: Cause, right: int = 0, text: str | None = None) -> Attempt:
    """An attempt that came so far, with so many cases right."""
    proof = Proof([Case([[4]], ["float32"], number < right) for number in range(8)])
    trial = Trial(Variant(title, text or title, ""), True)
    return Attempt(title, Feedback(cause, f"{title} is at fault."), trial, proof)


class Answers:
    """Gives attempts in order, and remembers what was asked."""

    def __init__(self, *attempts: Attempt) -> None:
        self.left: Iterator[Attempt] = iter(attempts)
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Attempt:
        self.asked.append(question)
        return next(self.left)


def test_of_two_that_came_as_far_the_newer_is_gone_on_from() -> None:
    first, second = made("first", "does not compile"), made("second", "does not compile")
    third = made("third", "wrong", right=3)
    ask = Answers(first, second, third)
    found = search(Search(rounds=3), ask)
    assert [question.origin for question in ask.asked] == [None, first, second]
    assert found.best is third
    assert ask.asked[2].failed == ("second: second is at fault.",)


def test_patience_counts_rounds_without_a_gain() -> None:
    same = [made(str(number), "wrong", right=2) for number in range(9)]
    ask = Answers(*same)
    found = search(Search(rounds=9, patience=3), ask)
    assert len(ask.asked) == 4
    assert found.ended == "nothing was gained in 3 rounds"


def test_a_start_is_gone_on_from_and_kept_where_nothing_is_better() -> None:
    start = made("start", "wrong", right=5)
    ask = Answers(made("worse", "race"), made("worst", "no answer"))
    found = search(Search(rounds=2), ask, start)
    assert ask.asked[0].origin is start
    assert ask.asked[1].origin is start
    assert found.best is start
    assert [attempt.title for attempt in found.attempts] == ["start", "worse", "worst"]


@pytest.mark.parametrize(("kind", "crossed"), [("beam", False), ("evolve", True)])
def test_evolving_crosses_programs_that_differ(kind: Kind, crossed: bool) -> None:
    attempts = [made(str(n), "wrong", right=n % 7) for n in range(40)]
    ask = Answers(*attempts)
    search(Search(rounds=10, candidates=4, beam=4, patience=99, kind=kind), ask)
    pairs = [question for question in ask.asked if question.partner is not None]
    assert bool(pairs) is crossed
    for question in pairs:
        assert question.origin is not question.partner
    seeds = {question.seed for question in ask.asked}
    assert seeds == {0, 1, 2, 3}


def test_the_same_program_twice_takes_one_place_of_the_beam() -> None:
    ask = Answers(
        made("a", "wrong", 4, "same"), made("b", "wrong", 4, "same"), made("c", "wrong", 1),
        made("d", "race"), made("e", "race"), made("f", "race"),
    )  # fmt: skip
    search(Search(rounds=2, candidates=3, beam=2), ask)
    origins = {q.origin.title for q in ask.asked[3:] if q.origin is not None}
    assert len(origins & {"a", "b"}) == 1
    assert "c" in origins


def test_what_there_is_survives_the_loss_of_the_endpoint() -> None:
    first = made("first", "wrong", right=1)

    def ask(question: Question) -> Attempt:
        if question.number:
            raise ModelError("gone")
        return first

    found = search(Search(rounds=5), ask)
    assert (found.best, found.ended) == (first, "gone")

    def nobody(_: Question) -> Attempt:
        raise ModelError("gone")

    with pytest.raises(ModelError):
        search(Search(rounds=1), nobody)
