# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.generate.lm.toy import BEGIN, words

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import TOKENIZER, VARIABLE, ModelFile, find, read
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.generate.lm.grammar import grammar
from npuforge.generate.lm.prefix import PrefixCheck

PROMPT = list(range(40, 140))


def test_a_seed_gives_the_same_sample(toy_model: ModelFile) -> None:
    with LlamaEngine(toy_model) as engine:
        alone = engine.draw(PROMPT, Sampling(count=1, most=24, seed=5))
    with LlamaEngine(toy_model) as engine:
        again = engine.draw(PROMPT, Sampling(count=1, most=24, seed=5))
        first = engine.draw(PROMPT, Sampling(count=4, most=24, seed=3))
    assert alone.samples == again.samples
    assert len({sample.text for sample in first.samples}) == 4
    assert first.prompt == len(PROMPT)
    assert all(s.tokens == 24 and not s.ended for s in first.samples if s.tokens >= 24)


@pytest.mark.parametrize("constrained", [False, True])
def test_a_prompt_with_its_completion_fits_the_context(
    toy_model: ModelFile, constrained: bool
) -> None:
    rules = grammar() if constrained else ""
    sampling = Sampling(count=2, most=24, grammar=rules, check=PrefixCheck({}, "910b2"))
    question = PROMPT * -(-toy_model.context // len(PROMPT))
    with LlamaEngine(toy_model) as engine:
        cut = engine.draw(question[: toy_model.context - 5], sampling)
        nothing = engine.draw(question, sampling)
    assert all(sample.ended or sample.tokens == 5 for sample in cut.samples)
    assert [(one.text, one.tokens, one.ended) for one in nothing.samples] == [("", 0, False)] * 2
    assert nothing.prompt == len(question)


def test_samples_keep_to_a_grammar_and_say_whether_they_ended(toy_model: ModelFile) -> None:
    short = Sampling(count=6, most=8, grammar='start: "yes" | "no"')
    endless = Sampling(count=1, most=8, grammar="start: /[ab]{20}/", temperature=0.001)
    with LlamaEngine(toy_model) as engine:
        drawn = engine.draw(PROMPT, short)
        (cut,) = engine.draw(PROMPT, endless).samples
        with pytest.raises(UsageError, match="grammar"):
            engine.draw(PROMPT, Sampling(count=1, most=2, grammar="start: nothing"))
    assert {sample.text for sample in drawn.samples} <= {"yes", "no"}
    assert all(sample.ended for sample in drawn.samples)
    assert all(sample.forced for sample in drawn.samples)
    assert (cut.tokens, cut.ended) == (8, False)
    assert set(cut.text) <= {"a", "b"}


def test_samples_are_beginnings_of_programs_under_our_grammar(toy_model: ModelFile) -> None:
    whole = grammar().replace("start: <think> THOUGHT </think>", "start: <think> </think>")
    with LlamaEngine(toy_model) as engine:
        drawn = engine.draw(PROMPT, Sampling(count=2, most=200, grammar=whole, seed=1))
    vocabulary = toy_model.vocabulary()
    for sample in drawn.samples:
        assert "@ascend_kernel\ndef " in sample.text
        matcher = vocabulary.matcher(whole)
        tokens = toy_model.tokenizer().encode(sample.text, add_special_tokens=False).ids
        assert matcher.validate_tokens(tokens) == len(tokens)


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """A process that was started in the background may ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_ends_it_and_signals_stay_ours(toy_model: ModelFile) -> None:
    before = signal.getsignal(signal.SIGINT)
    with LlamaEngine(toy_model) as engine:
        engine.draw(PROMPT, Sampling(count=1, most=1))
        assert signal.getsignal(signal.SIGINT) is before
        sent = threading.Event()

        def interrupt(_tokens: int) -> None:
            if not sent.is_set():
                sent.set()
                os.kill(os.getpid(), signal.SIGINT)

        endless = Sampling(count=2, most=4000, grammar="start: /[ab]{9000}/")
        with pytest.raises(KeyboardInterrupt):
            engine.draw(PROMPT, endless, interrupt)
        assert sent.is_set()


def test_a_conversation_becomes_tokens_of_the_models_own_tokenizer(toy_model: ModelFile) -> None:
    tokens = toy_model.prompt([{"role": "user", "content": "import tile 12"}])
    assert isinstance(tokens, list)
    known = words()
    assert [known.id_to_token(token) for token in tokens].count(BEGIN) == 2
    assert [known.id_to_token(token) for token in tokens].count("import") == 1
    assert known.decode(tokens).startswith("user\nimport tile 12\n")


def test_a_file_without_a_tokenizer_is_refused(toy_model: ModelFile) -> None:
    bare = ModelFile(toy_model.path, {k: v for k, v in toy_model.head.items() if k != TOKENIZER})
    with LlamaEngine(bare) as engine, pytest.raises(UsageError, match="brings no tokenizer"):
        engine.draw(PROMPT, Sampling(count=1, most=2))


def test_files_that_are_no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    wrong = tmp_path / "wrong.gguf"
    for text in (b"", b"hello", b"GGUF\3\0\0\0" + b"\xff" * 30):
        wrong.write_bytes(text)
        with pytest.raises(UsageError, match=r"not a GGUF|cannot read"):
            read(wrong)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.gguf"))
    with pytest.raises(UsageError, match="No such file"):
        find()
