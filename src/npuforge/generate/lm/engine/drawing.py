# SPDX-License-Identifier: Apache-2.0
"""Completions drawn by a llama.cpp server, all samples of a prompt at once.

Each sample has a slot of its own in the server, which keeps what it has read. To go back, or to
append forced tokens, is to ask with other tokens at the end, and the server reads only those. The
server draws from all tokens. If the grammar refuses the token, another is drawn from the likeliest
that it allows: together that is a draw from the allowed tokens. Tokens that are parts of a letter
are not drawn: programs have none.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.completion import Completion
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling, Watch

_POLL_S = 0.1
_FINISHED = "stop"
_LIKELIEST = 40  # tokens that the server tells of, besides the one drawn

Handle = Callable[[Mapping[str, Any], Callable[[Mapping[str, Any]], bool]], Any]


def draw(
    handle: Handle,
    prompt: list[int],
    completions: Sequence[Completion],
    sampling: Sampling,
    watch: Watch,
) -> Drawn:
    """Take the completions to their ends."""
    started = time.monotonic()
    sources = [_Source(handle, prompt, one, sampling, slot) for slot, one in enumerate(completions)]
    threads = [
        threading.Thread(target=source.go, name=f"npuforge-lm-{source.slot}", daemon=True)
        for source in sources
    ]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            time.sleep(_POLL_S)
            watch(sum(len(one.tokens) for one in completions))
    except BaseException:
        for source in sources:
            source.unwanted = True
        for thread in threads:
            thread.join()
        raise
    for source in sources:
        if source.failure is not None:
            raise source.failure
    return Drawn(tuple(map(Sample.of, completions)), len(prompt), time.monotonic() - started)


@dataclass(slots=True)
class _Source:
    """One completion, in a thread of its own."""

    handle: Handle
    prompt: list[int]
    completion: Completion
    sampling: Sampling
    slot: int
    unwanted: bool = False
    failure: BaseException | None = None
    _error: str = ""
    _stopped: bool = False  # by us: the server had more to say
    _finished: bool = False  # the server came to the end token
    _all: bool = False  # the likeliest tokens were not enough: ask for all of them

    def go(self) -> None:
        try:
            while not (self.unwanted or self._is_over()):
                if self.completion.is_forced:
                    self.completion.take(self.completion.vocabulary.end)
                else:
                    self._ask()
        except BaseException as error:  # raised again by the caller's thread
            self.failure = error

    def _is_over(self) -> bool:
        return self.completion.is_over(self.sampling.most)

    def _ask(self) -> None:
        """Let the server draw until the completion departs from the drawn tokens."""
        self._stopped = self._finished = False
        completion, sampling = self.completion, self.sampling
        self.handle(
            {
                "prompt": [*self.prompt, *completion.tokens],
                "max_tokens": max(1, sampling.most - len(completion.tokens)),
                "temperature": sampling.temperature * completion.warmth,
                "top_p": sampling.top_p,
                "top_k": 0,
                "min_p": 0.0,
                "seed": self._seed(),
                "stream": True,
                "logprobs": completion.vocabulary.size if self._all else _LIKELIEST,
                "logit_bias": [[token, False] for token in completion.vocabulary.partial],
                "cache_prompt": True,
                "id_slot": self.slot,
            },
            self._receive,
        )
        if self._error:
            raise UsageError(self._error)
        if self._finished and not (self._stopped or self._is_over()):
            self._take(completion.vocabulary.end, [])

    def _seed(self) -> int:
        return (self.sampling.seed + self.slot) * 1_000_003 + self.completion.drawn

    def _receive(self, piece: Mapping[str, Any]) -> bool:
        """Take a piece of the server's; return whether no more is wanted."""
        self._stopped = self._stopped or self.unwanted or self._departs(piece)
        return self._stopped

    def _departs(self, piece: Mapping[str, Any]) -> bool:
        if "error" in piece:
            self._error = str(piece["error"].get("message", piece["error"]))
            return True
        for choice in piece.get("choices", ()):
            self._finished = choice.get("finish_reason") == _FINISHED
            for said in (choice.get("logprobs") or {}).get("content", ()):
                if self._take(int(said["id"]), said["top_logprobs"]):
                    return True
        return False

    def _take(self, token: int, likeliest: Sequence[Mapping[str, Any]]) -> bool:
        """Take a token that the server drew; return whether the completion goes on otherwise."""
        completion = self.completion
        if completion.allows(token):
            taken = token
        else:
            allowed = [one for one in likeliest if completion.allows(int(one["id"]))]
            if not allowed:
                if self._all:
                    completion.given_up = True
                self._all = True
                return True
            taken = self._drawn_of(allowed)
        self._all = False
        again, back = completion.take(taken)
        return bool(back) or again != token or completion.is_forced or self._is_over()

    def _drawn_of(self, allowed: Sequence[Mapping[str, Any]]) -> int:
        heat = self.sampling.temperature * self.completion.warmth
        most = max(float(one["logprob"]) for one in allowed)
        weights = [math.exp((float(one["logprob"]) - most) / heat) for one in allowed]
        dice = random.Random(self._seed())
        return int(dice.choices(allowed, weights)[0]["id"])
