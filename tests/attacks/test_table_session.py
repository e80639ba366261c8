# SPDX-License-Identifier: Apache-2.0
"""Attacks by a suite's adapter or reference: it runs in the process that serves a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attacks.hammer import hammered, until_each_came

from npuforge.bench.tables.session import File, RequestError, TableSession
from npuforge.bench.tables.table import Table
from npuforge.dtypes import HostTensor

_ADAPTER = """
import json, os, sys, time
import torch

main = sys.modules["__main__"]

class Task:
    def init(self, row):
        return []
    def model(self, row, init):
        return torch.nn.ReLU()
    def arguments(self, row):
        return [torch.rand(4)]
    def check(self, row, arguments, wanted, given):
        return True, "x" * 1000 + "\\n" + chr(27), {}

def open_task(place):
    for name in ("given0.bin", "proof0", "request2.json.part"):
        os.symlink(VICTIM, name)
    main.Server.make = make
    main.Server.describe = describe
    return Task()

def make(self, row, captured):
    self.made = (row, [torch.rand(4)], torch.rand(4))
    if LIES[row] is None:
        open("source0.bin", "wb").write(bytes(16))
        fine = {"file": "source0.bin", "shape": [4], "dtype": "float32"}
        return {"sources": [fine], "wanted": [], "golden": []}
    return LIES[row]

def describe(self):
    return [{"key": "", "tensors": [], "error": None}] * 10_000
"""
_FINE = {"file": "source0.bin", "shape": [4], "dtype": "float32"}
_LIES: list[Any] = [
    None,
    {"sources": [{**_FINE, "file": "../../../etc/passwd"}], "wanted": [], "golden": []},
    {"sources": [{**_FINE, "file": "/etc/passwd"}], "wanted": [], "golden": []},
    {"sources": [{**_FINE, "shape": [-4]}], "wanted": [], "golden": []},
    {"sources": [{**_FINE, "shape": [1 << 62]}], "wanted": [], "golden": []},
    {"sources": [{**_FINE, "dtype": "O" * 100}], "wanted": [], "golden": []},
    {"sources": [{**_FINE, "more": 1}], "wanted": [], "golden": []},
    {"sources": [_FINE] * 20_000, "wanted": [], "golden": []},
    {"sources": 3},
    [[[[[]]]]],
]


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "victim"
    file.write_text("untouched")
    yield file
    assert file.read_text() == "untouched"


def _table(folder: Path, victim: Path) -> Table:
    place = folder / "suite"
    place.mkdir()
    adapter = place / "hostile_adapter.py"
    adapter.write_text(f"VICTIM = {str(victim)!r}\nLIES = {_LIES!r}\n{_ADAPTER}")
    rows = [{"case_id": number} for number in range(len(_LIES))]
    return Table("hostile", adapter, place, rows)


def test_links_and_lies_of_an_adapter(tmp_path: Path, victim: Path) -> None:
    with TableSession(_table(tmp_path, victim)) as session:
        with pytest.raises(RequestError, match="of 10 rows"):
            session.describe()
        made = session.make(0, None)
        assert session.read(made.sources[0]).data.tolist() == [0, 0, 0, 0]
        with pytest.raises(RequestError):  # it is gone
            session.read(made.sources[0])
        checked = session.check(0, [HostTensor.of(np.zeros(4, np.float32))])
        assert checked.passed
        assert len(checked.message) < 600
        assert checked.message.isprintable()
        with pytest.raises(RequestError, match="proof0"):
            session.prove(0, {})
        for row in range(1, len(_LIES)):
            with pytest.raises(RequestError) as caught:
                session.make(row, None)
            assert len(str(caught.value)) < 700, row


def test_a_reply_that_never_comes(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(tmp_path, victim)
    text = table.adapter.read_text().replace(
        "    return Task()",
        "    open('reply0.json', 'w').write('{\"answer\":' + '[' * 500000)\n    time.sleep(900)",
    )
    table.adapter.write_text(text)
    with TableSession(table) as session:
        with pytest.raises(RequestError, match="damaged"):
            session.describe()
        monkeypatch.setattr(TableSession, "patience_s", 1.0)
        with pytest.raises(RequestError, match=r"no reply1\.json within 1 s"):
            session.describe()


def test_hammered_tensors_of_a_table(tmp_path: Path) -> None:
    """No process is started: the folder is another's, who does worse than any adapter could."""
    secret = tmp_path / "secret"
    secret.write_bytes(np.full(256, 7, np.float32).tobytes())
    kept = secret.read_bytes()
    place = tmp_path / "suite"
    place.mkdir()
    session = TableSession(Table("hammered", place / "adapter.py", place, []))
    good = np.arange(256, dtype=np.float32)
    item = File(shape=(256,), dtype="float32", file="source0.bin")
    outcomes = {"right": 0, "refused": 0}
    names = ["source0.bin", "given0.bin", "request0.json"]
    with session.folder, hammered(session.folder.path, secret, good.tobytes(), names):
        for _ in until_each_came(outcomes):
            try:
                assert np.array_equal(session.read(item).data, good)
                outcomes["right"] += 1
            except RequestError:
                outcomes["refused"] += 1
            for name in names[1:]:
                try:
                    session.write(name, json.dumps([0]))
                except RequestError:
                    continue
    assert min(outcomes.values()) > 0, outcomes
    assert secret.read_bytes() == kept
