# SPDX-License-Identifier: Apache-2.0
"""A folder that an untrusted process writes: what the trusted side reads and writes there."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[SharedFolder]:
    place = tmp_path / "shared"
    place.mkdir()
    with SharedFolder(place) as folder:
        yield folder


def test_a_file_is_read_as_written(shared: SharedFolder) -> None:
    shared.write("a.bin", b"12345")
    assert shared.read("a.bin", 5) == b"12345"
    assert shared.array("a.bin", 9, size=5).tolist() == [49, 50, 51, 52, 53]
    assert [path.name for path in shared.path.iterdir()] == ["a.bin"]


def test_an_empty_file_is_read(shared: SharedFolder) -> None:
    shared.write("a.bin", b"")
    assert shared.read("a.bin", 0) == b""


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "a\0b", "-x", "x" * 300])
def test_a_name_is_one_plain_component(shared: SharedFolder, name: str) -> None:
    with pytest.raises(HostileFileError, match="plain file name"):
        shared.read(name, 1)
    with pytest.raises(HostileFileError, match="plain file name"):
        shared.write(name, b"1")


def test_a_link_is_not_followed(shared: SharedFolder, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    (shared.path / "a.bin").symlink_to(secret)
    with pytest.raises(HostileFileError):
        shared.read("a.bin", 100)
    shared.write("a.bin", b"new")
    assert (secret.read_text(), shared.read("a.bin", 9)) == ("key", b"new")


def test_a_fifo_and_a_folder_are_refused_at_once(shared: SharedFolder) -> None:
    os.mkfifo(shared.path / "fifo")
    (shared.path / "folder").mkdir()
    for name in ("fifo", "folder"):
        with pytest.raises(HostileFileError, match="plain file"):
            shared.read(name, 100)
    with pytest.raises(HostileFileError, match="cannot write"):
        shared.write("folder", b"1")


def test_a_read_has_a_limit(shared: SharedFolder) -> None:
    with (shared.path / "a.bin").open("wb") as file:
        file.truncate(1 << 40)  # sparse: reading it would take all memory
    with pytest.raises(HostileFileError, match="at most 100"):
        shared.read("a.bin", 100)
    with pytest.raises(HostileFileError, match="instead of 7"):
        shared.array("a.bin", 1 << 50, size=7)


def test_the_folder_is_the_one_that_was_opened(shared: SharedFolder, tmp_path: Path) -> None:
    shared.path.rename(tmp_path / "elsewhere")
    (tmp_path / "bait").mkdir()
    shared.path.symlink_to(tmp_path / "bait")
    shared.write("a.bin", b"1")
    assert list((tmp_path / "bait").iterdir()) == []
    assert (tmp_path / "elsewhere" / "a.bin").read_bytes() == b"1"


def test_a_wait_ends_with_the_file(shared: SharedFolder) -> None:
    writer = threading.Timer(0.05, shared.write, ("a.bin", b"1"))
    writer.start()
    assert shared.wait("a.bin", 1, seconds=60, ended=lambda: False) == b"1"
    writer.join()


def test_a_wait_ends_with_the_process_and_at_its_deadline(shared: SharedFolder) -> None:
    with pytest.raises(HostileFileError, match="ended without"):
        shared.wait("a.bin", 1, seconds=60, ended=lambda: True)
    begun = time.monotonic()
    with pytest.raises(HostileFileError, match="within"):
        shared.wait("a.bin", 1, seconds=0.05, ended=lambda: False)
    assert time.monotonic() - begun < 30
