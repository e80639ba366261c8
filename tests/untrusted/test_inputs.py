# SPDX-License-Identifier: Apache-2.0
"""Files that users and input files name: plain, bounded, within their folder, never waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.untrusted.inputs import is_plain_file, lies_within, read_input, read_source, read_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with a file, beside which a secret lies."""
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "root"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "file").write_text("content")
    return folder


def test_a_file_is_read_as_bytes_and_text(root: Path) -> None:
    file = root / "below" / "file"
    assert read_input(file) == b"content"
    assert read_text(file, within=root) == "content"
    file.write_bytes(b"\xff")
    assert read_source(file) == "\N{REPLACEMENT CHARACTER}"
    with pytest.raises(UsageError, match="not text"):
        read_text(file)


def test_pipes_devices_folders_and_missing_files_are_refused(root: Path) -> None:
    os.mkfifo(root / "pipe")
    for path in (root / "pipe", Path("/dev/zero"), Path("/dev/tty"), root, root / "none"):
        with pytest.raises(UsageError, match="cannot read"):
            read_input(path)
        assert not is_plain_file(path)


def test_a_name_with_nul_or_of_excessive_length_is_refused(root: Path) -> None:
    for name in ("a\0b", "x" * 5000, "\ud800"):
        with pytest.raises(UsageError) as caught:
            read_input(root / name)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
        assert not is_plain_file(root / name)


def test_a_large_file_is_refused_without_being_read(root: Path) -> None:
    with (root / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError, match="at most"):
        read_input(root / "large")
    assert read_input(root / "below" / "file", 7) == b"content"
    with pytest.raises(UsageError, match="at most 6"):
        read_input(root / "below" / "file", 6)


def test_files_whose_size_is_not_said_are_bounded_too() -> None:
    with pytest.raises(UsageError, match="more than 16 bytes"):
        read_input(Path("/proc/self/status"), 16)


@pytest.mark.parametrize("name", ["../secret", "link", "folder/secret", "below/../../secret"])
def test_nothing_outside_the_folder_is_read(root: Path, name: str) -> None:
    (root / "link").symlink_to(root.parent / "secret")
    (root / "folder").symlink_to(root.parent)
    assert read_input(root / name) == b"secret"
    with pytest.raises(UsageError, match="leads out of"):
        read_input(root / name, within=root)
    assert not is_plain_file(root / name, within=root)


def test_links_within_the_folder_are_followed(root: Path) -> None:
    (root / "link").symlink_to("below/file")
    assert read_input(root / "link", within=root) == b"content"
    assert lies_within(root, root / "link")
