# SPDX-License-Identifier: Apache-2.0
"""Many answers to many prompts at once, by any causal model of the transformers library.

A prompt is read once for all its answers. Answers are of very different lengths, and what ended is
taken out of the batch, memory and all, and other prompts take its place: long answers do not hold
up others, and every question is handed over as soon as it is answered. Keys and values get room for
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

import torch
from transformers.cache_utils import Cache, DynamicLayer

from npuforge.generate.lm.engine.course import CHOICES, Course

_ROOM = 256  # tokens
_UNUSED = 0.25  # share of memory that nobody looks at when it is given back
_ENDED = 0.2  # share of a batch that has ended when it is taken out
_ASKING = 32  # guides at once
_PATIENCE_S = 0.004  # for guides; then the others go on
_NOTHING = 0  # what a row is given that has no token to read: it is masked

_Taken = tuple[int, int]  # a token to go on with, and how many before it are taken back


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
class Question:
    """Tokens of a prompt, and the answers under way to it."""

    tokens: Sequence[int]
    courses: Sequence[Course]


class Drawing(NamedTuple):
    """How answers are drawn: of at most so many tokens, at most so many at once. Every answer has
    dice of its own: what is drawn beside it, and how long guides take, does not matter."""

    most: int
    temperature: float
    top_p: float
    at_once: int
    seed: int = 0


@torch.inference_mode()
def decode(net: Any, questions: Iterable[Question], how: Drawing) -> Iterator[Question]:
    """Go all courses; each question as soon as all of its courses came to their end."""
    waiting = deque(questions)
    with ThreadPoolExecutor(_ASKING) as asking:
        batch = _Batch(net, how, asking)
        while waiting or batch.rows:
            fitting: list[Question] = []
            rows = len(batch.rows)
            while waiting and (not rows or rows + len(waiting[0].courses) <= how.at_once):
                rows += len(waiting[0].courses)
                fitting.append(waiting.popleft())
            if fitting:
                batch.admit(fitting)
            yield from batch.go_on(how.at_once if waiting else 0)


@dataclass(slots=True)
class _Row:
    """An answer of a batch, and where in its memory the tokens are."""

    course: Course
    question: Question
    dice: random.Random
    columns: list[int] = field(default_factory=list)
    over: bool = False
    asking: Future[_Taken] | None = None  # its guide, about the token drawn last
    taken: _Taken | None = None
    reads: bool = False  # whether it has a token to read

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

    def admit(self, questions: Sequence[Question]) -> None:
        """Read prompts, each once for all its answers."""
        device = self.net.device
        long = max(len(one.tokens) for one in questions)
        ids = torch.zeros(len(questions), long, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for at, one in enumerate(questions):
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
        copies = torch.tensor([len(one.courses) for one in questions], device=device)
        which = torch.arange(len(questions), device=device).repeat_interleave(copies)
        cache.batch_select_indices(which)
        self._join(cache, mask[which], places[which, -1:], seen.logits[which, -1])
        self.rows += [
            _Row(course, one, random.Random(f"{self.how.seed} {one.tokens} {place}"))
            for one in questions
            for place, course in enumerate(one.courses)
        ]
        self.left |= {id(one): len(one.courses) for one in questions}

    def go_on(self, enough: int) -> Iterator[Question]:
        """Draw until a good part of `enough` rows ended, or all of them."""
        while self.rows:
            fed = self._drawn()
            for row in self.rows:
                if row.reads and row.course.is_over(self.how.most):
                    row.over = True
                    self.left[id(row.question)] -= 1
                    if not self.left[id(row.question)]:
                        yield row.question
            if sum(row.over for row in self.rows) >= _ENDED * len(self.rows):
                fed = self._keep([at for at, row in enumerate(self.rows) if not row.over], fed)
            if not self.rows:
                return
            self._read(fed)
            if len(self.rows) < (1 - _ENDED) * enough:
                return

    def _drawn(self) -> list[int]:
        """The next token of each row; what is taken back is forgotten."""
        how, logits = self.how, self.logits
        daring = torch.tensor([row.course.daring for row in self.rows], device=logits.device)
        dice = torch.tensor(
            [0.0 if row.over or row.asking else row.dice.random() for row in self.rows],
            device=logits.device,
        )
        drawn = draw(logits, how.temperature * daring[:, None], how.top_p, dice)
        chances, others = torch.log_softmax(logits.float(), dim=-1).topk(CHOICES, dim=-1)
        found = zip(self.rows, drawn.tolist(), others.tolist(), chances.tolist(), strict=True)
        for row, token, tokens, logarithms in found:
            if not row.over and row.asking is None:
                choices = tuple(zip(tokens, logarithms, strict=True))
                if row.course.asks(token):
                    row.asking = self.asking.submit(row.course.take, token, choices)
                else:
                    row.taken = row.course.take(token, choices)
        asking = [row.asking for row in self.rows if row.asking is not None]
        if asking and all(row.taken is None for row in self.rows):
            wait(asking, return_when=FIRST_COMPLETED)
        wait(asking, _PATIENCE_S)
        return [self._following(at, row) for at, row in enumerate(self.rows)]

    def _following(self, at: int, row: _Row) -> int:
        """The token that a row reads next, if it has one."""
        if row.asking is not None and row.asking.done():
            row.taken, row.asking = row.asking.result(), None
        row.reads = row.taken is not None
        if row.taken is None:
            return _NOTHING
        (token, back), row.taken = row.taken, None
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
    chances = torch.softmax(logits.float() / temperature, dim=-1)
    ordered, tokens = chances.sort(dim=-1, descending=True)
    upto = ordered.cumsum(-1)
    upto = upto.masked_fill(upto - ordered >= top_p, 0.0)
    whole = upto.max(dim=-1, keepdim=True).values
    place = (upto <= dice[:, None] * whole).logical_and(upto > 0).sum(-1, keepdim=True)
    return tokens.gather(-1, place)[:, 0]
