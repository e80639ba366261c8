# SPDX-License-Identifier: Apache-2.0
"""The results of a run: nothing lost, nothing twice, one writer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from npuforge.bench.attempt import Attempt, Cheat
from npuforge.bench.settings import Settings
from npuforge.bench.store import FILE, Store
from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.verdict import Verdict

TASKS = [Task("a/one", "a", 1, Path("one.py")), Task("a/two", "a", None, Path("two.py"))]
SETTINGS = Settings(suite="forge", samples=2, cases=3)


def attempt(task: str, sample: int = 0) -> Attempt:
    cheats = [Cheat("constant", "the same for all")]
    return Attempt(task, sample, "judged", Verdict(task, correct=False), False, True, cheats)


def test_what_was_stored_comes_back_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run", SETTINGS, TASKS) as store:
        for made in (attempt("a/two"), attempt("a/one", 1), attempt("a/one")):
            store.add(made)
    with Store(tmp_path / "run") as store:
        assert store.settings == SETTINGS
        assert store.tasks == TASKS
        assert store.attempts() == [attempt("a/one"), attempt("a/one", 1), attempt("a/two")]
        assert store.done() == {("a/one", 0), ("a/one", 1), ("a/two", 0)}


def test_an_attempt_is_kept_once(tmp_path: Path) -> None:
    with Store.create(tmp_path, SETTINGS, TASKS) as store:
        store.add(attempt("a/one"))
        with pytest.raises(sqlite3.IntegrityError):
            store.add(attempt("a/one"))
        assert len(store.attempts()) == 1


def test_a_run_is_not_started_over_another(tmp_path: Path) -> None:
    Store.create(tmp_path, SETTINGS, TASKS).close()
    with pytest.raises(UsageError, match="--resume"):
        Store.create(tmp_path, SETTINGS, TASKS)


def test_one_process_writes(tmp_path: Path) -> None:
    with Store.create(tmp_path, SETTINGS, TASKS):
        with pytest.raises(UsageError, match="at work"):
            Store(tmp_path, writing=True)
        Store(tmp_path).close()  # to look is allowed
    Store(tmp_path, writing=True).close()


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no benchmark run"):
        Store(tmp_path)
    (tmp_path / FILE).write_bytes(b"something else altogether" * 100)
    with pytest.raises(UsageError, match="no benchmark run"):
        Store(tmp_path)
