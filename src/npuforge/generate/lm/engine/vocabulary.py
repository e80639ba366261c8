# SPDX-License-Identifier: Apache-2.0
"""A tokenizer as completions need it: the text of tokens, line breaks, and grammars over tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from npuforge.errors import UsageError
from npuforge.generate.lm.grammar import END_OF_THOUGHT, THINK, THOUGHT

# Spelt in letters, the closing mark cannot be told from a text that begins like it.
_LITERAL_THOUGHT = f'"{THINK}" /[^<]*/ "{END_OF_THOUGHT}"'


class Vocabulary:
    """The tokens of a tokenizer; `end` is the token that ends a completion."""

    def __init__(self, tokenizer: Any, end: int) -> None:
        self.end = end
        self._tokenizer = tokenizer
        self._constrained = _constrained(tokenizer.to_str(), end)
        self.size: int = tokenizer.get_vocab_size()
        # Parts of a letter, which llama.cpp keeps to itself until the letter is whole.
        self.partial = tuple(one for one in range(self.size) if "\ufffd" in self.text([one]))
        self._breaks = frozenset(one for one in range(self.size) if "\n" in self.text([one]))
        known = tokenizer.get_vocab()
        self._marks = THINK in known and END_OF_THOUGHT in known

    def text(self, tokens: Sequence[int]) -> str:
        decoded: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return decoded

    def ends_line(self, token: int) -> bool:
        return token in self._breaks

    def matcher(self, grammar: str) -> Any:
        """Return llguidance's matcher of a completion under the grammar."""
        text = grammar if self._marks else _with_literal_thought(grammar)
        matcher = _llguidance().LLMatcher(self._constrained, text)
        if matcher.get_error():
            raise UsageError(f"the grammar cannot be used: {matcher.get_error().splitlines()[0]}")
        return matcher


def _with_literal_thought(grammar: str) -> str:
    return grammar.replace(THOUGHT, _LITERAL_THOUGHT, 1)


@lru_cache(maxsize=4)
def _constrained(tokenizer: str, end: int) -> Any:
    return _llguidance().LLTokenizer(tokenizer, eos_token=end)


def _llguidance() -> Any:
    try:
        import llguidance  # noqa: PLC0415 (optional)
    except ImportError:
        raise UsageError("llguidance is not installed: pip install 'npuforge[lm]'") from None
    return llguidance
