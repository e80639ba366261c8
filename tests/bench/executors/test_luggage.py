# SPDX-License-Identifier: Apache-2.0
"""Checkouts and answers on their way to other machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.bench.executors import luggage
from npuforge.bench.settings import Settings
from npuforge.errors import UsageError


def folder(path: Path) -> Path:
    for name in ("reference/a/one.py", ".git/objects/big", "reference/a/__pycache__/one.pyc"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(name)
    (path / ".gitignore").write_text("reference")
    (path / "out").symlink_to("/etc")
    (path / "gone").symlink_to("nowhere")
    (path / "inside").symlink_to("reference")
    return path


def files(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


def test_a_checkout_and_answers_travel_without_history_and_foreign_files(tmp_path: Path) -> None:
    suite, answers = folder(tmp_path / "suite"), tmp_path / "answers"
    answers.mkdir()
    (answers / "one.py").write_text("1")
    settings = Settings(suite="multikernelbench", path=str(suite), answers=str(answers))
    there = luggage.unpack(settings, luggage.pack(settings, None), tmp_path / "there", None)
    assert there.path is not None
    assert there.answers is not None
    assert files(Path(there.path)) == {".gitignore", "reference/a/one.py"}
    assert (Path(there.path) / "inside/a/one.py").is_file()
    assert files(Path(there.answers)) == {"one.py"}


def test_a_node_may_have_its_own_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(suite="kernelbench", path="here")
    packed = luggage.pack(settings, "$SUITES/kb")
    monkeypatch.setenv("SUITES", "/of/this/node")
    assert luggage.unpack(settings, packed, tmp_path, "$SUITES/kb").path == "/of/this/node/kb"


def test_our_own_suite_needs_no_checkout(tmp_path: Path) -> None:
    settings = Settings(suite="forge")
    assert luggage.unpack(settings, luggage.pack(settings, None), tmp_path, None) == settings


def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    with (folder(tmp_path / "suite") / "data").open("wb") as data:
        data.truncate(luggage.MOST_BYTES + 1)
    settings = Settings(suite="multikernelbench", path=str(tmp_path / "suite"))
    with pytest.raises(UsageError, match="--on-nodes"):
        luggage.pack(settings, None)
