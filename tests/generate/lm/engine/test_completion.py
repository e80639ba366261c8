# SPDX-License-Identifier: Apache-2.0
"""Completions: every token of an accepted program was drawn, or forced by the grammar."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from tests.generate.lm.toy import END, words

from npuforge.generate.lm.answer import program_in
from npuforge.generate.lm.engine.completion import Check, Completion
from npuforge.generate.lm.engine.vocabulary import Vocabulary
from npuforge.generate.lm.prefix import PrefixCheck
from npuforge.lower.compiler import lower

_TOKENIZER = words()
_END = _TOKENIZER.get_vocab()[END]
VOCABULARY = Vocabulary(_TOKENIZER, _END)

# Few programs: chance finds those that compile. A quarter of the operations and buffers are wrong.
_FEW = """%llguidance {}
start: <think> /[a-z]{0,3}/ </think> "\\n" program
program: "import tile.language as tl\\n\\n\\n" kernel "\\n\\n" host
kernel: "@ascend_kernel\\ndef op(x, y, n):\\n" alloc+ in out
alloc: "    " BUFFER " = tl.alloc_ub(n, dtype=tl." ("float32" | "float16" | "int32") ")\\n"
in: "    with tl.copyin():\\n        tl.load(x, " BUFFER "[:])\\n    with tl.compute():\\n" step+
step: "        tl." ("exp" | "abs" | "neg" | "matmul") "(" BUFFER "[:], " BUFFER "[:])\\n"
out: "    with tl.copyout():\\n        tl.store(y, " BUFFER "[:])\\n"
host: "def op_host(\\n    xa: tl.input(tl.float32),\\n" result "):\\n" launch
result: "    y: tl.output(tl.float32, (xa.shape[0],)),\\n"
launch: "    op[1](xa, y, xa.shape[0]" (", 1")? ")\\n"
BUFFER: /[abc]/
"""


@dataclass
class _Dice:
    """A model that draws uniformly among the tokens that the grammar allows. `text` keeps what it
    said at each place, and None where a token was forced."""

    seed: int
    said: list[int | None] = field(default_factory=list)

    def write(self, completion: Completion, most: int) -> None:
        dice = random.Random(self.seed)
        while not completion.is_over(most):
            place = len(completion.tokens)
            forced = completion.is_forced
            token = VOCABULARY.end
            if not forced:
                mask = completion.mask()
                assert mask is not None
                token = dice.choice(mask.nonzero()[0].tolist())
            completion.take(token)
            del self.said[place:]
            if len(completion.tokens) > place:
                self.said.append(None if forced else token)
            del self.said[len(completion.tokens) :]


def _sample(seed: int, check: Check | None) -> tuple[Completion, _Dice]:
    completion = Completion(VOCABULARY, VOCABULARY.matcher(_FEW), check)
    dice = _Dice(seed)
    dice.write(completion, 2_000)
    return completion, dice


def test_accepted_programs_hold_only_drawn_and_forced_tokens() -> None:
    accepted = []
    rejected = 0
    for seed in range(60):
        completion, dice = _sample(seed, PrefixCheck({}, "910b2"))
        rejected += completion.rejected
        if not completion.ended:
            continue
        accepted.append(completion)
        assert len(dice.said) == len(completion.tokens)
        again = VOCABULARY.matcher(_FEW)
        forced = 0
        for token, said in zip(completion.tokens, dice.said, strict=True):
            if said is None:  # the grammar alone leaves no other text
                ahead = again.compute_ff_tokens()
                assert not ahead or ahead[0] == token
                forced += 1
            else:
                assert token == said
            assert again.consume_token(token)
        assert again.is_accepting()
        assert 0 < forced <= completion.forced < len(completion.tokens)
        program = program_in(VOCABULARY.text(completion.tokens))
        assert VOCABULARY.text(completion.tokens).endswith(program)
        assert lower(program, "910b2").kernels
    assert len(accepted) >= 5
    assert rejected > len(accepted)


def test_without_the_check_most_of_the_same_draws_do_not_compile() -> None:
    counts: Counter[bool] = Counter()
    check = PrefixCheck({}, "910b2")
    for seed in range(30):
        completion, _ = _sample(seed, None)
        if completion.ended:
            counts[check.end(VOCABULARY.text(completion.tokens)) is None] += 1
    assert counts[False] > counts[True]


@dataclass
class _Refusing:
    """A check that rejects the first lines that it sees, and ends, a number of times."""

    lines: int
    ends: int = 0
    seen: list[str] = field(default_factory=list)

    def line(self, completion: str) -> str | None:
        self.seen.append(completion)
        self.lines -= 1
        return "no" if self.lines >= 0 and "</think>\nimport" in completion else None

    def end(self, completion: str) -> str | None:
        self.seen.append(completion)
        self.ends -= 1
        return "no" if self.ends >= 0 else None


@pytest.mark.parametrize(("lines", "ends"), [(4, 0), (6, 2), (0, 3)])
def test_a_decoder_follows_what_is_taken_back(lines: int, ends: int) -> None:
    """`read` is what a model has read when it is told what to read next and what to forget."""
    for seed in range(10):
        check = _Refusing(lines, ends)
        completion = Completion(VOCABULARY, VOCABULARY.matcher(_FEW), check)
        dice = random.Random(seed)
        read: list[int] = []
        while not completion.is_over(2_000):
            token = VOCABULARY.end
            if not completion.is_forced:
                mask = completion.mask()
                assert mask is not None
                token = dice.choice(mask.nonzero()[0].tolist())
            after, back = completion.take(token)
            if after is None:
                break
            if back:
                del read[-back:]
            read.append(after)
            assert read == completion.tokens
        assert completion.ended or completion.given_up
        assert completion.rejected >= min(1, lines + ends) * completion.ended


def test_a_line_that_is_always_rejected_ends_without_a_program() -> None:
    completion, _ = _sample(3, _Refusing(10**6))
    assert completion.given_up
    assert not completion.ended
