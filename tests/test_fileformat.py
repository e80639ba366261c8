# SPDX-License-Identifier: Apache-2.0
"""Files that outlive a run: of every kind, other numbers are read or refused in one line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import msgspec
import pytest

from npuforge.bench.attempt import Attempt
from npuforge.bench.document import document
from npuforge.bench.settings import Settings
from npuforge.bench.store import FILE, Store
from npuforge.bench.task import Task
from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.fileformat import FORMATS, FileFormat
from npuforge.knowledge.store import Store as Knowledge
from npuforge.models.cassette import Exchange, Recorder
from npuforge.models.cassette import read as read_recording
from npuforge.models.exchange import Message, Reply, Request
from npuforge.train import runs
from npuforge.train.dataset import build
from npuforge.train.records import Chat, read
from npuforge.twin.cache import Cache, digest
from npuforge.verdict import Verdict, json_schema

DOCS = Path(__file__).parents[1] / "docs"
OTHER = "written by another version of npuforge"


class Point(msgspec.Struct):
    x: int


def renumbered(text: str | bytes, number: int | None) -> str:
    """A JSON object with another number; None leaves it out."""
    content = json.loads(text)
    content.pop("format")
    return json.dumps(content if number is None else {"format": number, **content})


def refused(call: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of a call that ends with exit status 2."""
    assert main(call) == 2
    printed = capsys.readouterr()
    assert not printed.out
    (line,) = printed.err.splitlines()
    assert OTHER in line
    return line


# ---- the mechanism ------------------------------------------------------------------------------
def test_numbers_from_the_oldest_to_the_present_are_read() -> None:
    form = FileFormat("drawing", 3, oldest=2)
    assert json.loads(form.encode(Point(1))) == {"format": 3, "x": 1}
    for text in ('{"format": 2, "x": 1}', '{"format": 3, "x": 1}'):
        assert form.decode(text, Point, "a.json") == Point(1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": 1, "x": 1}', r"drawing 1, this one reads 2 to 3"),
        ('{"x": 1}', r"drawing without a number, this one reads 2 to 3"),
        ('{"format": 4, "y": 1}', r"drawing 4, this one reads 2 to 3"),
        ('{"format": "new", "x": 1}', r"^a.json is no drawing: Expected `int`"),
        ('{"format": 3, "x": "1"}', r"^a.json is no drawing: Expected `int`"),
        ("[]", r"^a.json is no drawing"),
        ("", r"^a.json is no drawing"),
    ],
)
def test_all_else_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        FileFormat("drawing", 3, oldest=2).decode(text, Point, "a.json")
    assert "\n" not in str(caught.value)


def test_the_page_names_every_kind_with_its_numbers() -> None:
    page = (DOCS / "files.md").read_text("utf-8")
    for form in FORMATS:
        assert f"| {form.kind} | {form.number} | {form.oldest} |" in page


# ---- every kind ---------------------------------------------------------------------------------
def test_verdict() -> None:
    verdict = Verdict("k", compiled=True)
    text = verdict.to_json()
    assert json.loads(text)["format"] == 1
    assert Verdict.from_json(text) == Verdict.from_json(renumbered(text, None)) == verdict
    with pytest.raises(UsageError, match=OTHER):
        Verdict.from_json(renumbered(text, 2))
    assert "format" in json_schema()["$defs"]["Verdict"]["properties"]


TASK = Task("a/one", "a", 1, Path("one.py"))
ATTEMPT = Attempt("a/one", 0, "judged", Verdict("a/one", compiled=True, correct=True))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with Store.create(tmp_path / "run", Settings(suite="forge"), [TASK]) as store:
        store.add(ATTEMPT)
    return tmp_path / "run"


@pytest.mark.parametrize("number", [0, 2])
def test_benchmark_run(run: Path, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(run), str(run)]) == 0
    capsys.readouterr()
    base = sqlite3.connect(run / FILE)
    with base:
        base.execute(f"PRAGMA user_version = {number}")
    base.close()
    assert str(run) in refused(["compare", str(run), str(run)], capsys)
    refused(["bench", "forge", "--resume", "--out", str(run)], capsys)


