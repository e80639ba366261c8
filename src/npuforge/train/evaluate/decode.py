# SPDX-License-Identifier: Apache-2.0
"""Many completions of many prompts at once, by any causal model of the transformers library.

A prompt is read once for all its completions. Completions are of very different lengths: one that
ended leaves the batch with its memory, and other prompts take its place. A prompt is handed over as
soon as all of its completions ended. Keys and values get room for
many tokens at once: to allocate and copy all of them for every token takes longer than the model
does. What no row looks at any more (tokens taken back, steps at which a row had nothing to read) is
given back when there is a good deal of it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers.cache_utils import Cache, DynamicLayer

from npuforge.generate.lm.engine.completion import Completion

_ROOM = 256  # tokens
_UNUSED = 0.25  # share of memory that nobody looks at when it is given back
_ENDED = 0.2  # share of a batch that has ended when it is taken out
_ASKING = 32  # checks at once
_PATIENCE_S = 0.004  # for checks; then the others go on
_NOTHING = 0  # what a row is given that has no token to read: it is masked

# The token to read next (None at the end), and the number of tokens taken back before it.
_Taken = tuple[int | None, int]


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


@dataclass(slots=True)
class Asked:
    """The tokens of a prompt, and its completions under way."""

    tokens: Sequence[int]
    completions: Sequence[Completion]


class Drawing(NamedTuple):
    """Completions of at most `most` tokens, at most `at_once` in a batch. Each has dice of its own:
    the others beside it and the time that checks take do not matter."""

    most: int
    temperature: float
    top_p: float
    at_once: int
    seed: int = 0


@torch.inference_mode()
def decode(net: Any, prompts: Iterable[Asked], how: Drawing) -> Iterator[Asked]:
    """Take all completions to their ends; yield a prompt as soon as all of its own are there."""
    waiting = deque(prompts)
    with ThreadPoolExecutor(_ASKING) as asking:
        batch = _Batch(net, how, asking)
        while waiting or batch.rows:
            fitting: list[Asked] = []
            rows = len(batch.rows)
            while waiting and (not rows or rows + len(waiting[0].completions) <= how.at_once):
                rows += len(waiting[0].completions)
                fitting.append(waiting.popleft())
            if fitting:
                batch.admit(fitting)
            yield from batch.go_on(how.at_once if waiting else 0)


@dataclass(slots=True)
class _Row:
    """An answer of a batch, and where in its memory the tokens are."""

    completion: Completion
    prompt: Asked
    dice: random.Random
    columns: list[int] = field(default_factory=list)
    over: bool = False
    asking: Future[_Taken] | None = None  # its check, about the token drawn last
    taken: _Taken | None = None
    reads: bool = False  # whether it has a token to read

    @property
    def draws(self) -> bool:
        """Return whether its next token is drawn among those that its grammar allows."""
        return not (self.over or self.asking or self.completion.is_forced)

    def forget(self, count: int) -> list[int]:
        gone = self.columns[-count:]
        del self.columns[-count:]
        return gone


class _Batch:
    """Answers that are drawn together. Columns of its memory are counted from `origin`, so that
    they keep their numbers when memory is put before the first."""

    def __init__(self, net: Any, how: Drawing, asking: ThreadPoolExecutor) -> None:
        self.net, self.how, self.asking = net, how, asking
        self.rows: list[_Row] = []
        self.left: dict[int, int] = {}  # answers under way, by question
        self.origin = 0
        self.cache: Any = None
        self.mask = self.place = self.logits = torch.empty(0)

    def admit(self, prompts: Sequence[Asked]) -> None:
        """Read prompts, each once for all its answers."""
        device = self.net.device
        long = max(len(one.tokens) for one in prompts)
        ids = torch.zeros(len(prompts), long, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for at, one in enumerate(prompts):
            ids[at, long - len(one.tokens) :] = torch.tensor(one.tokens)
            mask[at, long - len(one.tokens) :] = 1
        ids, mask = ids.to(device), mask.to(device)
        places = (mask.cumsum(-1) - 1).clamp(min=0)
        cache = Cache(layer_class_to_replicate=_Layer)
        seen = self.net(
            input_ids=ids,
            attention_mask=mask,
            position_ids=places,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        copies = torch.tensor([len(one.completions) for one in prompts], device=device)
        which = torch.arange(len(prompts), device=device).repeat_interleave(copies)
        cache.batch_select_indices(which)
        self._join(cache, mask[which], places[which, -1:], seen.logits[which, -1])
        self.rows += [
            _Row(completion, one, random.Random(f"{self.how.seed} {one.tokens} {place}"))
            for one in prompts
            for place, completion in enumerate(one.completions)
        ]
        self.left |= {id(one): len(one.completions) for one in prompts}

    def go_on(self, enough: int) -> Iterator[Asked]:
        """Draw until a good part of `enough` rows ended, or all of them."""
        while self.rows:
            fed = self._drawn()
            for row in self.rows:
                if row.asking is None and not row.over and row.completion.is_over(self.how.most):
                    row.over = True
                    self.left[id(row.prompt)] -= 1
                    if not self.left[id(row.prompt)]:
                        yield row.prompt
            if sum(row.over for row in self.rows) >= _ENDED * len(self.rows):
                fed = self._keep([at for at, row in enumerate(self.rows) if not row.over], fed)
            if not self.rows:
                return
            self._read(fed)
            if len(self.rows) < (1 - _ENDED) * enough:
                return

    def _drawn(self) -> list[int]:
        """Return the next token of each row; tokens that are taken back are forgotten."""
        how, logits = self.how, self._allowed()
        warmth = torch.tensor([row.completion.warmth for row in self.rows], device=logits.device)
        dice = torch.tensor(
            [0.0 if row.over or row.asking else row.dice.random() for row in self.rows],
            device=logits.device,
        )
        drawn = draw(logits, how.temperature * warmth[:, None], how.top_p, dice)
        for row, token in zip(self.rows, drawn.tolist(), strict=True):
            if not row.over and row.asking is None:
                if row.completion.asks(token):
                    row.asking = self.asking.submit(row.completion.take, token)
                else:
                    row.taken = row.completion.take(token)
        asking = [row.asking for row in self.rows if row.asking is not None]
        if asking and all(row.taken is None for row in self.rows):
            wait(asking, return_when=FIRST_COMPLETED)
        wait(asking, _PATIENCE_S)
        return [self._following(at, row) for at, row in enumerate(self.rows)]

    def _allowed(self) -> torch.Tensor:
        """Return the logits, with minus infinity for tokens that the grammar refuses."""
        masks = [row.completion.mask() if row.draws else None for row in self.rows]
        if all(mask is None for mask in masks):
            return self.logits
        allowed = np.ones((len(masks), self.logits.shape[-1]), dtype=bool)
        for at, mask in enumerate(masks):
            if mask is not None:
                allowed[at] = np.pad(mask, (0, max(0, allowed.shape[1] - mask.size)))[
                    : allowed.shape[1]
                ]
        known = torch.from_numpy(allowed).to(self.logits.device)
        return self.logits.masked_fill(~known, -torch.inf)

    def _following(self, at: int, row: _Row) -> int:
        """The token that a row reads next, if it has one."""
        if row.asking is not None and row.asking.done():
            row.taken, row.asking = row.asking.result(), None
        row.reads = row.taken is not None
        if row.taken is None:
            return _NOTHING
        (token, back), row.taken = row.taken, None
        if token is None:
            row.reads = False
            return _NOTHING
        if back:
            self.mask[at, [column - self.origin for column in row.forget(back)]] = 0
            self.place[at] -= back
        row.columns.append(self.origin + self.mask.shape[1])
        return token

    def _read(self, fed: Sequence[int]) -> None:
        if self.mask.shape[1] % _ROOM == 0:
            self._compact()
        reads = self.mask.new_tensor([row.reads for row in self.rows])[:, None]
        self.place = self.place + reads
        self.mask = torch.cat([self.mask, reads], dim=1)
        seen = self.net(
            input_ids=torch.tensor(fed, device=self.mask.device)[:, None],
            attention_mask=self.mask,
            position_ids=self.place,
            past_key_values=self.cache,
            use_cache=True,
        )
        self.logits = seen.logits[:, -1]

    def _keep(self, places: Sequence[int], fed: Sequence[int]) -> list[int]:
        """Only these rows stay, and only the memory that one of them uses."""
        self.rows = [self.rows[at] for at in places]
        if not places:
            self.cache = None
            return []
        kept = torch.tensor(places, device=self.mask.device)
        self.cache.batch_select_indices(kept)
        self.mask, self.place, self.logits = self.mask[kept], self.place[kept], self.logits[kept]
        self._compact()
        return [fed[at] for at in places]

    def _compact(self) -> None:
        """Give back the memory that nobody looks at: every row's tokens move to the end."""
        width = self.mask.shape[1]
        used = int(self.mask.sum(1).max())
        if width - used < _UNUSED * width:
            return
        # Stable: first what is masked, then a row's tokens in their order.
        order = self.mask.argsort(dim=1, stable=True)[:, width - used :]
        self.mask = self.mask.gather(1, order)
        along = order[:, None, :, None]
        for layer in self.cache.layers:
            layer.keys = layer.keys.take_along_dim(along, -2)
            layer.values = layer.values.take_along_dim(along, -2)
        self.origin = 0
        for row in self.rows:  # its answer is behind its question
            end = used + row.reads  # the last token is yet to be read
            row.columns = list(range(end - len(row.columns), end))

    def _join(
        self, cache: Any, mask: torch.Tensor, place: torch.Tensor, logits: torch.Tensor
    ) -> None:
        if self.cache is None:
            self.cache, self.mask, self.place, self.logits = cache, mask, place, logits
            self.origin = 0
            return
        held, new = self.mask.shape[1], mask.shape[1]
        self.origin -= max(0, new - held)
        for old, more in zip(self.cache.layers, cache.layers, strict=True):
            old.keys = _stacked(old.keys, more.keys, axis=-2)
            old.values = _stacked(old.values, more.values, axis=-2)
        self.mask = _stacked(self.mask, mask, axis=-1)
        self.place = torch.cat([self.place, place])
        self.logits = torch.cat([self.logits, logits])


