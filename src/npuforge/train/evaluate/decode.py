# SPDX-License-Identifier: Apache-2.0
"""Many answers to many prompts at once, by any causal model of the transformers library.

A prompt is read once for all its answers. Answers are of very different lengths, and what ended is
taken out of the batch, memory and all: the last long ones do not hold up hundreds of others. Keys
and values get room for many tokens at once: to allocate and copy all of them for every token takes
longer than the model does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

from npuforge.generate.lm.course import Course

_ROOM = 256  # tokens
_ENDED = 0.2  # share of a batch that has ended when it is taken out
_CHOICES = 4  # tokens that could have been drawn instead
_DETOURS = 2  # tokens read for each that may be written, those taken back among them


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
    courses: Sequence[Course],
    most: int,
    temperature: float,
    top_p: float,
    generator: torch.Generator,
) -> None:
    """Go as many courses for each row of `given` as there are: token ids and their mask, padded on
    the left."""
    mask = given["attention_mask"]
    copies = len(courses) // len(mask)
    places = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = Cache(layer_class_to_replicate=_Layer)
    seen = net(
        **given, position_ids=places, past_key_values=cache, use_cache=True, logits_to_keep=1
    )
    cache.batch_repeat_interleave(copies)
    logits = seen.logits[:, -1].repeat_interleave(copies, 0)
    mask = mask.repeat_interleave(copies, 0)
    place = places[:, -1:].repeat_interleave(copies, 0)
    read = [_Read() for _ in courses]
    alive = list(range(len(courses)))
    for _ in range(most * _DETOURS):
        daring = torch.tensor([courses[row].daring for row in alive], device=logits.device)
        drawn = draw(logits, temperature * daring[:, None], top_p, generator)
        chances, others = torch.log_softmax(logits.float(), dim=-1).topk(_CHOICES, dim=-1)
        found = zip(drawn.tolist(), others.tolist(), chances.tolist(), strict=True)
        following: list[int] = []
        for at, (token, tokens, logarithms) in enumerate(found):
            course = courses[alive[at]]
            back = 0
            if not course.ended:
                choices = tuple(zip(tokens, logarithms, strict=True))
                token, back = course.take(token, choices)
            if back:
                mask[at, read[alive[at]].forget(back)] = 0
                place[at] -= back
            read[alive[at]].columns.append(mask.shape[1])
            following.append(token)
        stopped = [courses[row].ended or len(courses[row].tokens) >= most for row in alive]
        if all(stopped):
            break
        fed = torch.tensor(following, device=logits.device)
        if sum(stopped) >= _ENDED * len(stopped):
            kept = torch.tensor([at for at, over in enumerate(stopped) if not over])
            alive = [alive[at] for at in kept.tolist()]
            kept = kept.to(logits.device)
            cache.batch_select_indices(kept)
            fed, mask, place = fed[kept], mask[kept], place[kept]
        place = place + 1
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
        seen = net(
            input_ids=fed[:, None],
            attention_mask=mask,
            position_ids=place,
            past_key_values=cache,
            use_cache=True,
        )
        logits = seen.logits[:, -1]


@dataclass(slots=True)
class _Read:
    """Where in the batch's memory the tokens of a course are."""

    columns: list[int] = field(default_factory=list)

    def forget(self, count: int) -> list[int]:
        gone = self.columns[-count:]
        del self.columns[-count:]
        return gone


def draw(
    logits: torch.Tensor,
    temperature: float | torch.Tensor,
    top_p: float,
    generator: torch.Generator,
) -> torch.Tensor:
    """A token for each row, from the likeliest that have `top_p` together."""
    chances = torch.softmax(logits.float() / temperature, dim=-1)
    ordered, tokens = chances.sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    ordered = ordered.masked_fill(before >= top_p, 0.0)
    drawn = torch.multinomial(ordered, 1, generator=generator)
    return tokens.gather(-1, drawn)[:, 0]
