# SPDX-License-Identifier: Apache-2.0
"""Decoding many answers at once, against the library's own way, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import cast

import msgspec
import pytest
import tokenizers
import torch
from tests.generate.lm import toy

from npuforge.cli import main
from npuforge.generate.lm.engine.completion import Check, Completion
from npuforge.generate.lm.engine.vocabulary import Vocabulary
from npuforge.generate.lm.prefix import PrefixCheck
from npuforge.train.evaluate.answers import Sampling
from npuforge.train.evaluate.batches import BatchSampler
from npuforge.train.evaluate.checks import Checks, DistantCheck
from npuforge.train.evaluate.decode import Asked, Drawing, _Batch, decode, draw
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.evaluate.sampler import open_sampler
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
    sampler = BatchSampler(str(start))
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
        known = Vocabulary(tokenizers.Tokenizer.from_str(words.backend_tokenizer.to_str()), end)
        asked = [Asked(tokens, [Completion(known) for _ in range(2)]) for tokens in given]
        how = Drawing(_MOST, 0.001, 0.5, at_once)
        done = list(decode(sampler.net, asked, how))
        assert sorted(map(id, done)) == sorted(map(id, asked))
        for one, row in zip(asked, plain, strict=True):
            cut = row[: row.index(end)] if end in row else row
            for answer in one.completions:
                assert answer.tokens == cut
                assert answer.ended == (end in row)


@dataclass(slots=True)
class _TakesBack(Completion):
    """Takes its first tokens back, every other one at a time, before it goes on."""

    left: int = 5

    def take(self, drawn: int) -> tuple[int | None, int]:
        token, _ = Completion.take(self, drawn)
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
    sampler = BatchSampler(str(start))
    texts = ["op: exp(x0), 7 elements", "v0 = exp(x0), 14 elements\nreturn"]
    given = [sampler.words(text, add_special_tokens=False)["input_ids"] for text in texts]
    plain = [Completion(sampler.vocabulary) for _ in texts]
    back = [_TakesBack(sampler.vocabulary), _TakesBack(sampler.vocabulary, left=3)]
    for completions in (plain, back):
        widths.clear()
        asked = [Asked(text, [one]) for text, one in zip(given, completions, strict=True)]
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
def checks() -> Iterator[Checks]:
    with Checks(2) as found:
        yield found


_WORDS = 'start: (/[a-z]+/ "\\n")+'  # lines of letters


@dataclass(frozen=True)
class _Even:
    """A check that rejects lines of an odd number of letters."""

    def line(self, completion: str) -> str | None:
        return "odd" if len(completion.splitlines()[-1]) % 2 else None

    def end(self, completion: str) -> str | None:
        return None if completion else "nothing"


def test_completions_do_not_depend_on_where_checks_run(start: Path, checks: Checks) -> None:
    """In this process they answer at once, in others when other rows have gone on."""
    sampler = BatchSampler(str(start))
    texts = ["op: exp(x0), 7 elements", "v0 = exp(x0), 14 elements\nreturn"]
    given = [sampler.words(text, add_special_tokens=False)["input_ids"] for text in texts]
    found = []
    own: tuple[Check, ...] = (_Even(), DistantCheck(cast(PrefixCheck, _Even()), checks.processes))
    for check in own:
        asked = [
            Asked(
                tokens,
                [
                    Completion(sampler.vocabulary, sampler.vocabulary.matcher(_WORDS), check)
                    for _ in range(3)
                ],
            )
            for tokens in given
        ]
        list(decode(sampler.net, asked, Drawing(60, 1.0, 0.95, 4, seed=3)))
        found.append([one for two in asked for one in two.completions])
    near, distant = found
    assert [one.tokens for one in near] == [one.tokens for one in distant]
    assert sum(one.rejected for one in near) > 0
    for one in near:
        *whole, _ = sampler.vocabulary.text(one.tokens).split("\n")
        assert all(re.fullmatch("[a-z]+", line) and len(line) % 2 == 0 for line in whole)


def test_an_infinite_temperature_draws_uniformly_from_what_the_grammar_allows() -> None:
    logits = torch.tensor([[5.0, 1.0, -torch.inf, 0.0]]).repeat(3000, 1)
    drawn = draw(logits, torch.full((3000, 1), torch.inf), 1.0, torch.linspace(0, 1, 3001)[:-1])
    counts = drawn.bincount(minlength=4).tolist()
    assert counts[2] == 0
    assert all(900 < count < 1100 for count in (counts[0], counts[1], counts[3]))


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
    (found,) = BatchSampler(str(start)).answers(prompts, Sampling(samples=3, most_tokens=5))
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
    how = Sampling(samples=2, most_tokens=6, constrained=False)
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
    (found,) = BatchSampler(str(start)).answers([long], Sampling(samples=2, most_tokens=9))
    assert (found.answers, found.cut, found.tokens) == (["", ""], 2, 0)
