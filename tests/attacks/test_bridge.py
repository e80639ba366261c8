# SPDX-License-Identifier: Apache-2.0
"""Attacks on the bridge for operator calls: an answer's Python asks the parent to run operators."""

from __future__ import annotations

import json
import os
import select
from pathlib import Path

import numpy as np
import pytest
from tests.attacks.hammer import hammered, until_each_came
from tests.twin.answers.test_model_answer import SIX, TASK

from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.twin.model_verify import verify_model
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.torchbind.calls import read_inputs
from npuforge.twin.torchbind.requests import MOST_CALLS, MOST_LINE, parse_request
from npuforge.twin.torchbind.server import CallServer, Service, plain_words
from npuforge.verdict import Verdict

# What a hostile model has at hand; `ask` sends a line of its own.
_HEAD = """
import json, os, sys
import torch
import custom_ops_lib

def bridge():
    return sys.modules["npuforge_bridge"].exec_npu_cmd.__self__

def ask(arguments, api="aclnnScaleCustom", **fields):
    line = {"api": api, "arguments": arguments, **fields}
    bridge().requests.write(json.dumps(line) + "\\n")
    bridge().requests.flush()
    return json.loads(bridge().answers.readline())

def tensor(**fields):
    return {"kind": "tensor", "shape": [16, 256], "dtype": "float32", "filled": True, **fields}

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = custom_ops_lib.scale(x)
        octets = x.numpy().tobytes()
"""


def _verdict(folder: Path, body: str) -> Verdict:
    scope: dict[str, str] = {}
    exec(SIX, scope)  # our own file of string constants
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    scope["model_src"] = f"{_HEAD}{lines}        return y\n"
    path = folder / "scale.py"
    path.write_text("\n".join(f"{k} = {v!r}" for k, v in scope.items() if k.endswith("_src")))
    return verify_model(ModelAnswer.open(path), TASK, steps=("run",)).verdict


def test_no_file_outside_is_written(tmp_path: Path) -> None:
    """By a path in a request, or by a link in the place of a file that the parent writes."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    verdict = _verdict(
        tmp_path,
        f"""
for name in ("a.bin", "in0.bin", "in1.bin"):
    open(name, "wb").write(octets)
for name in ("out0.bin", "out1.bin", "record.json.part"):
    os.symlink({str(victim)!r}, name)
told = ask([tensor(file="a.bin"), tensor(file={str(victim)!r}, filled=False)])
told = ask([tensor(file="a.bin"), tensor(file="out1.bin", filled=False)])
told = ask([tensor(), tensor(filled=False)])
""",
    )
    assert victim.read_text() == "untouched"
    assert verdict.correct is True, verdict


def test_no_file_outside_is_read(tmp_path: Path) -> None:
    """A link in the place of an input would let the operator return twice what a file holds."""
    secret = tmp_path / "key"
    secret.write_bytes(np.full(16 * 256, 3.0, np.float32).tobytes())
    verdict = _verdict(
        tmp_path,
        f"""
for target in ({str(secret)!r}, "/proc/self/environ"):
    for name in ("in0.bin", "link.bin"):
        if os.path.lexists(name):
            os.unlink(name)
        os.symlink(target, name)
    open("in1.bin", "wb").write(octets)
    open("y.bin", "wb").write(octets)
    for call in (
        [tensor(), tensor()],
        [tensor(file="link.bin"), tensor(file="y.bin")],
        [tensor(file="link.bin", shape=[4]), tensor(file="y.bin", shape=[4])],
    ):
        told = ask(call)
        if not told.get("error"):
            raise RuntimeError("LEAK")
        if "/" in told["error"].replace("I/O", "") or {str(tmp_path)!r} in told["error"]:
            raise RuntimeError("LEAK of a path: " + told["error"])
""",
    )
    assert "LEAK" not in (verdict.error or ""), verdict.error
    assert verdict.correct is True, verdict


def test_pipes_and_sizes_that_lie_end_in_words(tmp_path: Path) -> None:
    """A named pipe where a tensor is expected, shapes that are not the file's."""
    verdict = _verdict(
        tmp_path,
        """
os.mkfifo("in0.bin")
open("in1.bin", "wb").write(octets)
told = [ask([tensor(), tensor()])]
os.unlink("in0.bin")
open("in0.bin", "wb").write(octets)
told += [ask([tensor(shape=s), tensor(shape=s)]) for s in ([16, 257], [-1], [1 << 50], [0] * 40)]
told += [ask([tensor(dtype=d), tensor(dtype=d)]) for d in ("object", "float64", "x" * 1000, 3)]
told += [ask([tensor(), tensor()], api=a) for a in ("x" * 1000, "../x", "", None)]
if not all(one["error"] for one in told):
    raise RuntimeError("believed")
""",
    )
    assert verdict.error is None
    assert verdict.correct is True, verdict


