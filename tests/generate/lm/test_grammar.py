# SPDX-License-Identifier: Apache-2.0
"""The grammar of completions: the planner's programs are in it, and the parser reads its texts."""

from __future__ import annotations

import keyword
import random
import re

import pytest
import torch
from tests.generate.lm.toy import END, words
from tests.generate.lm.written import Norm, written

from npuforge.generate.lm.engine.completion import Completion
from npuforge.generate.lm.engine.vocabulary import Vocabulary
from npuforge.generate.lm.grammar import grammar
from npuforge.generate.written.signature import signature_of
from npuforge.tile.parse import parse
from npuforge.tile.source import TileError

_TOKENIZER = words()
_END = _TOKENIZER.get_vocab()[END]
VOCABULARY = Vocabulary(_TOKENIZER, _END)
# A grammar cannot count.
_BEYOND = ("nested deeper", "two functions are called")


def _accepted(text: str, rules: str) -> int | None:
    """Return the number of characters before the first that cannot follow; None if all can, and
    the text may end there."""
    matcher = VOCABULARY.matcher(rules)
    tokens = _TOKENIZER.encode(text, add_special_tokens=False).ids
    for place, token in enumerate(tokens):
        if matcher.validate_tokens([token]) != 1:
            return len(VOCABULARY.text(tokens[:place]))
        matcher.consume_token(token)
    return None if matcher.is_accepting() else len(text)


def _only(rule: str) -> str:
    """Return the grammar with another beginning."""
    return re.sub(r"^start: .*$", f"start: {rule}", grammar(), count=1, flags=re.MULTILINE)


def test_the_planners_programs_are_of_the_grammar() -> None:
    def scores(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.where(x > 0, x, y), -1).half()

    def folded(x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x.cumsum(0), -1).values.transpose(0, 1)

    for module, inputs in (
        (scores, [torch.rand(9, 40), torch.rand(40)]),
        (folded, [torch.rand(9, 40)]),
        (Norm(), [torch.rand(9, 40), torch.rand(40)]),
    ):
        known = written(module, *inputs)
        for rules in (grammar(), grammar(signature_of(known.graph))):
            place = _accepted(known.completion, rules)
            assert place is None, known.completion[max(0, place - 80) : place + 20]
        assert _accepted(known.completion + "x", grammar()) == len(known.completion)


def test_the_parser_reads_what_the_grammar_has() -> None:
    rules = _only("program")
    read, refused = 0, []
    for seed in range(40):
        text = _drawn(rules, random.Random(seed), most=500)
        if text is None:
            continue
        try:
            parse(text)
            read += 1
        except TileError as error:
            refused.append(str(error))
    assert read >= 5
    assert [said for said in refused if not any(reason in said for reason in _BEYOND)] == []


def _drawn(rules: str, dice: random.Random, most: int) -> str | None:
    """Draw uniformly; the shortest token that ends something is taken more often late."""
    completion = Completion(VOCABULARY, VOCABULARY.matcher(rules))
    while not completion.is_over(most):
        mask = completion.mask()
        assert mask is not None
        allowed = mask.nonzero()[0].tolist()
        closing = [one for one in allowed if one == VOCABULARY.end or VOCABULARY.ends_line(one)]
        late = len(completion.tokens) > most // 4
        completion.take(dice.choice(closing if closing and late else allowed))
    return VOCABULARY.text(completion.tokens) if completion.ended else None


def test_a_signature_leaves_no_other_tensors() -> None:
    def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.mul_(y)

    known = written(scaled, torch.rand(9, 40), torch.rand(40))
    rules = grammar(signature_of(known.graph))
    before, head, after = re.split(
        r"(?<=op_host\(\n)(.*?)(?=    y: )", known.completion, maxsplit=1, flags=re.DOTALL
    )
    held, read = "    xa: tl.inout(tl.float32),\n", "    xb: tl.input(tl.float32),\n"
    assert head == held + read
    for other, right in (
        (held + read, True), (held, True), (read, False), (read + held, False),
        (held.replace("32", "16") + read, False), (held + read.replace("xb", "xc"), False),
    ):  # fmt: skip
        assert (_accepted(before + other + after, rules) is None) is right


@pytest.mark.parametrize(
    ("rule", "text", "right"),
    [
        ("operation", "tl.exp(a[:n], b[:n])", True),
        ("operation", "tl.exp(a[:n])", False),
        ("operation", "tl.exp(a[:n], b[:n], c)", False),
        ("operation", "tl.select(a, m, b[:n, None], -1.5)", True),
        ("operation", 'tl.compare(m[:n], a[:n], 0, "lt")', True),
        ("operation", 'tl.compare(m[:n], a[:n], 0, "less")', False),
        ("operation", "tl.reduce_sum(a[:r], b[:r, :], axis=1)", True),
        ("operation", 'tl.cast(a, b, round="rint")', True),
        ("operation", "tl.matmul(a, b, c)", False),
        ("view", "a[i * 8 : i * 8 + n, :]", True),
        ("view", "a[max(i, 0) : 3 : 2]", True),
        ("h_sum", "tl.cdiv(xa.shape[0] * 3, tl.num_cores())", True),
        ("k_sum", "tl.num_cores()", False),
        ("h_choice", "maximum if min(a, b) > 1 else 0", True),
        ("NUMBER", "1e-05", True),
        ("NUMBER", "007", False),
        ("alloc", "a = tl.alloc_ub((n, 8), dtype=tl.float32, buffers=2)  # rows\n", True),
        ("alloc", "a = tl.alloc_ub((n, 8), dtype=tl.double)\n", False),
    ],
)
def test_rules_follow_the_language(rule: str, text: str, right: bool) -> None:
    assert (_accepted(text, _only(rule)) is None) is right


def test_names_are_no_keywords() -> None:
    rules = _only("NAME")
    for word in (*(w for w in keyword.kwlist if w.islower()), "tl"):
        assert _accepted(word, rules) is not None
        assert _accepted(f"{word}_", rules) is None


def test_a_tokenizer_without_marks_of_thought_is_served() -> None:
    known = written(Norm(), torch.rand(9, 40), torch.rand(40))
    tokenizer = words(marks=False)
    vocabulary = Vocabulary(tokenizer, tokenizer.get_vocab()[END])
    matcher = vocabulary.matcher(grammar())
    for token in tokenizer.encode(known.completion, add_special_tokens=False).ids:
        assert matcher.consume_token(token)
    assert matcher.is_accepting()
