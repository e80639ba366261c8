# SPDX-License-Identifier: Apache-2.0
"""A hostile process: it exchanges files of a folder for links, pipes and folders, endlessly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_LOOP = """
import itertools, os, sys
folder, secret, good, *names = sys.argv[1:]
content = bytes.fromhex(good)
os.chdir(folder)

def clear(name):
    try:
        os.rmdir(name)
    except OSError:
        try:
            os.unlink(name)
        except OSError:
            pass

def plain(name):
    with open("spare", "wb") as file:
        file.write(content)
    os.rename("spare", name)

def vast(name):
    with open(name, "wb") as file:
        file.truncate(1 << 40)

forms = (
    plain,
    lambda name: os.symlink(secret, name),
    plain,
    os.mkfifo,
    lambda name: os.mkdir(name),
    plain,
    lambda name: os.symlink("/proc/self/environ", name),
    vast,
)
print("ready", flush=True)
for form in itertools.cycle(forms):
    for name in names:
        clear(name)
        try:
            form(name)
        except OSError:
            pass
"""

_LEAST_ROUNDS, _MOST_ROUNDS, _FEW = 300, 20_000, 5


@contextmanager
def hammered(folder: Path, secret: Path, good: bytes, names: Sequence[str]) -> Iterator[None]:
    """Exchange `names` in `folder` while the block runs; now and then they hold `good`."""
    command = [sys.executable, "-I", "-c", _LOOP, str(folder), str(secret), good.hex(), *names]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


def until_each_came(outcomes: Mapping[str, int]) -> Iterator[int]:
    """Count rounds until each outcome came a few times: how often depends on the machine."""
    for number in range(_MOST_ROUNDS):
        yield number
        if number >= _LEAST_ROUNDS and min(outcomes.values()) >= _FEW:
            return
