# SPDX-License-Identifier: Apache-2.0
"""Ask, judge, say what is wrong, ask again: until it is right and fast, or no more is gained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from npuforge.generate.written.attempt import Attempt
from npuforge.models.errors import ModelError

_MOST_FAILED = 6  # earlier failures that a model is told of

Ask = Callable[[int, int, Attempt | None, Sequence[str]], Attempt]


@dataclass(frozen=True, slots=True)
class Search:
    """`candidates` are asked for at once in a round, from the best `beam` so far. A round without a
    better one counts against `patience`; a right program that reaches `enough` of the roofline
    ends it."""

    rounds: int = 30
    candidates: int = 1
    beam: int = 1
    patience: int = 6
    enough: float = 0.95


@dataclass(frozen=True, slots=True)
class Found:
    """All attempts in order, the best among them, and why the search ended."""

    attempts: tuple[Attempt, ...]
    best: Attempt | None
    ended: str


def search(settings: Search, ask: Ask) -> Found:
    """`ask(round, place, from, failed)` writes and judges one candidate; `from` is what it starts
    from and `failed` what was tried before in vain. A spent budget or a lost endpoint ends it with
    what there is; `ModelError` where that is nothing.
    """
    attempts: list[Attempt] = []
    best: list[Attempt] = []
    failed: list[str] = []
    idle = 0
    ended = f"after {settings.rounds} rounds"
    with ThreadPoolExecutor(settings.candidates) as pool:
        for number in range(settings.rounds):
            said = tuple(failed[-_MOST_FAILED:])
            asked = [
                pool.submit(ask, number, place, best[place % len(best)] if best else None, said)
                for place in range(settings.candidates)
            ]
            made: list[Attempt] = []
            over: ModelError | None = None
            for one in asked:
                try:
                    made.append(one.result())
                except ModelError as error:  # what there is already is not lost by it
                    over = error
            before = best[0].worth if best else None
            for attempt in made:
                line = f"{attempt.title}: {attempt.feedback.text.splitlines()[0]}"
                if best and attempt.worth <= best[0].worth and line not in failed:
                    failed.append(line)
            attempts += made
            if over is not None and not attempts:
                raise over
            if over is not None:
                ended = str(over)
            if not made:
                break
            best = sorted([*best, *made], key=lambda one: one.worth, reverse=True)[: settings.beam]
            better = before is None or best[0].worth > before
            idle = 0 if better else idle + 1
            if best[0].right and (best[0].roofline or 0.0) >= settings.enough:
                ended = f"at {100 * (best[0].roofline or 0):.0f} % of the roofline"
                break
            if over is not None:
                break
            if idle >= settings.patience:
                ended = f"nothing was gained in {idle} rounds"
                break
    return Found(tuple(attempts), best[0] if best else None, ended)
