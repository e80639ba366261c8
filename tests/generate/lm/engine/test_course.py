# SPDX-License-Identifier: Apache-2.0
"""Answers with lines that are taken back. A token is a letter here."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from tests.generate.lm.taught import LETTERS, Norm, Scale, Written, written

from npuforge.generate.lm.engine.course import Course
from npuforge.generate.lm.guide.doubts import Choice
from npuforge.generate.lm.guide.guide import Guide
from npuforge.train.dataset.reasoning import outlined, schedules


@pytest.fixture(scope="module")
def scale() -> Written:
    return written(Scale(), torch.randn(3000))


def _gone(course: Course, text: str, doubts: Mapping[str, str], most: int = 20_000) -> list[int]:
    """Let a model that knows `text` by heart answer, which holds something else for likelier after
    the texts of `doubts`. What it has read is kept as a decoder keeps it."""
    read: list[int] = []
    for _ in range(most):
        so_far = "".join(map(chr, course.tokens))
        right = (
            ord(text[len(so_far)]) if text.startswith(so_far) and so_far != text else LETTERS.end
        )
        choices: tuple[Choice, ...] = ((right, -0.1),)
        for before, other in doubts.items():
            if so_far.endswith(before):
                choices = ((ord(other), -0.1), (right, -2.0))
        token, back = course.take(choices[0][0], choices)
        if course.ended or course.given_up:
            break
        if back:
            del read[-back:]
        read.append(token)
        assert read == course.tokens
    return read


def test_a_right_answer_is_left_alone(scale: Written) -> None:
    course = Course(LETTERS, Guide(scale.asked))
    answer = scale.answer
    assert "".join(map(chr, _gone(course, answer, {}))) == answer
    assert (course.ended, course.refused) == (True, 0)


@pytest.mark.parametrize(
    ("before", "other"),
    [("tl.exp(v0[:m], xa", "w"), ("tl.mul(y_out[:m], v", "7"), ("# v0 = ", "s")],
)
def test_what_is_refused_is_replaced_by_the_next_likely(
    scale: Written, before: str, other: str
) -> None:
    answer = scale.answer
    assert before in answer
    course = Course(LETTERS, Guide(scale.asked))
    _gone(course, answer, {before: other})
    assert course.ended
    assert "".join(map(chr, course.tokens)) == answer
    assert course.refused >= 1


@pytest.mark.parametrize(
    ("before", "other"), [("op: cols = n", "a"), ("v7 -> ", "w"), ("xa -> v0, v", "7")]
)
def test_a_thought_is_doubted_that_leads_to_a_wrong_one(before: str, other: str) -> None:
    """What a kernel counts in can be anything, until it is said what it reads."""
    one = written(Norm(), torch.randn(7, 40), torch.ones(40))
    outline = outlined(one.taught, schedules(one.planned))
    thought = "".join(f"{line}\n" for line in ["<think>", *outline, "4.0 KB in, 1 KB out"])
    answer = f"{thought}</think>\n{one.taught}"
    assert before in answer, outline
    course = Course(LETTERS, Guide(one.asked))
    _gone(course, answer, {before: other})
    assert "".join(map(chr, course.tokens)) == answer
    assert course.refused >= 1


def test_an_answer_beyond_help_is_given_up(scale: Written) -> None:
    """Nothing loops for ever."""
    answer = scale.answer.replace("tl.exp(", "tl.expo(")
    course = Course(LETTERS, Guide(scale.asked))
    _gone(course, answer, {})
    assert (course.ended, course.given_up) == (False, True)
    assert course.is_over(len(answer) * 2)


def test_without_a_guide_nothing_is_refused() -> None:
    course = Course(LETTERS, None)
    _gone(course, "no program\n", {})
    assert ("".join(map(chr, course.tokens)), course.ended) == ("no program\n", True)


def test_the_answer_may_have_to_begin_anew(scale: Written) -> None:
    answer = scale.answer.replace("def op():", "ascend_kernel")
    course = Course(LETTERS, Guide(scale.asked))
    assert _gone(course, answer, {})
    assert course.refused == 4


def test_a_kernel_that_no_host_can_prepare_is_drawn_anew() -> None:
    """The kernel comes right only when it is written a second time."""
    norm = written(Norm(), torch.randn(40, 64), torch.randn(64))
    right = norm.answer
    launch = next(line for line in norm.taught.splitlines() if line.startswith("    op["))
    wrong = right.replace("u * tile", "tile * u").replace(launch, "    op[nothing")
    course = Course(LETTERS, Guide(norm.asked))
    text = wrong
    for _ in range(20_000):
        so_far = "".join(map(chr, course.tokens))
        if course.refused and so_far.endswith("@ascend_kernel\n"):
            text = right
        token = (
            ord(text[len(so_far)]) if text.startswith(so_far) and so_far != text else LETTERS.end
        )
        course.take(token, ((token, -0.1),))
        if course.ended or course.given_up:
            break
    assert "".join(map(chr, course.tokens)) == right


def test_a_thought_that_cannot_be_helped_stays() -> None:
    """A wrong outline does not end an answer, and its program is not held against it."""
    asked = "xa: float32[na, nb]\nv0 = amax(xa, [-1]): float32[na]\nreturn v0\n"
    thought = "<think>\nop: A stream: each core takes a share.\nop: w0 -> v0 -> w1\n"
    guide = Guide(asked)
    assert guide.line(thought).thought
    course = Course(LETTERS, guide)
    for letter in thought:
        while course.waits_with_given:
            course.take(0, ())
        course.take(ord(letter), ())
    while course.waits_with_given:
        course.take(0, ())
    assert LETTERS.text(course.tokens) == thought
    assert course.guide is guide


def test_what_stands_before_a_line_that_cannot_be_written_is_doubted() -> None:
    """The wrong operand is in a line that could stand; the one after it cannot."""
    one = written(Norm(), torch.randn(7, 40), torch.ones(40))
    outline = outlined(one.taught, schedules(one.planned))
    thought = "".join(f"{line}\n" for line in ["<think>", *outline, "4.0 KB in, 1 KB out"])
    answer = f"{thought}</think>\n{one.taught}"
    course = Course(LETTERS, Guide(one.asked))
    _gone(course, answer, {"tl.reduce_sum(v4_fold[:n], v": "2"})
    assert "".join(map(chr, course.tokens)) == answer
    assert course.refused >= 1
    assert course.guide is not None


def test_what_is_given_is_not_doubted(scale: Written) -> None:
    """The model would have had another loop, and goes wrong in a line after it."""
    outline = outlined(scale.taught, schedules(scale.planned))
    thought = "".join(f"{line}\n" for line in ["<think>", *outline, "4.0 KB in, 1 KB out"])
    answer = f"{thought}</think>\n{scale.taught}"
    course = Course(LETTERS, Guide(scale.asked))
    _gone(course, answer, {"start = first + t * ": "n", "tl.exp(v0[:m], xa": "w"})
    assert "".join(map(chr, course.tokens)) == answer
