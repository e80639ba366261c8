# SPDX-License-Identifier: Apache-2.0
"""Completions of a model of the transformers library, many at once, on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tokenizers

from npuforge.generate.lm.engine.completion import Completion
from npuforge.generate.lm.engine.sampling import Sample
from npuforge.generate.lm.engine.vocabulary import Vocabulary
from npuforge.train.evaluate.answers import Answers, Sampling, constraints
from npuforge.train.evaluate.checks import Checks
from npuforge.train.evaluate.prompts import Prompt
from npuforge.train.records import as_dicts

_AT_ONCE = 384  # sequences
_MEMORY = 0.3  # of what is free, for what sequences hold: it is copied when it grows


class BatchSampler:
    """A model of the transformers library that writes many completions at once."""

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
        self.vocabulary = _vocabulary(self.words)

    def answers(self, prompts: Sequence[Prompt], how: Sampling) -> Iterator[Answers]:
        """Yield the completions for every prompt that can be asked, short prompts first."""
        from npuforge.train.evaluate.decode import Asked, Drawing, decode  # noqa: PLC0415

        words = self.words
        positions: int = self.net.config.max_position_embeddings
        room = positions - min(how.most_tokens, positions) // 2
        asked: list[tuple[list[int], Prompt]] = []
        for prompt in (prompt for prompt in prompts if not prompt.problem):
            tokens = words(_text(words, prompt), add_special_tokens=False)["input_ids"]
            if len(tokens) > room:  # nothing can be said to it
                yield Answers.of(prompt, [Sample("", 0, False)] * how.samples)
            else:
                asked.append((tokens, prompt))
        asked.sort(key=lambda one: len(one[0]))
        with Checks(how.jobs) as checks:
            waiting = {
                id(one): (prompt, one)
                for tokens, prompt in asked
                for one in [Asked(tokens, self._completions(prompt, how, checks))]
            }
            drawing = Drawing(
                how.most_tokens, how.temperature, how.top_p, self._at_once(how), how.seed
            )
            given = (one for _, one in waiting.values())
            for done in decode(self.net, given, drawing):
                prompt, _ = waiting[id(done)]
                yield Answers.of(prompt, [Sample.of(one) for one in done.completions])

    def _completions(self, prompt: Prompt, how: Sampling, checks: Checks) -> list[Completion]:
        if not how.constrained:
            return [Completion(self.vocabulary) for _ in range(how.samples)]
        grammar, check = constraints(prompt)
        first = self.vocabulary.matcher(grammar)
        distant = checks.distant(check)
        return [Completion(self.vocabulary, first.deep_copy(), distant) for _ in range(how.samples)]

    def _at_once(self, how: Sampling) -> int:
        """Return the number of sequences that memory has room for at their longest."""
        import torch  # noqa: PLC0415

        if self.device == "cpu":
            return _AT_ONCE
        shape = self.net.config
        width = shape.hidden_size // shape.num_attention_heads * shape.num_key_value_heads
        token = 2 * shape.num_hidden_layers * width * self.net.dtype.itemsize
        longest = shape.max_position_embeddings + how.most_tokens  # with what was taken back
        free, _ = torch.cuda.mem_get_info()
        return max(1, min(_AT_ONCE, int(free * _MEMORY / (token * longest))))


def _vocabulary(words: Any) -> Vocabulary:
    own = tokenizers.Tokenizer.from_str(words.backend_tokenizer.to_str())
    return Vocabulary(own, int(words.eos_token_id))


def _text(words: Any, prompt: Prompt) -> str:
    text: str = words.apply_chat_template(
        as_dicts(prompt.prompt), tokenize=False, add_generation_prompt=True
    )
    return text
