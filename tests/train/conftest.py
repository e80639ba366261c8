# SPDX-License-Identifier: Apache-2.0
"""One tiny model's worth of data for every training test."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from npuforge.train import tokenizer
from npuforge.train.models import open_model

SYSTEM = {"role": "system", "content": "Write a tile program."}

TINY = """
hidden_size = 64
intermediate_size = 128
num_hidden_layers = 3
num_attention_heads = 4
num_key_value_heads = 4
max_position_embeddings = 256
tie_word_embeddings = true
"""


def question(index: int) -> dict[str, str]:
    return {"role": "user", "content": f"op: v0 = exp(x0), {index * 7} elements"}


def answer(index: int) -> dict[str, str]:
    program = f"def op(x0, y):\n    ub = tl.alloc_ub({index * 32})\n    tl.store(y, tl.exp(x0))\n"
    return {"role": "assistant", "content": f"<think>\n{index * 32}\n</think>\n{program}"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Chat records, a tokenizer fitted to them, and the configuration of a tiny model."""
    path = tmp_path_factory.mktemp("train")
    with (path / "chat.jsonl").open("w") as stream:
        for index in range(40):
            messages = [SYSTEM, question(index), answer(index)]
            stream.write(json.dumps({"messages": messages, "source": "kernel"}) + "\n")
    (path / "tiny.toml").write_text(TINY)
    tokenizer.fit([path / "chat.jsonl"], 366, path / "tokenizer")
    return path


@pytest.fixture(scope="session")
def start(folder: Path) -> Path:
    """A tiny model that knows nothing yet, as a folder."""
    import torch  # noqa: PLC0415 (most tests here need no torch)

    torch.manual_seed(1)
    opened = open_model(str(folder / "tiny.toml"), folder / "tokenizer", "sdpa")
    opened.model.save_pretrained(folder / "start")
    opened.tokenizer.save_pretrained(folder / "start")
    return folder / "start"


@pytest.fixture(scope="session")
def judges() -> Iterator[str]:
    """The module of the tests' judges, where the processes of a pool find it."""
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))
        yield "judges"
