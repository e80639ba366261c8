# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.generate.lm.gbnf import Grammar
from tests.generate.lm.toy import BEGIN, words

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import VARIABLE, ModelFile, find, read
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.generate.lm.form.grammar import grammar
from npuforge.generate.lm.guide.guide import Guide

PROMPT = list(range(40, 140))


def test_a_seed_gives_the_same_samples_however_many_are_drawn(toy_model: ModelFile) -> None:
    with LlamaEngine(toy_model) as engine:
        first = engine.draw(PROMPT, Sampling(count=4, most=24, seed=3))
        again = engine.draw(PROMPT, Sampling(count=4, most=24, seed=3))
        alone = engine.draw(PROMPT, Sampling(count=1, most=24, seed=5))
    assert first.samples == again.samples
    assert alone.samples[0] == first.samples[2]
    assert len({sample.text for sample in first.samples}) == 4
    assert first.asked == len(PROMPT)
    assert all(s.tokens == 24 and not s.ended for s in first.samples if s.tokens >= 24)


@pytest.mark.parametrize("guided", [False, True])
def test_a_question_with_its_answer_is_no_longer_than_the_model_knows(
    toy_model: ModelFile, guided: bool
) -> None:
    guide = Guide("xa: float32[na]\nreturn xa\n") if guided else None
    sampling = Sampling(count=2, most=24, guide=guide)
    question = PROMPT * -(-toy_model.context // len(PROMPT))
    with LlamaEngine(toy_model) as engine:
        cut = engine.draw(question[: toy_model.context - 5], sampling)
        nothing = engine.draw(question, sampling)
    assert all(sample.ended or sample.tokens == 5 for sample in cut.samples)
    assert [(one.text, one.tokens, one.ended) for one in nothing.samples] == [("", 0, False)] * 2
    assert nothing.asked == len(question)


def test_samples_keep_to_a_grammar_and_say_whether_they_ended(toy_model: ModelFile) -> None:
    answers = Sampling(count=6, most=8, grammar='root ::= "yes" | "no"')
    endless = Sampling(count=1, most=8, grammar='root ::= "ab"*', temperature=0)
    with LlamaEngine(toy_model) as engine:
        assert {s.text for s in engine.draw("x", answers).samples} <= {"yes", "no"}
        assert all(s.ended for s in engine.draw("x", answers).samples)
        (cut,) = engine.draw("x", endless).samples
        with pytest.raises(UsageError, match="grammar"):
            engine.draw("x", Sampling(count=1, most=2, grammar="root ::= nothing"))
    assert cut.ended or (cut.tokens == 8 and set(cut.text) == {"a", "b"})


def test_llama_cpp_takes_our_grammar(toy_model: ModelFile) -> None:
    known = Grammar(grammar())
    with LlamaEngine(toy_model) as engine:
        drawn = engine.draw(PROMPT, Sampling(count=2, most=40, grammar=grammar(), seed=1))
        whole = grammar().replace("root ::= think program", "root ::= program")
        program = engine.draw(PROMPT, Sampling(count=2, most=120, grammar=whole, seed=1))
    for sample in drawn.samples:
        assert known.accepts(sample.text) in (None, len(sample.text))
        assert sample.text.startswith("<think>")
    for sample in program.samples:
        assert known.accepts(sample.text, "program") in (None, len(sample.text))
        assert "@ascend_kernel\ndef " in sample.text


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

        endless = Sampling(count=2, most=4000, grammar="root ::= [ab] root")
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
