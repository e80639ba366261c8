# SPDX-License-Identifier: Apache-2.0
"""Answers by llama.cpp that a guide looks after: drawn a line at a time, all answers at once.

Each answer has a place of its own in the server, which keeps what it has read: to go back and to be
given tokens is to ask with other tokens at the end, and only those are read anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.course import CHOICES, Course
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling, Watch
from npuforge.generate.lm.guide.doubts import Choice

_POLL_S = 0.1

Handle = Callable[[Mapping[str, Any], Callable[[Mapping[str, Any]], bool]], Any]


def draw_guided(
    handle: Handle,
    prompt: list[int],
    courses: list[Course],
    sampling: Sampling,
    watch: Watch,
) -> Drawn:
    """Go the courses to their ends. One the guide gave up is no answer."""
    started = time.monotonic()
    answers = [
        _Answer(handle, prompt, course, sampling, place) for place, course in enumerate(courses)
    ]
    threads = [
        threading.Thread(target=answer.go, name=f"npuforge-lm-{answer.place}", daemon=True)
        for answer in answers
    ]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            time.sleep(_POLL_S)
            watch(sum(len(course.tokens) for course in courses))
    except BaseException:
        for answer in answers:
            answer.unwanted = True
        for thread in threads:
            thread.join()
        raise
    for answer in answers:
        if answer.failed is not None:
            raise answer.failed
    samples = tuple(
        Sample(
            course.words.text(course.tokens),
            len(course.tokens),
            course.ended,
        )
        for course in courses
    )
    return Drawn(samples, len(prompt), time.monotonic() - started)


@dataclass(slots=True)
class _Answer:
    """One answer, in a thread of its own."""

    handle: Handle
    prompt: list[int]
    course: Course
    sampling: Sampling
    place: int
    unwanted: bool = False
    failed: BaseException | None = None
    _error: str = ""
    _stopped: bool = False  # the line was stopped, and did not end by itself

    def go(self) -> None:
        try:
            while not (self.unwanted or self._is_over()):
                self._given()
                if not (self.course.ended or self._is_over()):
                    self._line()
        except BaseException as error:  # handed over to whoever waits
            self.failed = error

    def _is_over(self) -> bool:
        return self.course.is_over(self.sampling.most)

    def _given(self) -> None:
        """What the guide gives is not drawn."""
        while self.course.waits_with_given and not self.course.ended:
            self.course.take(self.course.words.end, ())

    def _line(self) -> None:
        """Draw tokens until the guide has something to say, or a line ends."""
        self._stopped = False
        course, sampling = self.course, self.sampling
        self.handle(
            {
                "prompt": [*self.prompt, *course.tokens],
                "max_tokens": max(1, sampling.most - len(course.tokens)),
                "temperature": sampling.temperature * course.daring,
                "top_p": sampling.top_p,
                "top_k": 0,
                "min_p": 0.0,
                "seed": (sampling.seed + self.place) * 1_000_003 + course.taken,
                "stream": True,
                "logprobs": CHOICES,
                "cache_prompt": True,
                "id_slot": self.place,
            },
            self._take,
        )
        if self._error:
            raise UsageError(self._error)
        if not (self._stopped or self._is_over()):  # the model has nothing more to say
            course.take(course.words.end, ((course.words.end, 0.0),))

    def _take(self, piece: Mapping[str, Any]) -> bool:
        """A piece of the server's; whether no more is wanted."""
        self._stopped = self._stopped or self.unwanted or self._has_said(piece)
        return self._stopped

    def _has_said(self, piece: Mapping[str, Any]) -> bool:
        if "error" in piece:
            self._error = str(piece["error"].get("message", piece["error"]))
            return True
        for choice in piece.get("choices", ()):
            for said in (choice.get("logprobs") or {}).get("content", ()):
                if self._token(int(said["id"]), said["top_logprobs"]):
                    return True
        return False

    def _token(self, token: int, others: list[Mapping[str, Any]]) -> bool:
        choices: list[Choice] = [(int(one["id"]), float(one["logprob"])) for one in others]
        before = len(self.course.tokens)
        self.course.take(token, choices)
        went_on = len(self.course.tokens) == before + 1 and not self.course.waits_with_given
        return not went_on or token == self.course.words.newline or self._is_over()
