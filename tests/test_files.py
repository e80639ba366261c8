# SPDX-License-Identifier: Apache-2.0
"""Files that many write at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from npuforge.files import replacement, write_whole

_AT_ONCE = 8


def test_threads_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    barrier = Barrier(_AT_ONCE)

    def write(number: int) -> None:
        barrier.wait()
        for _ in range(50):
            write_whole(path, str(number) * 10_000)
            assert len(set(path.read_text("utf-8"))) == 1

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(write, range(_AT_ONCE)))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_failure_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"before")
    with pytest.raises(UnicodeEncodeError), replacement(path) as temporary:
        temporary.write_text("half \udc80", "utf-8")
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_two_replacements_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacement(path) as first, replacement(path) as second:
        assert first != second
        assert {first.parent, second.parent} == {tmp_path}
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # the outer block ends last


def test_a_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    write_whole(tmp_path / "file", "")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode
