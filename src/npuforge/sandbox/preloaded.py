# SPDX-License-Identifier: Apache-2.0
"""Commands that are Python with PyTorch start from an interpreter that has loaded it already.

`import torch` and a first export take four seconds, most of what it takes to capture a module. One
process of ours pays for that once; commands are forked from it, each confined before it runs
anything. It holds nothing that a command must not see: its environment has nothing of ours, and it
runs no code but ours.

A process that starts a single command gains nothing, so that the first one starts by itself.
"""

from __future__ import annotations

import atexit
import marshal
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from npuforge.sandbox.python import NO_DEVICES
from npuforge.scratch import new_folder, remove

_MAIN = Path(__file__).with_name("preloaded_main.py")
# Parts of the supervisor, in the order in which they run in one namespace.
SUPERVISOR = [
    Path(__file__).with_name(name) for name in ("confinement.py", "usage.py", "supervisor.py")
]
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    **NO_DEVICES,
}
_START_S = 120.0


class Preloaded:
    """The interpreter; gone when this process is, or when it is closed."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self._place = new_folder("preloaded")
        places = {"HOME": str(self._place), "TMPDIR": str(self._place)}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", _MAIN, str(theirs.fileno()), *SUPERVISOR],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT | places,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._lock = threading.Lock()
        ready, _, _ = select.select([self._channel], [], [], _START_S)
        self.works = bool(ready) and self._channel.recv(1) == b"r"

    def supervise(
        self, control: socket.socket, job: Mapping[str, Any], files: Sequence[int]
    ) -> bool:
        """Start a command under a supervisor that talks through `control`; whether it was."""
        data = marshal.dumps(dict(job))
        try:
            with self._lock:
                head = len(data).to_bytes(8, "little")
                socket.send_fds(self._channel, [head], [control.fileno(), *files])
                self._channel.sendall(data)
        except OSError:
            self.works = False
        return self.works

    def disown(self) -> None:
        """Give back the channel in a forked child; the interpreter ends with the parent's."""
        self._channel.close()

    def close(self) -> None:
        """End the interpreter and remove its folder."""
        self._channel.close()
        self._process.wait()
        remove(self._place)


class _Interpreters:
    """At most one for each process: a forked one has its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = 0
        self._found: Preloaded | None = None

    def next(self) -> Preloaded | None:
        """The interpreter to start a command from, if there is reason to have one."""
        with self._lock:
            self._asked += 1
            if self._asked > 1 and self._found is None:
                self._found = Preloaded()
            found = self._found
        return found if found is not None and found.works else None

    def close(self) -> None:
        """End the interpreter, if there is one."""
        with self._lock:
            if self._found is not None:
                self._found.close()
                self._found = None

    def forget(self) -> None:
        """Begin anew in a forked child: the interpreter is the parent's to end."""
        if self._found is not None:
            self._found.disown()
        self.__init__()  # type: ignore[misc]


INTERPRETERS = _Interpreters()
os.register_at_fork(after_in_child=INTERPRETERS.forget)
atexit.register(INTERPRETERS.close)