def _stacked(held: torch.Tensor, more: torch.Tensor, axis: int) -> torch.Tensor:
    """Rows of both, the shorter ones with nothing before them."""
    long = max(held.shape[axis], more.shape[axis])
    shape = [len(held) + len(more), *held.shape[1:]]
    shape[axis] = long
    made = held.new_zeros(shape)
    made[: len(held)].narrow(axis, long - held.shape[axis], held.shape[axis]).copy_(held)
    made[len(held) :].narrow(axis, long - more.shape[axis], more.shape[axis]).copy_(more)
    return made


def draw(
    logits: torch.Tensor, temperature: float | torch.Tensor, top_p: float, dice: torch.Tensor
) -> torch.Tensor:
    """A token for each row, from the likeliest that have `top_p` together, by numbers in [0, 1)."""
    heated = (logits.float() / temperature).masked_fill(logits == -torch.inf, -torch.inf)
    chances = torch.softmax(heated, dim=-1)
    ordered, tokens = chances.sort(dim=-1, descending=True)
    upto = ordered.cumsum(-1)
    upto = upto.masked_fill(upto - ordered >= top_p, 0.0)
    whole = upto.max(dim=-1, keepdim=True).values
    place = (upto <= dice[:, None] * whole).logical_and(upto > 0).sum(-1, keepdim=True)
    return tokens.gather(-1, place)[:, 0]
