# SPDX-License-Identifier: Apache-2.0
"""A byte-level BPE tokenizer fitted to our records.

What is copied from the question stands alone: names of tensors, values and extents, element types,
the digits of numbers. `xa` is the same token wherever it is read or written; with tokens across
names (`, xa_wide[:`) a model has to learn every pair of an operation and a name by itself. What
lies between is one word: idioms of the language (`tl.alloc_ub(`, leading blanks) become single
tokens, and no token crosses a newline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.train import records

PAD = "<|endoftext|>"
BEGIN = "<|im_start|>"
END = "<|im_end|>"
THINK = ("<think>", "</think>")  # tokens of their own, but text: decoding keeps them

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    f"{BEGIN}{{{{ message['role'] }}}}\n{{{{ message['content'] }}}}{END}\n"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{BEGIN}assistant\n{{% endif %}}"
)

_APART = (
    r"\n",
    r"\b(?:b?float|u?int)(?:8|16|32|64)\b",
    r"\d",
    r"(?<![A-Za-z_.])(?:[xn][a-z]{1,2}|[vykw])(?![A-Za-z])",  # xa of xa_in, nb, v of v12
)
NAMES = tuple(kind + letter for kind in "xn" for letter in ascii_lowercase)
_OFTEN = 10_000  # as often as every name is taken to occur: it is one token, however rare
_LONGEST = 24  # bytes: an idiom, not a whole statement learned by heart
_ALPHABET = 256
_SMALLEST = _ALPHABET + len((PAD, BEGIN, END)) + len(THINK)


class _Texts(msgspec.Struct):
    """Any form of record: whatever messages it has."""

    messages: list[records.Message] = []
    prompt: list[records.Message] = []
    chosen: list[records.Message] = []
    rejected: list[records.Message] = []


def fit(paths: Sequence[Path], vocabulary: int, out: Path) -> dict[str, float]:
    """Fit a tokenizer to the records' messages and save it; tells how well it compresses."""
    if vocabulary < _SMALLEST:
        raise UsageError(f"a vocabulary has at least {_SMALLEST} tokens, not {vocabulary}")
    texts = list(_distinct(paths))
    if not texts:
        raise UsageError(f"no messages in {', '.join(map(str, paths))}")
    names = [f"{name}\n" * _OFTEN for name in NAMES]
    backend = _train([*map(_without_tags, texts), *names], vocabulary)
    _save(backend, out)
    tokens = sum(len(encoding.ids) for encoding in backend.encode_batch(texts))
    size = sum(len(text.encode()) for text in texts)
    return {
        "vocabulary": backend.get_vocab_size(),
        "texts": len(texts),
        "bytes": size,
        "tokens": tokens,
        "bytes_per_token": round(size / tokens, 3),
    }


def _distinct(paths: Sequence[Path]) -> Iterator[str]:
    """Every distinct content: what all records share must not fill the vocabulary."""
    decoder = msgspec.json.Decoder(_Texts)
    seen: set[str] = set()
    for path, number, line in records.lines(paths):
        try:
            record = decoder.decode(line)
        except msgspec.DecodeError as error:
            raise UsageError(f"{path}:{number}: not a record: {error}") from error
        for message in (*record.messages, *record.prompt, *record.chosen, *record.rejected):
            if message.content and message.content not in seen:
                seen.add(message.content)
                yield message.content


def _without_tags(text: str) -> str:
    """What BPE learns from: the tags are tokens already, and a second one would be lost."""
    for tag in THINK:
        text = text.replace(tag, "\n")
    return text


def _train(texts: Iterable[str], vocabulary: int) -> Any:
    import tokenizers  # noqa: PLC0415
    from tokenizers import decoders, models, pre_tokenizers, trainers  # noqa: PLC0415

    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex("|".join(_APART)), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    backend.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocabulary - len(THINK),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            special_tokens=[PAD, BEGIN, END],
            max_token_length=_LONGEST,
            min_frequency=2,
            show_progress=False,
        ),
    )
    backend.add_tokens([tokenizers.AddedToken(text, normalized=False) for text in THINK])
    return backend


def _save(backend: Any, out: Path) -> None:
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    fast = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=END,
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
    try:
        fast.save_pretrained(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from error
