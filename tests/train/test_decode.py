# SPDX-License-Identifier: Apache-2.0
"""Decoding many answers at once, against the library's own way, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import torch
from tests.generate.lm import toy

from npuforge.cli import main
from npuforge.generate.lm.engine.course import Course, Reader
from npuforge.generate.lm.guide.doubts import Choice
from npuforge.generate.lm.guide.guide import Guide
from npuforge.train.evaluate.decode import Drawing, Question, _Batch, decode, draw
from npuforge.train.evaluate.guides import Guides
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.evaluate.sample import Sampler, Sampling, open_sampler
from npuforge.train.export import export
from npuforge.train.records import Message

_MOST = 24


@pytest.mark.parametrize(("room", "at_once"), [(3, 100), (256, 100), (3, 2), (256, 4)])
def test_answers_are_those_of_the_library(
    start: Path, room: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Greedy: a hair's breadth of chance is left for anything but the likeliest token. Where not
    all are drawn at once, others take the places of those that ended."""
    monkeypatch.setattr("npuforge.train.evaluate.decode._ROOM", room)
    sampler = Sampler(str(start))
    words = sampler.words
    texts = ["op: exp(x0), 7 elements", "op", "v0 = exp(x0), 14 elements\nreturn"]
    given = [words(text, add_special_tokens=False)["input_ids"] for text in texts]
    wanted = [
        sampler.net.generate(
            **words([text], return_tensors="pt", add_special_tokens=False),
            do_sample=False,
            max_new_tokens=_MOST,
            pad_token_id=words.pad_token_id,
            eos_token_id=words.eos_token_id,
        )[0]
        for text in texts
    ]
    # A token that one answer has early and another has not: it ends there, and leaves the batch.
    plain = [
        row[len(words([text], add_special_tokens=False)["input_ids"][0]) :].tolist()
        for row, text in zip(wanted, texts, strict=True)
    ]
    for end in (words.eos_token_id, plain[0][3]):
        known = replace(sampler.known, end=end)
        asked = [Question(tokens, [Course(known, None) for _ in range(2)]) for tokens in given]
        how = Drawing(_MOST, 0.001, 0.5, at_once)
        done = list(decode(sampler.net, asked, how))
        assert sorted(map(id, done)) == sorted(map(id, asked))
        for one, row in zip(asked, plain, strict=True):
            cut = row[: row.index(end)] if end in row else row
            for answer in one.courses:
                assert answer.tokens == cut
                assert answer.ended == (end in row)


@dataclass(slots=True)
class _TakesBack(Course):
    """Takes its first tokens back, every other one at a time, before it goes on."""

    left: int = 5

    def take(self, drawn: int, choices: Sequence[Choice]) -> tuple[int, int]:
        token, _ = Course.take(self, drawn, choices)
        if not self.left or len(self.tokens) < 4:
            return token, 0
        self.left -= 1
        again = self.tokens[-3]
        del self.tokens[-2:]
        return again, 2  # two that were read; the last one was not


