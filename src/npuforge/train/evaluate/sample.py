# SPDX-License-Identifier: Apache-2.0
"""Answers of a model to the prompts of an evaluation: many at once, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.records import as_dicts

_AT_ONCE = 320  # sequences


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a model wrote for a task; `cut` counts answers that did not come to an end."""

    suite: str
    name: str
    level: int | None
    answers: list[str]
    tokens: int
    cut: int


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    samples: int = 10
    temperature: float = 0.6
    top_p: float = 0.95
    most_tokens: int = 2048
    seed: int = 0


class Sampler:
    """A model that is open."""

    def __init__(self, model: str) -> None:
        import torch  # noqa: PLC0415

        from npuforge.train.models import open_model  # noqa: PLC0415

        opened = open_model(model, None, "sdpa")
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        dtype = torch.bfloat16 if self.device == "cuda" else torch.float32
        self.net = opened.model.to(device=self.device, dtype=dtype).eval()
        self.words = opened.tokenizer
        self.words.padding_side = "left"

    def answers(self, prompts: Sequence[Prompt], how: Sampling) -> Iterator[Answers]:
        """Answers to every prompt that can be asked, the short ones first."""
        import torch  # noqa: PLC0415
        from transformers import set_seed  # noqa: PLC0415

        set_seed(how.seed)
        words = self.words
        asked = sorted(
            ((_text(words, prompt), prompt) for prompt in prompts if not prompt.problem),
            key=lambda pair: len(pair[0]),
        )
        ordered = iter(asked)
        while batch := list(islice(ordered, max(1, _AT_ONCE // how.samples))):
            given = words([text for text, _ in batch], return_tensors="pt", padding=True,
                          add_special_tokens=False).to(self.device)  # fmt: skip
            with torch.inference_mode():
                made = self.net.generate(
                    **given,
                    do_sample=True,
                    temperature=how.temperature,
                    top_p=how.top_p,
                    num_return_sequences=how.samples,
                    max_new_tokens=how.most_tokens,
                    pad_token_id=words.pad_token_id,
                    eos_token_id=words.eos_token_id,
                )
            new = made[:, given["input_ids"].shape[1] :]
            for place, (_, prompt) in enumerate(batch):
                own = new[place * how.samples : (place + 1) * how.samples]
                yield _answers(words, prompt, own)


def _text(words: Any, prompt: Prompt) -> str:
    text: str = words.apply_chat_template(
        as_dicts(prompt.prompt), tokenize=False, add_generation_prompt=True
    )
    return text


def _answers(words: Any, prompt: Prompt, own: Any) -> Answers:
    ended = (own == words.eos_token_id).any(dim=1)
    return Answers(
        suite=prompt.suite,
        name=prompt.name,
        level=prompt.level,
        answers=words.batch_decode(own, skip_special_tokens=True),
        tokens=int((own != words.pad_token_id).sum()),
        cut=int((~ended).sum()),
    )