_TENSOR = {"kind": "tensor", "shape": [4], "dtype": "float32", "filled": True}
_LINES = {
    "nested": b"[" * 200_000,
    "nested in arguments": b'{"api":"aclnnX","arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "nested in an unknown field": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "digits": b'{"api":"aclnnX","arguments":[{"kind":"scalar","value":' + b"9" * 50_000 + b"}]}",
    "no text": b"\xff\xfe\x00",
    "empty": b"",
    "no object": b"3",
    "unknown field": json.dumps({"api": "aclnnX", "arguments": [], "file": "/etc/x"}).encode(),
    "file": json.dumps({"api": "aclnnX", "arguments": [{**_TENSOR, "file": "a"}]}).encode(),
    "arguments": json.dumps({"api": "aclnnX", "arguments": [{"kind": "none"}] * 300}).encode(),
    "rank": json.dumps({"api": "aclnnX", "arguments": [{**_TENSOR, "shape": [1] * 40}]}).encode(),
    "elements": json.dumps(
        {"api": "aclnnX", "arguments": [{**_TENSOR, "shape": [1 << 39, 1 << 39]}]}
    ).encode(),
    "empty and vast": json.dumps(
        {"api": "aclnnX", "arguments": [{**_TENSOR, "shape": [0] + [1 << 40] * 3}]}
    ).encode(),
    "total": json.dumps(
        {"api": "aclnnX", "arguments": [{**_TENSOR, "shape": [1 << 29]}] * 3}
    ).encode(),
    "type": json.dumps({"api": "aclnnX", "arguments": [{**_TENSOR, "dtype": "half"}]}).encode(),
    "lists": b'{"api":"aclnnX","arguments":[{"kind":"list","items":[{"kind":"list","items":'
    b'[{"kind":"list","items":[]}]}]}]}',
    "unbuilt": b'{"api":"aclnnX","arguments":[]}',
}


def _asked(requests: int, answers: int, line: bytes) -> dict[str, str]:
    view = memoryview(line + b"\n")
    while view:
        select.select([], [requests], [])
        view = view[os.write(requests, view[: 1 << 15]) :]
    text = b""
    while not text.endswith(b"\n"):
        assert select.select([answers], [], [], 60)[0], "no reply"
        text += os.read(answers, 1 << 16)
    reply: dict[str, str] = json.loads(text)
    return reply


def test_every_line_gets_a_reply_of_one_line(tmp_path: Path) -> None:
    with SharedFolder(tmp_path) as folder, CallServer(folder, Service({})) as server:
        requests = os.open(tmp_path / "requests", os.O_RDWR | os.O_NONBLOCK)
        answers = os.open(tmp_path / "answers", os.O_RDWR | os.O_NONBLOCK)
        for what, line in _LINES.items():
            reply = _asked(requests, answers, line)
            assert reply["error"], what
            assert len(reply["error"]) <= 600, what
            assert "\n" not in reply["error"]
            assert "/" not in reply["error"], what
        os.close(requests)
        os.close(answers)
    assert server.refused is None
    assert server.calls == []


def test_a_line_without_end_ends_the_process(tmp_path: Path) -> None:
    with SharedFolder(tmp_path) as folder, CallServer(folder, Service({})) as server:
        requests = os.open(tmp_path / "requests", os.O_RDWR)
        for _ in range(MOST_LINE // 4096 + 2):
            os.write(requests, b"x" * 4096)
        assert select.select([server.until], [], [], 60)[0]
        os.close(requests)
    assert "an operator call has over" in (server.refused or "")


def test_calls_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_CALLS <= 10_000
    monkeypatch.setattr("npuforge.twin.torchbind.server.MOST_CALLS", 20)
    with SharedFolder(tmp_path) as folder, CallServer(folder, Service({})) as server:
        requests = os.open(tmp_path / "requests", os.O_RDWR)
        os.write(requests, b"{}\n" * 30)
        assert select.select([server.until], [], [], 60)[0]
        os.close(requests)
    assert server.refused == "over 20 operator calls"


def test_serving_ends_with_the_process_that_reads_nothing(tmp_path: Path) -> None:
    """Replies fill their pipe, the pipes' names are gone, requests are taken back."""
    with SharedFolder(tmp_path) as folder, CallServer(folder, Service({})) as server:
        requests = os.open(tmp_path / "requests", os.O_RDWR | os.O_NONBLOCK)
        os.unlink(tmp_path / "answers")
        os.symlink("/dev/zero", tmp_path / "answers")
        for _ in range(2000):
            try:
                os.write(requests, b"{}\n" * 20)
                os.read(requests, 30)
            except BlockingIOError:
                break
        os.close(requests)
    assert server.calls == []


def test_hammered_tensors_are_right_or_refused(tmp_path: Path) -> None:
    folder, secret = tmp_path / "folder", tmp_path / "secret"
    folder.mkdir()
    good = np.arange(1024, dtype=np.float32)
    secret.write_bytes(np.full(1024, 7.0, np.float32).tobytes())
    kept = secret.read_bytes()
    header = {**_TENSOR, "shape": [1024]}
    line = json.dumps({"api": "aclnnX", "arguments": [header]}).encode()
    outcomes = {"right": 0, "refused": 0}
    with (
        SharedFolder(folder) as shared,
        hammered(folder, secret, good.tobytes(), ["in0.bin", "out0.bin"]),
    ):
        for _ in until_each_came(outcomes):
            try:
                (given,) = read_inputs(parse_request(line), shared).values()
            except HostileFileError:
                outcomes["refused"] += 1
            else:
                assert np.array_equal(given.content.data, good)
                outcomes["right"] += 1
            try:
                shared.write("out0.bin", b"written")
            except HostileFileError:
                continue
    assert min(outcomes.values()) > 0, outcomes
    assert secret.read_bytes() == kept


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("cannot read /home/who/.ssh/id: no\nsuch file", "cannot read id: no such file"),
        ("expected s0/s1/s2", "expected s0/s1/s2"),
        ("\x1b[31mred", r"\x1b[31mred"),
    ],
)
def test_errors_name_no_folder(said: str, shown: str) -> None:
    assert plain_words(said) == shown
