# SPDX-License-Identifier: Apache-2.0
"""Launch files that read foreign files, ask for the impossible, or loosen their own judge."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.twin.launch_file import load
from npuforge.twin.sources.kernel_file import KernelFile
from npuforge.twin.verify import verify

_ADD = Path(__file__).parents[1] / "twin" / "driver" / "kernels" / "add.cpp"
_HEAD = 'blocks = 1\n[[argument]]\nname = "x"\ndtype = "float32"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the launch file's folder, beside which a secret lies."""
    np.zeros(4, np.float32).tofile(tmp_path / "secret.bin")
    np.save(tmp_path / "secret.npy", np.zeros(4, np.float32))
    (tmp_path / "secret.py").write_text("def f(x):\n    return x\n")
    place = tmp_path / "launch"
    place.mkdir()
    (place / "link.bin").symlink_to("../secret.bin")
    (place / "beyond").symlink_to("..")
    return place


def refused(folder: Path, text: str, name: str = "launch.toml") -> str:
    """Return the one line that the launch file ends in."""
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(UsageError) as caught:
        load(folder / name)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    return message


@pytest.mark.parametrize(
    "file", ["../secret.bin", "{absolute}", "link.bin", "beyond/secret.bin", "beyond/secret.npy"]
)
def test_files_outside_are_not_read(folder: Path, file: str) -> None:
    file = file.format(absolute=folder.parent / "secret.bin")
    assert "leads out of" in refused(folder, f'{_HEAD}shape = [4]\ndata = "{file}"')
    tiling = f'blocks = 1\n[[argument]]\nkind = "tiling"\nfile = "{file}"'
    assert "leads out of" in refused(folder, tiling)
    output = f'{_HEAD}shape = [4]\nrole = "out"\n[expected]\nx = "{file}"'
    assert "leads out of" in refused(folder, output)


def test_a_reference_outside_is_not_used(folder: Path) -> None:
    message = refused(folder, f'reference = "../secret.py::f"\n{_HEAD}shape = [4]')
    assert "leads out of" in message


@pytest.mark.parametrize("name", ["x.bin", "x.npy"])
def test_pipes_and_devices_are_not_waited_for(folder: Path, name: str) -> None:
    os.mkfifo(folder / name)
    assert "not a plain file" in refused(folder, f'{_HEAD}shape = [4]\ndata = "{name}"')
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    refused(folder, f'{_HEAD}shape = [4]\ndata = "{name}"')


def test_a_pipe_in_the_place_of_the_launch_file_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "launch.toml")
    with pytest.raises(UsageError, match="not a plain file"):
        load(folder / "launch.toml")


@pytest.mark.parametrize(
    "line",
    [
        f"shape = [{1 << 40}]",
        f"shape = [{1 << 63}, {1 << 63}]",
        "shape = [-1]",
        "shape = [nan]",
        "shape = [1.5]",
        "shape = [[1]]",
        f"shape = {[1] * 100}",
        f"shape = [{'9' * 5000}]",
        f"shape = [0x{'F' * 5000}]",
        'shape = ["4"]',
        "shape = {}",
        "shape = [true]",
        "shape = [2001-01-01]",
        "shape = [4]\ndata = [[1, 2], [3]]",
        "shape = [4]\ndata = ['a', 'b', 'c', 'd']",
        "shape = [4]\ndata = [true, {}, 1, 1]",
        "shape = [4]\ndata = {kind = 'random', seed = -1}",
        "shape = [4]\ndata = {kind = 'random', seed = 'x'}",
        "shape = [4]\ndata = {kind = 'random', low = 1.0, high = 0.0}",
        "shape = [4]\ndata = {kind = 'random', low = nan}",
        "shape = [4]\ndata = {kind = 'random', low = -1e308, high = 1e308}",
        "shape = [4]\ndata = {kind = 'normal', std = inf}",
        "shape = [4]\ndata = {kind = 'arange', start = 'x'}",
        "shape = [4]\ndata = {kind = 'full', value = [1]}",
        "shape = [4]\ndata = {kind = ['full']}",
        "shape = [4]\ndata = {file = 7}",
        "shape = [4]\nname = 7",
        "shape = [4]\nrole = ['in']",
        "shape = [4]\nkind = {}",
    ],
)
def test_the_impossible_is_one_line(folder: Path, line: str) -> None:
    head = _HEAD.replace('name = "x"\n', "") if "name" in line else _HEAD
    refused(folder, head + line)


