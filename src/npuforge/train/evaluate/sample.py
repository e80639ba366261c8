# SPDX-License-Identifier: Apache-2.0
"""Answers of a model to the prompts of an evaluation: many at once, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from npuforge.generate.lm.engine.course import Course, Words
from npuforge.train.evaluate.guides import Guides
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.records import as_dicts

_AT_ONCE = 384  # sequences
_MEMORY = 0.3  # of what is free, for what sequences hold: it is copied when it grows


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a model wrote for a task; `cut` counts answers that did not come to an end."""

    suite: str
    name: str
    level: int | None
    answers: list[str]
    tokens: int
    cut: int
    ended: list[bool] = []  # whether each answer came to its end


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    samples: int = 10
    temperature: float = 0.6
    top_p: float = 0.95
    most_tokens: int = 2048
    seed: int = 0
    guided: bool = True
    jobs: int = 1  # processes in which guides read along


class Answering(Protocol):
    """A model that is open."""

    def answers(self, prompts: Sequence[Prompt], how: Sampling) -> Iterator[Answers]:
        """Answers to every prompt that can be asked."""
        ...


def open_sampler(model: str) -> Answering:
    """A folder or a GGUF file; llama.cpp is what runs a file fast without a GPU."""
    import torch  # noqa: PLC0415

    if model.endswith(".gguf") and not torch.cuda.is_available():
        from npuforge.train.evaluate.llama import LlamaSampler  # noqa: PLC0415 (imports this)

        return LlamaSampler(Path(model))
    return Sampler(model)


class Sampler:
    """A model of the transformers library, many answers at once."""

    def __init__(self, model: str) -> None:
        import torch  # noqa: PLC0415

        from npuforge.train.models import open_model  # noqa: PLC0415

        opened = open_model(model, None, "sdpa")
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        # cuDNN plans anew for every length, and a batch has another one with every token.
        torch.backends.cuda.enable_cudnn_sdp(False)
        dtype = torch.bfloat16 if self.device == "cuda" else torch.float32
        self.net = opened.model.to(device=self.device, dtype=dtype).eval()
        self.words = opened.tokenizer
        self.known = _known(self.words)

    def answers(self, prompts: Sequence[Prompt], how: Sampling) -> Iterator[Answers]:
        """Answers to every prompt that can be asked, the short ones first."""
        from npuforge.train.evaluate.decode import Drawing, Question, decode  # noqa: PLC0415

        words = self.words
        positions: int = self.net.config.max_position_embeddings
        room = positions - min(how.most_tokens, positions) // 2
        asked: list[tuple[list[int], Prompt]] = []
        for prompt in (prompt for prompt in prompts if not prompt.problem):
            tokens = words(_text(words, prompt), add_special_tokens=False)["input_ids"]
            if len(tokens) > room:  # nothing can be said to it
                yield _answers(words, prompt, [Course(self.known, None)] * how.samples)
            else:
                asked.append((tokens, prompt))
        asked.sort(key=lambda one: len(one[0]))
        with Guides(how.jobs if how.guided else 0) as guides:
            questions = {
                id(one): (prompt, one)
                for tokens, prompt in asked
                for one in [Question(tokens, self._courses(prompt, how, guides))]
            }
            drawing = Drawing(
                how.most_tokens, how.temperature, how.top_p, self._at_once(how), how.seed
            )
            given = (one for _, one in questions.values())
            for done in decode(self.net, given, drawing):
                prompt, _ = questions[id(done)]
                yield _answers(words, prompt, done.courses)

    def _courses(self, prompt: Prompt, how: Sampling, guides: Guides) -> list[Course]:
        guide = guides.guide(prompt.asked) if how.guided else None
        return [Course(self.known, guide) for _ in range(how.samples)]

    def _at_once(self, how: Sampling) -> int:
        """How many sequences there is memory for, where none is shorter than can be."""
        import torch  # noqa: PLC0415

        if self.device == "cpu":
            return _AT_ONCE
        shape = self.net.config
        width = shape.hidden_size // shape.num_attention_heads * shape.num_key_value_heads
        token = 2 * shape.num_hidden_layers * width * self.net.dtype.itemsize
        longest = shape.max_position_embeddings + how.most_tokens  # with what was taken back
        free, _ = torch.cuda.mem_get_info()
        return max(1, min(_AT_ONCE, int(free * _MEMORY / (token * longest))))


def _known(words: Any) -> Words:
    return Words(
        lambda tokens: words.decode(tokens, skip_special_tokens=True),
        lambda text: words(text, add_special_tokens=False)["input_ids"],
        words("\n", add_special_tokens=False)["input_ids"][-1],
        words.eos_token_id,
    )


def _text(words: Any, prompt: Prompt) -> str:
    text: str = words.apply_chat_template(
        as_dicts(prompt.prompt), tokenize=False, add_generation_prompt=True
    )
    return text


def _answers(words: Any, prompt: Prompt, own: Sequence[Course]) -> Answers:
    return Answers(
        suite=prompt.suite,
        name=prompt.name,
        level=prompt.level,
        answers=[words.decode(one.tokens, skip_special_tokens=True) for one in own],
        tokens=sum(len(one.tokens) for one in own),
        cut=sum(not one.ended for one in own),
        ended=[one.ended for one in own],
    )
