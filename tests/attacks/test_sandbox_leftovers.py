# SPDX-License-Identifier: Apache-2.0
"""Attacks by what a command leaves behind: modes, depth, numbers and names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from npuforge.sandbox import MEANS, WEAK, Completed, Limits, Means, Sandbox
from npuforge.scratch import scratch_folder

PROTECTING = [name for name in MEANS if name not in WEAK and Sandbox.using(name).works()]
PYTHON = os.path.realpath(sys.executable)


def leave(name: Means, place: Path, code: str) -> Completed:
    return Sandbox.using(name).run(
        [PYTHON, "-I", "-S", "-c", f"import os\n{code}"],
        scratch=place,
        readable=(Path(sys.base_prefix), Path(PYTHON)),
        limits=Limits(wall_s=60, cpu_s=60, files=200_000),
    )


@pytest.mark.parametrize("name", PROTECTING)
@pytest.mark.parametrize(
    "code",
    [
        "os.makedirs('a/b/c')\nos.mkdir('a/closed', 0)\nos.mkdir('blind', 0o300)",
        "for n in range(20_000): os.close(os.open(f'f{n}', os.O_CREAT, 0))",
        "for n in (b'a\\nb', b'\\xff\\xfe', b'-rf *', b'\\x1b[2J', b'x' * 255):\n"
        "    os.mkdir(n)\n    os.close(os.open(n + b'/..' + b'/' + n[:99] + b'f', os.O_CREAT))",
        "for _ in range(4000):\n    os.mkdir('deeper')\n    os.chdir('deeper')",
        "os.symlink('/', 'r')\nos.symlink('r/..', 'a')\nos.mkfifo('pipe')\nos.link('pipe', 'p')",
    ],
    ids=["closed folders", "many files", "names", "depth", "links"],
)
@pytest.mark.parametrize("where", ["os.curdir", "os.environ['TMPDIR']"], ids=["scratch", "tmp"])
def test_whatever_is_left_is_removed(name: Means, code: str, where: str) -> None:
    with scratch_folder("attack") as place:
        beside = set(os.listdir(place.parent))
        done = leave(name, place, f"os.chdir({where})\n{code}")
        assert done.stderr == b""
        assert set(os.listdir(place.parent)) == beside
    assert not place.exists()


@pytest.mark.parametrize("name", PROTECTING)
def test_nothing_that_is_left_is_open_to_others(name: Means) -> None:
    with scratch_folder("attack") as place:
        leave(name, place, "os.mkdir('d', 0o777)\nos.close(os.open('f', os.O_CREAT, 0o666))")
        assert [(place / one).stat().st_mode & 0o077 for one in "df"] == [0, 0]
        assert place.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("umask", [0, 0o077])
def test_the_callers_umask_changes_nothing(umask: int) -> None:
    before = os.umask(umask)
    try:
        with scratch_folder("attack") as place:
            assert place.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
