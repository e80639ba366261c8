# SPDX-License-Identifier: Apache-2.0
"""Many answers to many prompts at once, by any causal model of the transformers library.

A prompt is read once for all its answers. Answers are of very different lengths, and what ended is
taken out of the batch, memory and all: the last long ones do not hold up hundreds of others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

_ENDED = 0.2  # share of a batch that has ended when it is taken out


@dataclass(slots=True)
class Decoded:
    """Tokens of an answer; `ended` says whether it came to its end."""

    tokens: list[int] = field(default_factory=list)
    ended: bool = False


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
    seen = net(**given, position_ids=places, use_cache=True, logits_to_keep=1)
    cache = seen.past_key_values
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
