# SPDX-License-Identifier: Apache-2.0
"""Guided answers by llama.cpp: a server that knows an answer by heart, and the library itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import torch
from tests.generate.lm.taught import LETTERS, Scale, Written, written

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.course import Course
from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.guided import draw_guided
from npuforge.generate.lm.engine.model import ModelFile
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.generate.lm.guide.guide import Guide

_ASKED = [7, 7, 7]

Piece = Mapping[str, Any]


@pytest.fixture(scope="module")
def scale() -> Written:
    return written(Scale(), torch.randn(3000))


class _Server:
    """Says a text by heart, from wherever it is asked; holds something else for likelier after the
    texts of `doubts`."""

    def __init__(self, text: str, doubts: Mapping[str, str]) -> None:
        self.text, self.doubts = text, doubts
        self.slots: set[int] = set()

    def __call__(self, asked: Mapping[str, Any], callback: Callable[[Piece], bool]) -> None:
        assert asked["prompt"][: len(_ASKED)] == _ASKED
        self.slots.add(asked["id_slot"])
        so_far = "".join(map(chr, asked["prompt"][len(_ASKED) :]))
        for piece in self._pieces(so_far):
            if callback(piece):
                return
        callback({"choices": [{"text": "", "logprobs": None, "finish_reason": "stop"}]})

    def _pieces(self, so_far: str) -> Iterator[Piece]:
        while self.text.startswith(so_far) and so_far != self.text:
            others = [{"id": ord(self.text[len(so_far)]), "logprob": -0.1}]
            for before, other in self.doubts.items():
                if so_far.endswith(before):
                    others.insert(0, {"id": ord(other), "logprob": -0.05})
            token = others[0]["id"]
            said = {"id": token, "top_logprobs": others}
            so_far += chr(int(token))
            yield {"choices": [{"text": so_far[-1], "logprobs": {"content": [said]}}]}


def _drawn(server: Any, asked: str, count: int = 2, most: int = 20_000) -> Any:
    courses = [Course(LETTERS, Guide(asked)) for _ in range(count)]
    return draw_guided(server, _ASKED, courses, Sampling(count=count, most=most), lambda _: None)


def test_right_answers_come_whole(scale: Written) -> None:
    answer = scale.answer
    server = _Server(answer, {})
    drawn = _drawn(server, scale.asked)
    assert [(one.text, one.ended) for one in drawn.samples] == [(answer, True)] * 2
    assert (server.slots, drawn.asked) == ({0, 1}, 3)


def test_what_is_refused_is_replaced(scale: Written) -> None:
    answer = scale.answer
    (sample,) = _drawn(_Server(answer, {"tl.e": "q"}), scale.asked, count=1).samples
    assert (sample.text, sample.ended) == (answer, True)


def test_what_the_guide_gives_up_or_is_too_long_is_no_answer(scale: Written) -> None:
    wrong = scale.answer.replace("tl.exp(", "tl.expo(")
    (sample,) = _drawn(_Server(wrong, {}), scale.asked, count=1).samples
    assert not sample.ended
    (cut,) = _drawn(_Server(scale.answer, {}), scale.asked, count=1, most=90).samples
    assert not cut.ended


def test_nothing_is_asked_after_more_than_an_answer_may_have(scale: Written) -> None:
    """Lines that are given may be too many, too."""
    server = _Server(scale.answer, {})
    for most in range(20, len(scale.answer), 20):

        def limited(asked: Mapping[str, Any], callback: Callable[[Piece], bool]) -> None:
            assert len(asked["prompt"]) < len(_ASKED) + most  # noqa: B023 (called in this round)
            server(asked, callback)

        (cut,) = _drawn(limited, scale.asked, count=1, most=most).samples
        assert not cut.ended


def test_an_error_of_the_server_is_told(scale: Written) -> None:
    def broken(_: Mapping[str, Any], callback: Callable[[Piece], bool]) -> None:
        callback({"error": {"message": "no room"}})

    with pytest.raises(UsageError, match="no room"):
        _drawn(broken, scale.asked)


def test_an_interrupt_ends_it(scale: Written) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    def endless(_: Mapping[str, Any], callback: Callable[[Piece], bool]) -> None:
        while not callback({"choices": []}):
            time.sleep(0.01)

    courses = [Course(LETTERS, Guide(scale.asked)) for _ in range(2)]
    with pytest.raises(KeyboardInterrupt):
        draw_guided(endless, _ASKED, courses, Sampling(count=2), interrupt)


def test_llama_cpp_answers_line_by_line(toy_model: ModelFile, scale: Written) -> None:
    """The toy knows nothing: what it writes is refused, and it comes to an end all the same."""
    prompt = toy_model.prompt([{"role": "user", "content": scale.asked}])
    sampling = Sampling(count=3, most=60, guide=Guide(scale.asked))
    with LlamaEngine(toy_model) as engine:
        drawn = engine.draw(prompt, sampling)
    assert len(drawn.samples) == 3
    assert all(0 < sample.tokens <= 80 and not sample.ended for sample in drawn.samples)
    assert drawn.asked == len(prompt)
