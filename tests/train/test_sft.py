# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from npuforge.cli import main
from npuforge.train.models import open_model
from npuforge.train.packing import IGNORED, PackedCollator, pack, samples
from npuforge.train.records import Chat, Message, read, without_reasoning
from npuforge.train.runs import Stop

# The libraries that train warn of their own affairs.
pytestmark = pytest.mark.filterwarnings("ignore")

_TOY = [
    "--recipe=embedded",
    "--set=sequence=256",
    "--set=batch_tokens=512",
    "--set=micro=2",
    "--set=log_every=1",
    "--set=scratch_learning_rate=0.01",
]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def _sft(folder: Path, out: Path, *more: str, model: str = "tiny.toml") -> int:
    fixed = ["train", "sft", str(folder / "chat.jsonl"), "--model", str(folder / model)]
    words = ["--tokenizer", str(folder / "tokenizer"), "--out", str(out)]
    return main([*fixed, *words, *_TOY, *more])


def test_only_the_assistant_is_learned_from(folder: Path) -> None:
    opened = open_model(str(folder / "tiny.toml"), folder / "tokenizer", "sdpa")
    turns = [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    chat = Chat([Message(role, content) for role, content in turns])  # type: ignore[arg-type]
    (sample,) = samples([chat], opened.tokenizer)
    decode = opened.tokenizer.decode
    assert decode(sample.ids).count("<|im_start|>") == 4
    learned = sample.labels != IGNORED
    assert decode(sample.ids[learned]) == "b<|im_end|>d<|im_end|>"
    assert (sample.labels[learned] == sample.ids[learned]).all()


def test_answers_without_reasoning(folder: Path, tmp_path: Path) -> None:
    """Programs stay as they are, and less is learned from."""
    chats = read([folder / "chat.jsonl"], Chat)
    for chat in chats[:4]:
        thought, plain = chat.messages[-1].content, without_reasoning(chat).messages[-1].content
        assert plain.startswith("<think>\n</think>\n")
        assert plain.partition("</think>")[2] == thought.partition("</think>")[2]
        assert without_reasoning(chat).messages[:-1] == chat.messages[:-1]
    counts = []
    for name in ("true", "false"):
        assert _sft(folder, tmp_path / name, f"--set=reasoning={name}", "--set=max_steps=1") == 0
        run = json.loads((tmp_path / name / "run.json").read_text())
        counts.append(run["counts"]["learned_tokens"])
    assert counts[1] < counts[0]


def test_packed_samples_do_not_see_each_other(folder: Path) -> None:
    torch.manual_seed(1)
    opened = open_model(str(folder / "tiny.toml"), folder / "tokenizer", "sdpa")
    chats = read([folder / "chat.jsonl"], Chat)[:6]
    packed = pack(chats, opened.tokenizer, 256)
    assert packed.samples == 6
    assert max(len(row["seq_lengths"]) for row in packed.rows) >= 2
    batch = PackedCollator(256, opened.tokenizer.pad_token_id)(list(packed.rows))
    labels = batch.pop("labels")
    with torch.no_grad():
        together = opened.model(**batch, use_cache=False).logits
        for row, found in zip(packed.rows, together, strict=True):
            start = 0
            for length in row["seq_lengths"]:
                ids = torch.tensor(row["input_ids"][start : start + length])[None]
                alone = opened.model(input_ids=ids).logits[0]
                torch.testing.assert_close(found[start : start + length], alone)
                start += length
    assert int((labels != IGNORED).sum()) == packed.learned


def test_a_run_learns_stops_resumes_and_says_so(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    data = folder / "chat.jsonl"
    steps = ("--set=max_steps=12", "--set=save_every=4")
    assert _sft(folder, out, *steps, "--limit=0.01") == 130
    stopped = json.loads((out / "run.json").read_text())
    assert stopped["status"] == "interrupted"
    assert stopped["steps"] == 1
    assert not (out / "model.safetensors").exists()
    assert _sft(folder, out, *steps, "--resume", "--eval", str(data)) == 0
    run = json.loads((out / "run.json").read_text())
    assert (run["status"], run["steps"], run["counts"]["records"]) == ("finished", 12, 40)
    assert run["final"]["eval_loss"] < run["final"]["train_loss"] < 7
    assert run["data_sha256"] == stopped["data_sha256"]
    assert len(run["data_sha256"]) == 64
    assert list(out.glob("runs/*/events.out.tfevents.*"))
    again = open_model(str(out), None, "sdpa")
    assert again.kind == "folder"
    assert again.model.num_parameters() == run["parameters"]
    size = (out / "model.safetensors").stat().st_size
    assert 2 * run["parameters"] <= size < 2.2 * run["parameters"]  # bfloat16, tied ones once
    config = json.loads((out / "config.json").read_text())
    assert (config["dtype"], config["use_cache"]) == ("bfloat16", True)


def test_the_first_signal_waits_for_the_step_and_the_second_does_not() -> None:
    stop = Stop(None)
    assert not stop.asked
    stop.on_signal(2, None)
    assert stop.asked
    with pytest.raises(KeyboardInterrupt):
        stop.on_signal(2, None)


def test_an_adapter_is_merged_into_a_whole_model(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "lora"
    assert _sft(folder, out, "--lora", "--set=max_steps=2", "--set=lora_rank=4") == 0
    assert (out / "adapter" / "adapter_config.json").is_file()
    merged = open_model(str(out), None, "sdpa").model
    assert merged.num_parameters() == json.loads((out / "run.json").read_text())["parameters"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl", "--model=scratch-30m"], "cannot read none.jsonl: No such file"),
        (["chat.jsonl", "--model=scratch-30m"], "scratch-30m begins from nothing: give it a token"),
        (["chat.jsonl", "--model=missing"], "no model missing: give a folder with config.json"),
        (["chat.jsonl", "--model=missing.gguf"], "no model missing.gguf"),
        (
            ["pairs.jsonl", "--model=scratch-30m"],
            "pairs.jsonl:2: not a chat record: Object missing",
        ),
        (["silent.jsonl", "--model=scratch-30m"], "silent.jsonl:1: not a chat record: no message"),
        (["chat.jsonl", "--model=scratch-30m", "--set=a=1"], "unknown field `a`"),
        (["chat.jsonl", "--model=scratch-30m", "--out=taken"], "taken holds a run"),
        (["chat.jsonl", "--model=tiny.toml", "--tokenizer=."], "no tokenizer in ."),
        (
            ["chat.jsonl", "--model=tiny.toml", "--tokenizer=tokenizer", "--set=sequence=8"],
            "longer",
        ),
    ],
)
def test_bad_input_is_one_line(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("chat.jsonl", "tiny.toml", "tokenizer"):
        (tmp_path / name).symlink_to(folder / name)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "run.json").write_text("{}")
    (tmp_path / "pairs.jsonl").write_text('\n{"prompt": []}\n')
    (tmp_path / "silent.jsonl").write_text('{"messages": [{"role": "user", "content": ""}]}\n')
    assert main(["train", "sft", "--out=out", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