def test_result_of_bench(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(document(Settings(suite="forge"), [TASK], [ATTEMPT], []))
    files = {number: tmp_path / f"{number}.json" for number in (None, 1, 2)}
    for number, file in files.items():
        file.write_text(renumbered(text, number))
    for number in (None, 1):
        assert main(["compare", str(run), str(files[number])]) == 0
    capsys.readouterr()
    assert str(files[2]) in refused(["compare", str(run), str(files[2])], capsys)


def test_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = Request(messages=[Message("user", "?")], model="m", temperature=0.0, max_tokens=9)
    exchange = Exchange(request=request, reply=Reply(text="!"))
    file = tmp_path / "exchanges.jsonl"
    recorder = Recorder(file)
    recorder.add(exchange)
    recorder.close()
    text = file.read_text()
    file.write_text(text + renumbered(text, None) + "\n")
    assert read_recording(file) == [exchange, exchange]
    file.write_text(text + renumbered(text, 2) + "\n")
    call = ["generate", str(DOCS.parent / "examples/modules/softmax.py"), "--strategy", "tile"]
    refused([*call, "--replay", str(file), "--out", str(tmp_path / "out")], capsys)


@pytest.mark.parametrize("number", [None, 2])
def test_dataset_folder(
    tmp_path: Path, number: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    build.open_folder(tmp_path, build.Settings(seed=3))
    build.open_folder(tmp_path, build.Settings(seed=3))
    with pytest.raises(UsageError, match="other settings"):
        build.open_folder(tmp_path, build.Settings(seed=4))
    file = tmp_path / "settings.json"
    file.write_text(renumbered(file.read_text(), number))
    refused(["dataset", "build", "--out", str(tmp_path), "--operators", "1"], capsys)


def test_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kernel.jsonl"
    text = '{"messages": [{"role": "assistant", "content": "x"}]}\n'
    file.write_text(text + text.replace("{", '{"format": 1, ', 1))
    assert len(read([file], Chat)) == 2
    file.write_text(text + text.replace("{", '{"format": 2, ', 1))
    call = ["train", "sft", str(file), "--model", "m", "--out", str(tmp_path / "run")]
    assert f"{file}:2 was" in refused(call, capsys)


def test_training_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = runs.Request(data=[], model="m", out=tmp_path, resume=True)
    document: dict[str, object] = {
        "method": "sft", "status": "interrupted", "model": "m", "lora": False, "recipe": {},
        "data": [], "data_sha256": "", "counts": {}, "parameters": 1, "device": "cpu",
        "versions": {},
    }  # fmt: skip
    for numbered in ({}, {"format": 1}):
        (tmp_path / "run.json").write_text(json.dumps({**document, **numbered}))
        assert runs.checkpoint(request) is None
    (tmp_path / "run.json").write_text(json.dumps({**document, "format": 2}))
    data = tmp_path / "kernel.jsonl"
    data.write_text('{"messages": [{"role": "assistant", "content": "x"}]}\n')
    call = ["train", "sft", str(data), "--model", "m", "--out", str(tmp_path), "--resume"]
    assert "run.json was" in refused(call, capsys)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM meta WHERE key = 'format'",
        "UPDATE meta SET value = '2' WHERE key = 'format'",
        "UPDATE meta SET value = 'x' WHERE key = 'format'",
    ],
)
def test_store_of_knowledge(
    tmp_path: Path, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "knowledge.sqlite"
    for _ in range(2):
        Knowledge.open(path).close()
    base = sqlite3.connect(path)
    with base:
        base.execute(change)
    base.close()
    refused(["knowledge", "search", "softmax", "--store", str(path)], capsys)


def test_build_cache(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    source = tmp_path / "k.cpp"
    source.write_text("int k;")

    with cache.workspace() as made:
        entry = cache.store("0123", made, [source], tmp_path)
    assert cache.find("0123", tmp_path) == entry
    listing = entry / "entry.json"
    text = renumbered(listing.read_text(), 1)
    listing.write_text(text)
    entry.rename(entry.with_name(digest(text)))  # entries are named for their lists
    assert cache.find("0123", tmp_path) is None
    with cache.workspace() as made:
        again = cache.store("0123", made, [source], tmp_path)
    assert cache.find("0123", tmp_path) == again
