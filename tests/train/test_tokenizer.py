# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npuforge.cli import main
from npuforge.train.models import open_tokenizer


@pytest.fixture(scope="module")
def fitted(folder: Path) -> Any:
    return open_tokenizer(folder / "tokenizer")


@given(st.text())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back(fitted: Any, text: str) -> None:
    ids = fitted(text, add_special_tokens=False)["input_ids"]
    assert fitted.decode(ids) == text


def test_idioms_are_tokens_and_lines_stay_apart(fitted: Any) -> None:
    tokens = [fitted.decode([index]) for index in range(len(fitted))]
    assert "tl.alloc_ub(" in "|".join(tokens)
    assert [text for text in tokens if len(text) > 1 and "\n" in text] == []
    assert len(fitted) <= 366
    assert _tokens(fitted, "<think>\n1234\n</think>") == [
        "<think>",
        "\n",
        *"1234",
        "\n",
        "</think>",
    ]


def test_what_is_copied_from_the_question_stands_alone(fitted: Any) -> None:
    pieces = fitted.backend_tokenizer.pre_tokenizer.pre_tokenize_str
    asked = [piece for piece, _ in pieces("v13 = add.Tensor(xa, v2): float16[na, nb - 1]")]
    written = [piece for piece, _ in pieces("tl.add(v13[:m], xa_in[:m], v2[:m])")]
    for found in (asked, written):
        assert [piece for piece in found if piece in ("v", "xa", *"0123456789")][:3] == list("v13")
        assert found.count("xa") == 1
    assert {"float16", "na", "nb"} <= set(asked)
    words = [piece for piece, _ in pieces("nothing like xavier, unavoidable")]
    assert len(words) == 1


def _tokens(fitted: Any, text: str) -> list[str]:
    ids = fitted(text, add_special_tokens=False)["input_ids"]
    return [fitted.decode([i]) for i in ids]


def test_its_chat_template_marks_turns(fitted: Any) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    asked = fitted.apply_chat_template(turns[:1], tokenize=False, add_generation_prompt=True)
    told = fitted.apply_chat_template(turns, tokenize=False)
    assert asked == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
    assert told == asked + "b<|im_end|>\n"
    assert fitted.eos_token == "<|im_end|>"
    assert fitted.pad_token != fitted.eos_token


def test_what_all_records_share_is_counted_once(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    arguments = ["train", "tokenizer", str(folder / "chat.jsonl"), "--vocab", "384"]
    assert main([*arguments, "--out", str(tmp_path / "t"), "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    assert report["texts"] == 81  # 40 questions, 40 answers, 1 system prompt
    assert report["bytes_per_token"] > 2


@pytest.mark.parametrize(
    ("text", "vocabulary", "message"),
    [
        ("", "384", "no messages in"),
        ("{]\n", "384", "data.jsonl:1: not a record"),
        ('{"messages": 1}\n', "384", "data.jsonl:1: not a record"),
        ('{"messages": []}\n', "100", "a vocabulary has at least 261 tokens"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    vocabulary: str,
    message: str,
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(text)
    out = str(tmp_path / "out")
    assert main(["train", "tokenizer", str(data), "--vocab", vocabulary, "--out", out]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
