# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npuforge.errors import UsageError
from npuforge.generate.lm.answer import program_in
from npuforge.lower.compiler import lower
from npuforge.train import tokenizer
from npuforge.train.packing import IGNORED, PackedCollator, pack, samples
from npuforge.train.records import Chat, Message
from npuforge.train.renaming import Renamer

_QUESTION = """\
xa: float32[na, nb]
xb: float32[nb]
where na=74, nb=64
v0 = mul.Tensor(xa, 0.56): float32[na, nb]
v1 = add.Tensor(v0, 0.5): float32[na, nb]
v2 = mul.Tensor(v1, v1): float32[na, nb]
v3 = sub.Tensor(v2, 1000.0): float32[na, nb]
return v3
"""
_ANSWER = """\
<think>
0.56 KB in, v0 of 12.8 us
</think>
import tile.language as tl


@ascend_kernel
def op(xa, y, cols, per_core, tile):
    in0 = tl.alloc_ub(tile, dtype=tl.float32)
    out0 = tl.alloc_ub(tile, dtype=tl.float32)
    first = tl.program_id(0) * per_core
    last = min(first + per_core, cols)
    for t in range(tl.cdiv(last - first, tile)):
        start = first + t * tile
        m = min(tile, last - start)
        with tl.copyin():
            # xa: float32[na, nb]
            tl.load(xa + start, in0[:m])
        with tl.compute():
            # v0 = mul.Tensor(xa, 0.56): float32[na, nb]
            tl.mul(out0[:m], in0[:m], 0.56)
            # v1 = add.Tensor(v0, 0.5): float32[na, nb]
            tl.add(out0[:m], out0[:m], 0.5)
            # v2 = mul.Tensor(v1, v1): float32[na, nb]
            tl.mul(out0[:m], out0[:m], out0[:m])
            # v3 = sub.Tensor(v2, 1000.0): float32[na, nb]
            tl.sub(out0[:m], out0[:m], 1000.0)
        with tl.copyout():
            tl.store(y + start, out0[:m])


def op_host(
    xa: tl.input(tl.float32),
    y: tl.output(tl.float32, (xa.shape[0], xa.shape[1],)),
):
    na = xa.shape[0]
    nb = xa.shape[1]
    k1_cores = max(1, min(tl.num_cores(), tl.cdiv(na * nb, 1024)))
    k1_per_core = tl.align_up(tl.cdiv(na * nb, k1_cores), 128)
    op[k1_cores](xa, y, na * nb, k1_per_core, 64)
"""
_TALK = [("system", "s"), ("user", _QUESTION), ("assistant", _ANSWER)]
_CHAT = Chat([Message(role, text) for role, text in _TALK])  # type: ignore[arg-type]
_NAME = r"(?<![A-Za-z0-9_.])(?:[xn][a-z]|v\d+)(?![A-Za-z0-9])"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from transformers import AutoTokenizer  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("names")
    messages = [{"role": role, "content": text} for role, text in _TALK]
    (folder / "chat.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    tokenizer.fit([folder / "chat.jsonl"], 640, folder / "tokenizer")
    return AutoTokenizer.from_pretrained(folder / "tokenizer")


def _renamed(fitted: Any, seed: int) -> str:
    (sample,) = samples([_CHAT], fitted)
    text: str = fitted.decode(Renamer(fitted, seed)(sample.ids.astype(np.int64)))
    return text


def _by_place(text: str) -> str:
    """Every name and every number of several digits by its first place."""
    seen: dict[str, str] = {}
    words = rf"{_NAME}|\d+\.\d\d(?! KB)|\d\d+\.0"
    return re.sub(words, lambda found: seen.setdefault(found[0], f"<{len(seen)}>"), text)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_only_names_and_numbers_change_and_all_alike(fitted: Any, seed: int) -> None:
    (sample,) = samples([_CHAT], fitted)
    made = _renamed(fitted, seed)
    assert _by_place(fitted.decode(sample.ids)) == _by_place(made)
    assert "0.56 KB" in made
    assert "0.5)" in made


def test_names_and_numbers_do_change_and_the_program_still_compiles(fitted: Any) -> None:
    made = _renamed(fitted, 5)
    assert "0.56)" not in made
    assert "1000.0)" not in made
    assert "v0 = mul" not in made
    assert "xa: float32[na, nb]" not in made
    assert lower(program_in(made.replace("<|im_end|>", "")), "910b2").kernels


def test_constants_of_the_program_alone_and_of_quotes_alone_stay(fitted: Any) -> None:
    answer = _ANSWER.replace("in0[:m], 0.56", "in0[:m], 0.79")
    chat = Chat([Message("user", _QUESTION), Message("assistant", answer)])
    (sample,) = samples([chat], fitted)
    made = fitted.decode(Renamer(fitted, 1)(sample.ids.astype(np.int64)))
    assert made.count("0.79") == 1
    assert made.count("0.56") == answer.count("0.56") + 1


def test_batches_are_renamed_and_foretell_what_they_show(fitted: Any) -> None:
    packed = pack([_CHAT, _CHAT], fitted, 4096)
    batch = PackedCollator(4096, fitted.pad_token_id, Renamer(fitted, 1))(list(packed.rows))
    ids, labels = batch["input_ids"].numpy(), batch["labels"].numpy()
    learned = labels != IGNORED
    assert (ids[learned] == labels[learned]).all()
    assert int(learned.sum()) == packed.learned
    first, second = fitted.decode(ids[0]).split("assistant")[1:]
    assert _by_place(first.split("<|im_end|>")[0]) == _by_place(second.split("<|im_end|>")[0])
    assert first.split("<|im_end|>")[0] != second.split("<|im_end|>")[0]


def test_a_tokenizer_across_names_is_refused() -> None:
    class Across:
        def get_vocab(self) -> dict[str, int]:
            return {}

        def tokenize(self, text: str) -> list[str]:
            return text.split(" ")

    with pytest.raises(UsageError, match="does not keep names apart"):
        Renamer(Across(), 1)
