# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM in a run that asks a model: one is enough, and nothing right is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from tests.cli.test_generate_models import MODULE
from tests.generate.written.test_tile import RIGHT, WRONG, said
from tests.models.server import Answer, serving

END_S = 60  # of a loaded machine: without an end, a request lasts 300 s

# A server that answers, and then is silent for ever.


@contextmanager
def answering_then_silent(*answers: Answer) -> Iterator[tuple[str, SimpleQueue[int]]]:
    """Yield the address, and a queue that gets a number for each request that came."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: PLC0415

    left = list(answers)
    came: SimpleQueue[int] = SimpleQueue()
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            came.put(len(left))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            if left:
                self.wfile.write("".join(f"{line}\n" for line in left.pop(0).lines).encode())
            else:
                self.wfile.flush()
                over.wait()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", came
    finally:
        over.set()
        server.shutdown()
        server.server_close()


def started(folder: Path, base: str, *flags: str) -> subprocess.Popen[str]:
    """The command in a session of its own, as a terminal starts it."""
    (folder / "softmax.py").write_text(MODULE)
    command = ["generate", "softmax.py", "--strategy", "tile", "--model", "m", "--base-url", base]
    command += ["--knowledge", "off", "--enough", "9", "--out", "made", *flags]
    return subprocess.Popen(
        [sys.executable, "-m", "npuforge.cli", *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NPUFORGE_MODEL_KEY": "sk-interrupted-0123"},
        start_new_session=True,
    )


def verdict(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "made" / "verdict.json").read_text())
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("candidates", [1, 3])
def test_a_right_program_is_kept(tmp_path: Path, number: signal.Signals, candidates: int) -> None:
    answers = [said(RIGHT)] * candidates
    with answering_then_silent(*answers) as (base, came):
        process = started(tmp_path, base, "--candidates", str(candidates))
        for _ in range(candidates + 1):
            came.get(timeout=300)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=END_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "npuforge: interrupted; the best program so far is in made"
    assert (tmp_path / "made" / "softmax.tile.py").read_text() == RIGHT
    found = verdict(tmp_path)
    assert (found["correct"], found["interrupted"], found["error"]) == (True, True, None)
    assert "ok softmax" in out


def test_the_best_of_what_is_wrong_is_kept_as_wrong(tmp_path: Path) -> None:
    with answering_then_silent(said(WRONG)) as (base, came):
        process = started(tmp_path, base)
        came.get(timeout=300)
        came.get(timeout=300)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=END_S)
    assert process.returncode == 130, err
    found = verdict(tmp_path)
    assert (found["correct"], found["interrupted"]) == (False, True)


def test_with_no_program_nothing_is_written(tmp_path: Path) -> None:
    with answering_then_silent() as (base, came):
        process = started(tmp_path, base)
        came.get(timeout=300)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=END_S)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "npuforge: interrupted"
    assert "Traceback" not in err
    assert not (tmp_path / "made").exists()


def test_a_run_that_ends_by_itself_was_not_interrupted(tmp_path: Path) -> None:
    with serving(said(RIGHT)) as served:
        process = started(tmp_path, served.base, "--rounds", "1")
        _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert verdict(tmp_path)["interrupted"] is False
