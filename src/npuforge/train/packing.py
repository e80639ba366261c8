# SPDX-License-Identifier: Apache-2.0
"""Conversations as packed rows of tokens whose samples do not see each other.

The text of a conversation is cut where the assistant begins and stops to speak, and each piece is
made into tokens by itself, as it is when the model answers. In a row the positions begin again with
each sample, and no attention mask is given: transformers then lets a token see its own sample only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from npuforge.errors import UsageError
from npuforge.train.columns import dataset
from npuforge.train.records import Chat, as_dicts
from npuforge.train.renaming import Renamer

IGNORED = -100  # a label that no loss is taken of
_AT_ONCE = 2048  # conversations made into tokens in one call

Tokens = npt.NDArray[np.int32]
Row = npt.NDArray[np.int64]


class Sample(msgspec.Struct):
    """One conversation."""

    ids: Tokens
    labels: Tokens


class Packed(msgspec.Struct):
    """Rows for a trainer, and what they are made of."""

    rows: Any  # datasets.Dataset: input_ids, labels, seq_lengths
    samples: int
    left_out: int  # longer than a row
    tokens: int
    learned: int  # tokens that a loss is taken of


def pack(chats: Sequence[Chat], tokenizer: Any, length: int) -> Packed:
    """Rows of at most `length` tokens, each holding as many whole samples as fit."""
    import pyarrow as pa  # noqa: PLC0415
    from trl import pack_dataset  # noqa: PLC0415

    found = [sample for sample in samples(chats, tokenizer) if len(sample.ids) <= length]
    if not found:
        raise UsageError(f"every record is longer than {length} tokens")
    ends = np.cumsum([0, *(len(sample.ids) for sample in found)], dtype=np.int64)
    columns = {
        name: pa.LargeListArray.from_arrays(ends, np.concatenate([getattr(s, of) for s in found]))
        for name, of in (("input_ids", "ids"), ("labels", "labels"))
    }
    named = hashlib.sha256(np.concatenate([sample.ids for sample in found]).tobytes()).hexdigest()
    rows = pack_dataset(dataset(columns, named), length, "bfd")
    return Packed(
        rows=rows.with_format("numpy"),
        samples=len(found),
        left_out=len(chats) - len(found),
        tokens=int(ends[-1]),
        learned=sum(int((sample.labels != IGNORED).sum()) for sample in found),
    )


def samples(chats: Sequence[Chat], tokenizer: Any) -> Iterator[Sample]:
    """Each conversation as tokens, with labels on what the assistant says."""
    for start in range(0, len(chats), _AT_ONCE):
        pieces = [_pieces(chat, tokenizer) for chat in chats[start : start + _AT_ONCE]]
        texts = [text for parts in pieces for text, _ in parts]
        encoded = iter(tokenizer(texts, add_special_tokens=False)["input_ids"])
        for parts in pieces:
            ids = [np.asarray(next(encoded), np.int32) for _ in parts]
            labels = [
                part if learned else np.full_like(part, IGNORED)
                for part, (_, learned) in zip(ids, parts, strict=True)
            ]
            yield Sample(np.concatenate(ids), np.concatenate(labels))


def _pieces(chat: Chat, tokenizer: Any) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether the assistant says it, through its end token."""
    messages = as_dicts(chat.messages)
    last = max(index for index, message in enumerate(messages) if message["role"] == "assistant")
    whole = _render(messages[: last + 1], tokenizer)
    pieces: list[tuple[str, bool]] = []
    done = 0
    for index, message in enumerate(messages[: last + 1]):
        if message["role"] != "assistant":
            continue
        before = _render(messages[:index], tokenizer, asks=True)
        through = whole if index == last else _render(messages[: index + 1], tokenizer)
        if not (whole.startswith(through) and through.startswith(before)):
            raise UsageError("the chat template changes earlier turns: train on one turn a record")
        end = through.rfind(tokenizer.eos_token)
        stop = len(through) if end < len(before) else end + len(tokenizer.eos_token)
        pieces += [(whole[done : len(before)], False), (whole[len(before) : stop], True)]
        done = stop
    return pieces


def _render(messages: list[dict[str, str]], tokenizer: Any, asks: bool = False) -> str:
    text: str = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    return text


def _rename(ids: Row, labels: Row, lengths: Sequence[int], renamer: Renamer) -> None:
    """Each sample of a row in names of its own, in place."""
    end = 0
    for length in lengths:
        start, end = end, end + length
        ids[start:end] = renamer(ids[start:end])
    labels[labels != IGNORED] = ids[labels != IGNORED]


class PackedCollator(msgspec.Struct):
    """Rows as one batch of a constant width, which a compiled model needs."""

    width: int
    pad: int
    renamer: Renamer | None = None

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Positions that begin again with every sample, the filling being one more sample."""
        import torch  # noqa: PLC0415

        shape = (len(rows), self.width)
        ids = np.full(shape, self.pad, np.int64)
        labels = np.full(shape, IGNORED, np.int64)
        positions = np.empty(shape, np.int64)
        for index, row in enumerate(rows):
            lengths = [int(length) for length in row["seq_lengths"]]
            used = sum(lengths)
            ids[index, :used] = row["input_ids"]
            labels[index, :used] = row["labels"]
            if self.renamer is not None:
                _rename(ids[index], labels[index], lengths, self.renamer)
            positions[index] = np.concatenate(
                [np.arange(length) for length in (*lengths, self.width - used)]
            )
        labels[positions == 0] = IGNORED  # no sample begins by foretelling another
        return {
            "input_ids": torch.from_numpy(ids),
            "labels": torch.from_numpy(labels),
            "position_ids": torch.from_numpy(positions),
        }
