# SPDX-License-Identifier: Apache-2.0
"""Ask, judge, say what is wrong, ask again: until it is right and fast, or no more is gained."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from npuforge.generate.interrupts import in_background
from npuforge.generate.written.attempt import Attempt
from npuforge.models.errors import ModelError

_MOST_FAILED = 6  # earlier failures that a model is told of
_CROSSED = 0.5  # share of candidates that are made from two parents
_TOURNAMENT = 2

# beam: go on from the best ones. evolve: parents are drawn from a population, and crossed.
Kind = Literal["beam", "evolve"]


@dataclass(frozen=True, slots=True)
class Search:
    """`candidates` are asked for at once in a round, from the best `beam` so far. A round without a
    better one counts against `patience`; a right program that reaches `enough` of the roofline
    ends it. `seed` tells one search from another."""

    rounds: int = 30
    candidates: int = 1
    beam: int = 1
    patience: int = 6
    enough: float = 0.95
    kind: Kind = "beam"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for: the candidate at `place` of round `number`, from `origin` (None: from
    nothing), crossed with `partner`; `failed` is what was tried before in vain. `seed` makes it
    differ from its neighbours."""

    number: int
    place: int
    seed: int
    origin: Attempt | None = None
    partner: Attempt | None = None
    failed: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"round {self.number + 1}" + (f", {self.place + 1}" if self.place else "")


@dataclass(frozen=True, slots=True)
class Found:
    """All attempts in order, the best among them, and why the search ended."""

    attempts: tuple[Attempt, ...]
    best: Attempt | None
    ended: str
    interrupted: bool = False


@dataclass(slots=True)
class _State:
    settings: Search
    attempts: list[Attempt] = field(default_factory=list)
    best: list[Attempt] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    idle: int = 0

    def question(self, number: int, place: int) -> Question:
        said = tuple(self.failed[-_MOST_FAILED:])
        seed = self.settings.seed + place
        if not self.best:
            return Question(number, place, seed, failed=said)
        if self.settings.kind == "beam":
            return Question(number, place, seed, self.best[place % len(self.best)], failed=said)
        dice = random.Random(f"{self.settings.seed} {number} {place}")
        parent = self._drawn(dice, self.best)
        others = [one for one in self.best if one is not parent and one.trial is not None]
        crossed = others and parent.trial is not None and dice.random() < _CROSSED
        partner = self._drawn(dice, others) if crossed else None
        return Question(number, place, seed, parent, partner, said)

    def _drawn(self, dice: random.Random, among: Sequence[Attempt]) -> Attempt:
        drawn = [dice.choice(among) for _ in range(_TOURNAMENT)]
        return max(drawn, key=lambda one: one.worth)

    def add(self, made: Sequence[Attempt]) -> None:
        before = self.best[0].worth if self.best else None
        for attempt in made:
            line = f"{attempt.title}: {attempt.feedback.short}"
            if self.best and attempt.worth <= self.best[0].worth and line not in self.failed:
                self.failed.append(line)
        self.attempts += made
        # Of two that came as far and are not right, the newer has the older's fault behind it.
        newer = [one for one in made if not one.right]
        rest = [one for one in made if one.right]
        ranked = sorted([*newer, *self.best, *rest], key=lambda one: one.worth, reverse=True)
        self.best = _distinct(ranked)[: self.settings.beam]
        better = before is None or self.best[0].worth > before
        self.idle = 0 if better else self.idle + 1

    @property
    def over(self) -> str | None:
        """Why no more is asked."""
        first = self.best[0]
        if first.right and (first.roofline or 0.0) >= self.settings.enough:
            return f"at {100 * (first.roofline or 0):.0f} % of the roofline"
        if self.idle >= self.settings.patience:
            return f"nothing was gained in {self.idle} rounds"
        return None


def search(
    settings: Search,
    ask: Callable[[Question], Attempt],
    start: Attempt | None = None,
    stop: Callable[[], None] = lambda: None,
) -> Found:
    """Return the best that `ask` writes and judges; `start` is what the first round goes on from.

    A spent budget, a lost endpoint or an interrupt ends the search with what there is; if that is
    nothing, `ModelError` or `KeyboardInterrupt` is raised. At an interrupt `stop` ends requests
    that are under way, and a judgement that is under way is dropped.
    """
    state = _State(settings)
    if start is not None:
        state.add([start])
    asked: list[Future[Attempt]] = []
    try:
        ended = _rounds(settings, ask, state, asked)
    except KeyboardInterrupt:
        stop()
        done = [one.result() for one in asked if one.done() and one.exception() is None]
        attempts = (*state.attempts, *(one for one in done if one not in state.attempts))
        if not attempts:
            raise
        best = max(attempts, key=lambda one: one.worth)
        return Found(attempts, best, "by an interrupt", interrupted=True)
    return Found(tuple(state.attempts), state.best[0] if state.best else None, ended)


def _rounds(
    settings: Search,
    ask: Callable[[Question], Attempt],
    state: _State,
    asked: list[Future[Attempt]],
) -> str:
    """Search; return why it ended. `asked` is what is under way, or just was."""
    for number in range(settings.rounds):
        if state.best and (why := state.over) is not None:
            return why
        questions = [state.question(number, place) for place in range(settings.candidates)]
        asked[:] = [in_background(partial(ask, question)) for question in questions]
        wait(asked)
        made: list[Attempt] = []
        lost: ModelError | None = None
        for one in asked:
            try:
                made.append(one.result())
            except ModelError as error:  # what there is already is not lost by it
                lost = error
        if made:
            state.add(made)
        if lost is not None:
            if not state.attempts:
                raise lost
            return str(lost)
    return f"after {settings.rounds} rounds"


def _distinct(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Without those that say the same as a better one."""
    seen: set[str] = set()
    kept: list[Attempt] = []
    for attempt in attempts:
        text = attempt.trial.variant.program if attempt.trial is not None else attempt.title
        if text not in seen:
            seen.add(text)
            kept.append(attempt)
    return kept