@pytest.mark.parametrize("room", [2, 256])
def test_what_was_taken_back_leaves_no_trace(
    start: Path, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Greedy answers are the same, although some rows of the batch went back and forth, and what
    is left of memory was moved meanwhile."""
    monkeypatch.setattr("npuforge.train.evaluate.decode._ROOM", room)
    monkeypatch.setattr("npuforge.train.evaluate.decode._UNUSED", 0.01)
    widths = _widths(monkeypatch)
    sampler = Sampler(str(start))
    texts = ["op: exp(x0), 7 elements", "v0 = exp(x0), 14 elements\nreturn"]
    given = [sampler.words(text, add_special_tokens=False)["input_ids"] for text in texts]
    plain = [Course(sampler.known, None) for _ in texts]
    back = [_TakesBack(sampler.known, None), _TakesBack(sampler.known, None, left=3)]
    for courses in (plain, back):
        widths.clear()
        asked = [Question(text, [one]) for text, one in zip(given, courses, strict=True)]
        list(decode(sampler.net, asked, Drawing(_MOST, 0.001, 0.5, 8)))
    assert [one.tokens for one in back] == [one.tokens for one in plain]
    assert len(plain[0].tokens) == _MOST
    assert any(after < before for before, after in pairwise(widths)) == (room == 2)


def _widths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many columns a batch of two has memory for, token by token."""
    seen: list[int] = []
    read = _Batch._read

    def noted(batch: _Batch, fed: Sequence[int]) -> None:
        read(batch, fed)
        if len(batch.rows) == 2:
            seen.append(batch.mask.shape[1])

    monkeypatch.setattr(_Batch, "_read", noted)
    return seen


@pytest.fixture(scope="module")
def guides() -> Iterator[Guides]:
    with Guides(2) as found:
        yield found


def test_answers_do_not_depend_on_where_guides_are(start: Path, guides: Guides) -> None:
    """In this process they answer at once, in others when others have gone on."""
    sampler = Sampler(str(start))
    asked = ["op: exp(x0), 7 elements", "v0 = exp(x0), 14 elements\nreturn"]
    given = [sampler.words(text, add_special_tokens=False)["input_ids"] for text in asked]
    found = []
    ways: tuple[Callable[[str], Reader], ...] = (Guide, guides.guide)
    for guide in ways:
        questions = [
            Question(tokens, [Course(sampler.known, own) for _ in range(3)])
            for tokens, own in zip(given, map(guide, asked), strict=True)
        ]
        list(decode(sampler.net, questions, Drawing(120, 1.0, 0.95, 4, seed=3)))
        found.append([course.tokens for one in questions for course in one.courses])
    near, distant = found
    assert near == distant
    assert len({tuple(tokens) for tokens in near}) == len(near)


def test_a_distant_guide_says_what_a_near_one_does(guides: Guides) -> None:
    asked = "op: exp(x0), 7 elements"
    near, distant = Guide(asked), guides.guide(asked)
    for answer in ("def op():\n", "op: A thought.\n", "</think>\n", "</think>\nx = 1\n"):
        assert distant.line(answer) == near.line(answer)
        assert distant.end(answer) == near.end(answer)
    assert not near.line("def op():\n").keep
    assert near.line("op: A thought.\n").keep


def test_only_the_likeliest_are_drawn() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]]).repeat(2000, 1))
    drawn = draw(logits, 1.0, 0.7, torch.linspace(0, 1, 2001)[:-1])
    counts = drawn.bincount(minlength=4).tolist()
    assert counts[2:] == [0, 0]
    assert 0.55 < counts[0] / 2000 < 0.7


def test_answers_to_prompts_that_can_be_asked(start: Path) -> None:
    prompts = [
        Prompt(suite="s", name="a", level=1, prompt=[Message("user", "op: exp(x0)")]),
        Prompt(suite="s", name="b", level=1, problem="not captured"),
    ]
    (found,) = Sampler(str(start)).answers(prompts, Sampling(samples=3, most_tokens=5))
    assert (found.name, len(found.answers), found.cut) == ("a", 3, 3)
    assert found.tokens == 15


def test_llama_cpp_answers_for_a_file_where_there_is_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    export(toy.folder(tmp_path / "toy"), tmp_path / "toy.gguf")
    prompts = [
        Prompt(suite="s", name="a", level=1, prompt=[Message("user", "op: exp(x0)")]),
        Prompt(suite="s", name="b", level=1, problem="not captured"),
    ]
    how = Sampling(samples=2, most_tokens=6, guided=False)
    (found,) = open_sampler(str(tmp_path / "toy.gguf")).answers(prompts, how)
    assert (found.name, len(found.answers)) == ("a", 2)
    assert 0 < found.tokens <= 12


def test_an_interrupted_run_goes_on_and_its_answers_are_the_same(
    start: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, out = tmp_path / "asked.jsonl", tmp_path / "out.jsonl"
    prompts = [
        Prompt(suite="s", name=name, level=1, prompt=[Message("user", f"op: {name}(x0)")])
        for name in ("exp", "abs", "sqrt")
    ]
    asked.write_bytes(b"\n".join(map(msgspec.json.encode, prompts)))
    command = ["evaluate", "sample", str(start), str(asked), "--out", str(out), "--free"]
    how = ["--samples", "2", "--most-tokens", "6"]
    assert main([*command, *how]) == 0
    whole = out.read_bytes().splitlines()
    out.write_bytes(whole[0] + b"\n")
    assert main([*command, *how]) == 0
    assert sorted(out.read_bytes().splitlines()) == sorted(whole)
    assert main([*command, *how[2:], "--samples", "3"]) != 0
    assert "answers of another run" in capsys.readouterr().err


def test_a_prompt_without_room_for_an_answer_is_a_failure(start: Path) -> None:
    long = Prompt(suite="s", name="long", level=1, prompt=[Message("user", "exp " * 400)])
    (found,) = Sampler(str(start)).answers([long], Sampling(samples=2, most_tokens=9))
    assert (found.answers, found.cut, found.tokens) == (["", ""], 2, 0)
