# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import keyword
import random

import pytest
import torch
from tests.generate.lm.gbnf import Grammar

from npuforge.generate.live import LiveModule
from npuforge.generate.lm.form.form import plain
from npuforge.generate.lm.form.grammar import grammar
from npuforge.generate.lm.form.inline import hoisted
from npuforge.generate.lm.question.task import canonical, task_text
from npuforge.generate.written.signature import signature_of
from npuforge.plan import planner
from npuforge.tile.parse import parse
from npuforge.tile.source import TileError

KNOWN = Grammar(grammar())
# What a grammar cannot count.
BEYOND = ("nested deeper", "two functions are called")


def test_planned_programs_are_of_the_grammar() -> None:
    def scores(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.where(x > 0, x, y), -1).half()

    with LiveModule(scores, [torch.rand(9, 40), torch.rand(40)], "scores") as module:
        graph, _ = canonical(module.graph)
    program = plain(planner.plan(graph, "910b2", most=1).variants[0].program, task_text(graph))
    answer = f"<think>\n9 rows < 40.\n</think>\n{program}"
    at = KNOWN.accepts(answer)
    assert at is None, answer[max(0, at - 80) : at + 20]
    assert KNOWN.accepts(answer + "x") == len(answer)
    own = Grammar(grammar(signature_of(graph), task_text(graph)))
    assert own.accepts(answer) is None
    quote = "# xa: float32["
    assert quote in answer
    other = answer.replace(quote, "# xa: float16[", 1)
    at = own.accepts(other)
    assert at is not None
    assert other[:at].endswith("# xa: float")


def test_what_the_grammar_has_the_parser_reads() -> None:
    refused: list[str] = []
    for seed in range(60):
        dice = random.Random(seed)
        program = KNOWN.drawn(dice, "program", room=dice.choice((100, 400, 900)))
        try:
            parse(hoisted(program).text)
        except TileError as error:
            refused.append(str(error))
    assert len(refused) < 40
    assert [said for said in refused if not any(reason in said for reason in BEYOND)] == []


def test_a_signature_leaves_no_other_tensors() -> None:
    def norm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.mul_(y)

    with LiveModule(norm, [torch.rand(9, 40), torch.rand(40)], "norm") as module:
        graph, _ = canonical(module.graph)
    own = Grammar(grammar(signature_of(graph)))
    held, read = "    xa: tl.inout(tl.float32),\n", "    xb: tl.input(tl.float32),\n"
    made = "    y: tl.output(tl.float32, (xa.shape[0], 40,)),\n"
    for head, right in (
        (held + read, True), (held, True), (read, False), (read + held, False),
        (held.replace("32", "16") + read, False), (held + read.replace("xb", "xc"), False),
    ):  # fmt: skip
        text = f"def op_host(\n{head}{made}):\n    n = 1\n"
        assert (own.accepts(text, "host") is None) is right


@pytest.mark.parametrize(
    ("rule", "text", "right"),
    [
        ("operation", "exp(a[:n], b[:n])", True),
        ("operation", "exp(a[:n])", False),
        ("operation", "exp(a[:n], b[:n], c)", False),
        ("operation", "select(a, m, b[:n, None], -1.5)", True),
        ("operation", 'compare(m[:n], a[:n], 0, "lt")', True),
        ("operation", 'compare(m[:n], a[:n], 0, "less")', False),
        ("operation", "reduce_sum(a[:r], b[:r, :], axis=1)", True),
        ("operation", 'cast(a, b, round="rint")', True),
        ("operation", "matmul(a, b, c)", False),
        ("view", "a[i * 8 : i * 8 + n, :]", True),
        ("h-sum", "tl.cdiv(xa.shape[0] * 3, tl.num_cores())", True),
        ("k-sum", "tl.num_cores()", False),
        ("number", "1e-05", True),
        ("number", "007", False),
    ],
)
def test_rules_follow_the_language(rule: str, text: str, right: bool) -> None:
    assert (KNOWN.accepts(text, rule) is None) is right


def test_names_are_no_keywords() -> None:
    for word in (*(w for w in keyword.kwlist if w.islower()), "tl"):
        assert KNOWN.accepts(word, "name") is not None
        assert KNOWN.accepts(f"{word}_", "name") is None
        assert (
            len(word) < 3 or KNOWN.accepts(word[:-1], "name") is None or word[:-1] in keyword.kwlist
        )