@pytest.mark.parametrize(
    "text",
    [
        "blocks = nan",
        f"blocks = 0x{'F' * 5000}",
        "blocks = 1\nkey = -1",
        'blocks = 1\n[[argument]]\nkind = "workspace"\nbytes = -1',
        f'blocks = 1\n[[argument]]\nkind = "workspace"\nbytes = {1 << 60}',
        'blocks = 1\n[[argument]]\nkind = "scalar"\ndtype = "int32"\nvalue = nan',
        'blocks = 1\n[[argument]]\nkind = "scalar"\ndtype = "int32"\nvalue = inf',
        'blocks = 1\n[[argument]]\nkind = "scalar"\ndtype = "int32"\nvalue = [1]',
        'blocks = 1\n[[argument]]\nkind = "scalar"\ndtype = ["int32"]\nvalue = 1',
        'blocks = 1\n[[argument]]\nkind = "tiling"\nfields = 7',
        'blocks = 1\n[[argument]]\nkind = "tiling"\nfields = [["a b", "int8", 1]]',
        'blocks = 1\n[[argument]]\nkind = "tiling"\nfields = [["a", "int8", nan]]',
        'blocks = 1\n[[argument]]\nkind = "tiling"\nfields = [["a", "int8", {}]]',
        'blocks = 1\n[[argument]]\nkind = "tiling"\nhex = 7',
        "blocks = 1\nname = 'a\\nb'\nname = 'x'",
        'blocks = 1\nname = "a\\u001b[2Jb"',
        "blocks = 1\nexpected = 7",
        'blocks = 1\n[expected]\n"a b" = "x"',
        "[attrs]\n'a b' = 1",
        "case = [1]",
        "blocks = 1\ncase = [" + "{}," * 5000 + "]",
        "blocks = 1\n" + "[[argument]]\nkind = 'absent'\n" * 5000,
    ],
)
def test_bounds_of_the_whole_are_one_line(folder: Path, text: str) -> None:
    refused(folder, text)


def test_yaml_that_explodes_is_one_line(folder: Path) -> None:
    lists = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    text = f"a0: &a0 [1, 1]\n{lists}blocks: 1\n"
    assert "aliases" in refused(folder, text, "launch.yaml")
    refused(folder, "blocks: " + "[" * 20_000, "launch.yaml")


@pytest.mark.parametrize(
    "tolerance",
    [
        "mismatches = 1.0",
        "mismatches = nan",
        "rtol = inf",
        "rtol = 0.5",
        "atol = 1e30",
        "atol = -1",
    ],
)
def test_a_launch_file_cannot_pass_everything(folder: Path, tolerance: str) -> None:
    assert "tolerance" in refused(folder, f"tolerance = {{{tolerance}}}\nblocks = 1")


def test_a_looser_tolerance_is_stated(folder: Path) -> None:
    shutil.copy(_ADD, folder / "add.cpp")
    launch = _ADD.with_suffix(".toml").read_text()
    (folder / "add.toml").write_text("tolerance = {rtol = 0.05, mismatches = 0.01}\n" + launch)
    report = verify(KernelFile(folder / "add.cpp"), load(folder / "add.toml"), steps=("run",))
    assert report.verdict.correct
    message = report.verdict.cases[0].message or ""
    assert "rtol 0.05" in message
    assert "looser than rtol 0.0001" in message


def test_the_command_line_ends_with_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(_ADD, folder / "add.cpp")
    (folder / "l.toml").write_text(f"{_HEAD}shape = [{1 << 50}]")
    assert main(["check", str(folder / "add.cpp"), "--launch", str(folder / "l.toml")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
