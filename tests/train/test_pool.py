# SPDX-License-Identifier: Apache-2.0
"""Processes of a pool end when their parent is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_PARENT = """
import os, time
from npuforge.train.pool import pool

if __name__ == "__main__":
    with pool(1) as workers:
        print(workers.submit(os.getpid).result(), flush=True)
        workers.submit(time.sleep, 600).result()
"""


def test_nobody_is_left_behind(tmp_path: Path) -> None:
    file = tmp_path / "parent.py"
    file.write_text(_PARENT)
    with subprocess.Popen([sys.executable, file], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while _lives(worker):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
