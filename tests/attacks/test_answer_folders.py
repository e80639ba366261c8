# SPDX-License-Identifier: Apache-2.0
"""Attacks by folders of answers, checkouts and datasets: what lies there is no plain file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from npuforge.bench.cheats.cpp_source import CppSource
from npuforge.bench.cheats.python_source import PythonSource
from npuforge.bench.modules import answers
from npuforge.bench.suites.multikernelbench.groups import lines as cases
from npuforge.bench.task import Task
from npuforge.errors import UsageError
from npuforge.train.records import lines

_SECRET = "secret of the user"


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def _loop(place: Path) -> None:
    place.symlink_to(place)


def _sparse(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 40)


_ODD: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe, "device": _device, "loop": _loop, "sparse": _sparse,
}  # fmt: skip
_odd = pytest.mark.parametrize("odd", _ODD.values(), ids=_ODD)


@_odd
@pytest.mark.parametrize("suffix", [".py", ".json", ".txt"])
def test_an_answer_that_is_no_text(
    odd: Callable[[Path], None], suffix: str, tmp_path: Path
) -> None:
    odd(tmp_path / f"relu{suffix}")
    found = answers.find(tmp_path, Task("a/relu", "a", 1, Path("relu.py")), 0)
    if found is not None:
        with pytest.raises(UsageError):
            answers.copy(found, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@_odd
def test_an_answers_folder_is_kept_without_them(
    odd: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "relu"
    (folder / "op_kernel").mkdir(parents=True)
    (folder / "op_kernel" / "relu.cpp").write_text("// kept")
    if odd is not _sparse:
        odd(folder / "op_kernel" / "odd.h")
    (tmp_path / "secret.txt").write_text(_SECRET)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "out").symlink_to(tmp_path)
    answers.copy(folder, tmp_path / "kept")
    kept = [path for path in (tmp_path / "kept").rglob("*") if not path.is_dir()]
    assert [path.name for path in kept] == ["relu.cpp"]


def test_a_large_answer_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "relu").mkdir()
    _sparse(tmp_path / "relu" / "relu.cpp")
    with pytest.raises(UsageError, match="GiB"):
        answers.copy(tmp_path / "relu", tmp_path / "kept")


def test_a_linked_answer_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text(_SECRET)
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "relu.py").symlink_to(tmp_path / "secret.py")
    assert answers.find(folder, Task("a/relu", "a", 1, Path("relu.py")), 0) is None


@_odd
def test_readers_of_sources_wait_for_nothing(odd: Callable[[Path], None], tmp_path: Path) -> None:
    place = tmp_path / "relu.json"
    odd(place)
    with pytest.raises(UsageError):
        CppSource(place, tmp_path, frozenset())
    with pytest.raises(UsageError):
        PythonSource(place, "Model", frozenset()).cheats()
    with pytest.raises(UsageError):
        list(lines([place]))
    if odd is _sparse:
        with pytest.raises(UsageError):
            cases(tmp_path / "relu.py")
    else:
        assert cases(tmp_path / "relu.py") == []
