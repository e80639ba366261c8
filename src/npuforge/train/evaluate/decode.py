# SPDX-License-Identifier: Apache-2.0
"""Many answers to many prompts at once, by any causal model of the transformers library.

A prompt is read once for all its answers. Answers are of very different lengths, and what ended is
taken out of the batch, memory and all: the last long ones do not hold up hundreds of others. Keys
and values get room for many tokens at once: to allocate and copy all of them for every token takes
longer than the model does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

_ROOM = 256  # tokens
_ENDED = 0.2  # share of a batch that has ended when it is taken out


@dataclass(slots=True)
class Decoded:
    """Tokens of an answer; `ended` says whether it came to its end."""

    tokens: list[int] = field(default_factory=list)
    ended: bool = False


class _Held:
    """A tensor that grows along its last axis but one, in memory that has room for more."""

    def __init__(self) -> None:
        self.whole: torch.Tensor | None = None

    def extended(self, held: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        """`held`, and `new` behind it. What is held may have become another tensor meanwhile."""
        used = held.shape[-2] if held.numel() else 0
        end = used + new.shape[-2]
        whole = self.whole
        if whole is None or whole.data_ptr() != held.data_ptr() or end > whole.shape[-2]:
            whole = new.new_empty((*new.shape[:-2], end + _ROOM, new.shape[-1]))
            if used:
                whole[..., :used, :] = held
            self.whole = whole
        whole[..., used:end, :] = new
        return whole[..., :end, :]


class _Layer(DynamicLayer):  # type: ignore[misc]
    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.room = _Held(), _Held()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        keys, values = self.room
        self.keys = keys.extended(self.keys, key_states)
        self.values = values.extended(self.values, value_states)
        return self.keys, self.values


@torch.inference_mode()
def decode(
    net: Any,
    given: Any,
    copies: int,
    most: int,
    end: int,
    temperature: float,
    top_p: float,
    generator: torch.Generator,
) -> list[Decoded]:
    """`copies` answers to each row of `given`: token ids and their mask, padded on the left."""
    mask = given["attention_mask"]
    places = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = Cache(layer_class_to_replicate=_Layer)
    seen = net(
        **given, position_ids=places, past_key_values=cache, use_cache=True, logits_to_keep=1
    )
    cache.batch_repeat_interleave(copies)
    logits = seen.logits[:, -1].repeat_interleave(copies, 0)
    mask = mask.repeat_interleave(copies, 0)
    place = places[:, -1:].repeat_interleave(copies, 0)
    found = [Decoded() for _ in range(len(logits))]
    alive = torch.arange(len(logits), device=logits.device)
    for _ in range(most):
        drawn = draw(logits, temperature, top_p, generator)
        for row, token in zip(alive.tolist(), drawn.tolist(), strict=True):
            answer = found[row]
            if token == end:
                answer.ended = True
            elif not answer.ended:
                answer.tokens.append(token)
        stopped = torch.tensor([found[row].ended for row in alive.tolist()], device=alive.device)
        if bool(stopped.all()):
            break
        if float(stopped.float().mean()) >= _ENDED:
            kept = (~stopped).nonzero()[:, 0]
            cache.batch_select_indices(kept)
            alive, drawn, mask, place = alive[kept], drawn[kept], mask[kept], place[kept]
        place = place + 1
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
        seen = net(
            input_ids=drawn[:, None],
            attention_mask=mask,
            position_ids=place,
            past_key_values=cache,
            use_cache=True,
        )
        logits = seen.logits[:, -1]
    return found


def draw(
    logits: torch.Tensor, temperature: float, top_p: float, generator: torch.Generator
) -> torch.Tensor:
    """A token for each row, from the likeliest that have `top_p` together."""
    chances = torch.softmax(logits.float() / temperature, dim=-1)
    ordered, tokens = chances.sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    ordered = ordered.masked_fill(before >= top_p, 0.0)
    drawn = torch.multinomial(ordered, 1, generator=generator)
    return tokens.gather(-1, drawn)[:, 0]
