# SPDX-License-Identifier: Apache-2.0
"""An interpreter that has PyTorch loaded and runs nothing itself; never imported by the package.

`preloaded.py` starts it and hands over jobs with the files that they are about. For each it forks
what `supervisor.py` is elsewhere, which forks the command, confines it as any other, and has it run
its script where others begin a program. What a command does to its interpreter ends with it.
"""

import atexit
import gc
import marshal
import os
import runpy
import signal
import socket
import sys
import tempfile
import threading
import warnings
from pathlib import Path

_FILES = 4  # the control socket, and what the command has for its input and outputs
_MOST_OPEN = 4096


def main(channel: socket.socket) -> None:
    supervisor = {"__name__": "supervisor"}
    for part in sys.argv[2:]:
        exec(compile(Path(part).read_text("utf-8"), part, "exec"), supervisor)
    import torch  # noqa: F401, PLC0415

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for supervisors
    channel.sendall(b"r")
    served = 0
    while True:
        head, files, _, _ = socket.recv_fds(channel, 8, _FILES)
        data = channel.recv(int.from_bytes(head, "little"), socket.MSG_WAITALL) if head else b""
        if not data:
            return
        if os.fork() == 0:
            _supervise(channel, supervisor, files, marshal.loads(data))
        for file in files:
            os.close(file)
        served += 1
        if served == 1:  # while the first one is at work
            _load_what_export_needs()
            gc.freeze()


def _supervise(channel: socket.socket, supervisor: dict, files: list[int], job: dict) -> None:  # type: ignore[type-arg]
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
        job["fds"] = files[1:]
        job["become"] = _run
        supervisor["main"](files[0], job)
    finally:
        os._exit(0)


def _run(argv: list[str], env: dict[str, str]) -> None:
    """Be `python FLAGS SCRIPT ...`, and end as it would."""
    status: object = 1
    try:
        os.closerange(3, _MOST_OPEN)
        os.environ.clear()
        os.environ.update(env)
        tempfile.tempdir = None  # it was looked up in another environment
        flags = [word for word in argv[1:] if word.startswith("-")]
        sys.argv = argv[1 + len(flags) :]
        if "-I" not in flags:
            sys.path.insert(0, os.path.dirname(sys.argv[0]))
        runpy.run_path(sys.argv[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        _end(status if isinstance(status, int) else int(status is not None))


def _end(status: int) -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 120  # as the interpreter does
    os._exit(status & 0xFF)


def _load_what_export_needs() -> None:
    """A first export loads as much again as `import torch` does."""
    import torch  # noqa: PLC0415

    class Nothing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    free = torch.export.Dim.AUTO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = (torch.zeros(2, 3),)
        program = torch.export.export(Nothing(), given, dynamic_shapes=({0: free, 1: free},))
        program.run_decompositions(torch.export.default_decompositions())


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as ours:
        main(ours)
