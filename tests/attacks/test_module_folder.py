# SPDX-License-Identifier: Apache-2.0
"""Attacks by a module's file: it shares a folder with the parent, and sends it a graph."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attacks.hammer import hammered, until_each_came

from npuforge.errors import UsageError
from npuforge.generate.cases import choose
from npuforge.generate.reference import WORKER, References
from npuforge.sandbox.messages import decode
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import parse_tensors, read_tensors
from npuforge.spec.graph import Graph
from npuforge.spec.graph_check import check_graph, check_parameters
from npuforge.spec.session import ModuleSession

MODULE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.rand(64, 8)]

def get_init_inputs():
    return []
"""
_TYPE = {"shape": [4], "dtype": "float32", "extents": ["s0"]}
_GRAPH: dict[str, Any] = {
    "name": "relu",
    "sources": [{"name": "x", "type": _TYPE, "origin": "input", "position": 0}],
    "nodes": [
        {
            "name": "relu",
            "op": "aten.relu.default",
            "args": [{"type": "ref", "ref": "x"}],
            "kwargs": {},
            "types": [_TYPE],
        }
    ],
    "results": [{"name": "relu"}],
    "symbols": [{"name": "s0", "source": "x", "axis": 0, "example": 4, "least": 1}],
    "scalars": {},
    "eager": [],
}


def _module(folder: Path, head: str) -> Path:
    file = folder / "relu.py"
    file.write_text(head + MODULE)
    return file


def _checked(graph: Any) -> Graph:
    return check_graph(decode(json.dumps(graph).encode(), Graph, "the graph"), "relu")


def test_the_graph_that_is_changed_below_is_right() -> None:
    assert _checked(_GRAPH).nodes[0].op == "aten.relu.default"


_HOSTILE: list[tuple[str, Any]] = [
    ("sources.0.name", "x; system(0)"),
    ("sources.0.name", "../../x"),
    ("sources.0.name", "x" * 300),
    ("sources.0.name", "x\n"),
    ("sources.0.position", None),
    ("sources.0.position", -1),
    ("sources.0.position", 1 << 62),
    ("sources.0.type.shape", [4, 4]),
    ("sources.0.type.shape", [-4]),
    ("sources.0.type.shape", [1 << 60]),
    ("sources.0.type.shape", [1] * 60),
    ("sources.0.type.dtype", "float32;"),
    ("sources.0.type.dtype", "../x"),
    ("sources.0.type.extents", ["((s0 + s1 + s2 + s3)**8)**8"]),
    ("sources.0.type.extents", ["(((((((9**8)**8)**8)**8)**8)**8)**8)**8"]),
    ("sources.0.type.extents", ["s77"]),
    ("nodes.0.types", []),
    ("sources.0.type.extents", ["(" * 400 + ")" * 400]),
    ("sources.0.type.extents", ["-" * 2000 + "1"]),
    ("sources.0.type.extents", ["__import__('os').system('x')"]),
    ("nodes.0.name", "x"),
    ("nodes.0.name", 'relu"); system("x'),
    ("nodes.0.op", "aten.relu\nimport os"),
    ("nodes.0.args", [{"type": "ref", "ref": "nowhere"}]),
    ("nodes.0.args", [{"type": "ref", "ref": "a b"}]),
    ("nodes.0.args", [{"type": "extent", "text": "s0 if 1 else", "example": 1}]),
    ("nodes.0.args", [1 << 80]),
    ("nodes.0.args", ["x" * 5000]),
    ("nodes.0.args", [[[[1]]]]),
    ("nodes.0.kwargs", {"a b": 1}),
    ("results", [{"name": "nowhere"}]),
    ("results", [{"name": "relu", "mutates": "x); import os"}]),
    ("symbols.0.axis", 3),
    ("symbols.0.source", "nowhere"),
    ("symbols.0.name", "s0 s1"),
    ("scalars", {"x y": 1}),
    ("eager", [{"op": "x\ny", "inputs": [], "outputs": [], "args": []}]),
]


@pytest.mark.parametrize(("place", "value"), _HOSTILE)
def test_forged_graphs_are_refused(place: str, value: Any) -> None:
    graph = json.loads(json.dumps(_GRAPH))
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = graph
    for part in way:
        inner = inner[part]
    inner[last] = value
    begun = time.monotonic()
    with pytest.raises(HostileFileError) as caught:
        _checked(graph)
    assert len(str(caught.value)) < 700
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 500_000,
        b'{"name":' + b"[" * 500_000,
        b'{"x":' + b'{"x":' * 200_000,
        b"9" * 100_000,
        b"\xff",
        b"",
    ],
)
def test_forged_text_is_refused_in_a_line(text: bytes) -> None:
    with pytest.raises(HostileFileError) as caught:
        decode(text, Graph, "the graph")
    assert "\n" not in str(caught.value)


def test_defaults_of_arguments_are_literals() -> None:
    given = ["x", "eps=1e-05", "*args", "dtype=torch.float32", "size=(1, -2)", "mode='mean'"]
    assert check_parameters(given) == given
    assert check_parameters(["x=__import__('os').system('x')", "f=<function relu at 0x7f>"]) == [
        "x=None",
        "f=None",
    ]
    for text in ("x, y", "x): pass\nimport os", "1x", "x=1\n", "x;y", ""):
        try:
            (kept,) = check_parameters([text])
        except HostileFileError:
            continue
        assert kept == "x=None" or kept.isidentifier(), text


def test_a_graph_that_the_module_wrote_itself_is_refused(tmp_path: Path) -> None:
    forged = json.loads(json.dumps(_GRAPH))
    forged["sources"][0]["name"] = 'x"); system("echo'
    answer = {"graph": forged, "signature": {"init": [], "forward": ["x"]}}
    head = f"open('graph.json', 'w').write({json.dumps(answer)!r}); import time; time.sleep(99)\n"
    with (
        ModuleSession(_module(tmp_path, head)) as session,
        pytest.raises(UsageError, match="could not be captured"),
    ):
        assert session.graph


@pytest.mark.parametrize(
    "left",
    [
        "os.mkfifo('graph.json')",
        "os.mkdir('graph.json')",
        "os.symlink('{secret}', 'graph.json')",
        "os.truncate(os.open('graph.json', os.O_CREAT | os.O_RDWR), 1 << 33)",
        "open('graph.json', 'w').write('[' * 1000000)",
    ],
)
def test_what_is_no_graph_is_one_line(tmp_path: Path, left: str) -> None:
    """And the process that leaves it and stays alive is gone when the session is."""
    secret = tmp_path.parent / "secret.json"
    secret.write_text(json.dumps({"error": "THE SECRET"}))
    left = left.format(secret=secret)
    name = "evil" + tmp_path.name[-6:].strip("_")
    named = f"ctypes.CDLL(None).prctl(15, b'{name}')"
    head = f"import ctypes, os, time\n{named}\n{left}\ntime.sleep(900)\n"
    with ModuleSession(_module(tmp_path, head)) as session:
        with pytest.raises(UsageError, match="could not be captured") as caught:
            assert session.graph
        assert "SECRET" not in str(caught.value)
    assert name not in _names_of_processes()


def test_a_wait_ends_though_the_process_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModuleSession, "patience_s", 6.0)
    file = _module(tmp_path, "import time\ntime.sleep(900)\n")
    with (
        ModuleSession(file) as session,
        pytest.raises(UsageError, match=r"no graph\.json within 6"),
    ):
        assert session.graph


def test_answers_that_lie_are_refused(tmp_path: Path) -> None:
    """The module replaces what answers questions: tensors of other sizes, names of its own."""
    lies: list[Any] = [
        [{"file": "case0.sources0.bin", "shape": [1 << 40, 1 << 40], "dtype": "float32"}],
        [{"file": "case0.sources0.bin", "shape": [-1], "dtype": "float32"}],
        [{"file": "case0.sources0.bin", "shape": [9], "dtype": "float32"}],
        [{"file": "case0.sources0.bin", "shape": [2], "dtype": "object"}],
        [{"file": "../../secret", "shape": [2], "dtype": "float32"}],
        [{"file": "job.json", "shape": [2], "dtype": "uint8"}],
        [{"file": "case0.sources0.bin", "shape": [2, 1], "dtype": "float32"}],
        [{"file": "case0.sources0.bin", "shape": [0, 8], "dtype": "float32"}],
        [{"file": "case0.sources0.bin", "shape": [2, 1, 1], "dtype": "float32"}],
        [{"file": "case0.sources0.bin", "shape": [2], "dtype": "uint32"}],
        [{"file": "case0.sources0.bin", "shape": [3 << 28], "dtype": "float32"}],
        [],
    ]
    texts = [json.dumps({"sources": s, "results": s, "golden": [None] * len(s)}) for s in lies]
    head = f"""
import os, sys
from pathlib import Path
class Loader:
    def find_spec(self, name, path=None, target=None):
        return None
sys.meta_path.insert(0, Loader())
import types
own = types.ModuleType({WORKER!r})
def serve(captured, question, folder):
    open("case0.sources0.bin", "wb").write(bytes(8))
    for number, text in enumerate({texts!r}):
        open("spare", "w").write(text)
        os.rename("spare", f"case{{number}}.json")
own.serve = serve
sys.modules[{WORKER!r}] = own
"""
    with ModuleSession(_module(tmp_path, head), then=WORKER) as session:
        cases = choose(session.graph) * len(lies)
        references = References(session, cases[: len(lies)])
        for number, lie in enumerate(lies):
            with pytest.raises(UsageError) as caught:
                references.answer(number)
            assert len(str(caught.value)) < 700, lie


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"\x00" * 7,
        (1 << 60).to_bytes(8, "little"),
        (2).to_bytes(8, "little") + b"{}",
        (200_000).to_bytes(8, "little") + b"[" * 200_000,
    ],
)
def test_damaged_lists_of_tensors(tmp_path: Path, octets: bytes) -> None:
    (tmp_path / "x.tensors").write_bytes(octets)
    with SharedFolder(tmp_path) as folder, pytest.raises(HostileFileError):
        read_tensors(folder, "x.tensors", 1 << 20)


@pytest.mark.parametrize(
    ("shape", "dtype", "extra"),
    [
        ([1 << 20], "float32", 0),
        ([1 << 40] * 3, "uint8", 0),
        ([0] + [1 << 40] * 3, "uint8", 0),
        ([-1], "uint8", 0),
        ([1] * 40, "uint8", 0),
        ([1], "object", 0),
        ([1], "half", 0),
        ([1], "uint8", 5),
        ([1.5], "uint8", 0),
    ],
)
def test_headers_that_lie(shape: list[float], dtype: str, extra: int) -> None:
    header = json.dumps({"tensors": [{"shape": shape, "dtype": dtype}]}).encode()
    octets = bytearray(len(header).to_bytes(8, "little") + header)
    octets += bytes(-len(octets) % 64 + 1 + extra)
    with pytest.raises(HostileFileError):
        parse_tensors(np.frombuffer(bytes(octets), np.uint8), "x")


def test_hammered_messages_are_right_or_refused(tmp_path: Path) -> None:
    folder, secret = tmp_path / "folder", tmp_path / "secret"
    folder.mkdir()
    secret.write_text(json.dumps({**_GRAPH, "name": "SECRET"}))
    kept = secret.read_bytes()
    good = json.dumps(_GRAPH).encode()
    outcomes = {"right": 0, "refused": 0}
    with (
        SharedFolder(folder) as shared,
        hammered(folder, secret, good, ["graph.json", "question.json", "proof0"]),
    ):
        for number in until_each_came(outcomes):
            try:
                text = shared.wait("graph.json", 1 << 20, seconds=30, ended=lambda: False)
                assert decode(text, Graph, "the graph").name == "relu"
                outcomes["right"] += 1
            except HostileFileError:
                outcomes["refused"] += 1
            try:
                shared.write("question.json", b"{}")
            except HostileFileError:
                continue
            try:
                shared.subfolder(f"proof{number % 3}")
            except HostileFileError:
                continue
    assert min(outcomes.values()) > 0, outcomes
    assert secret.read_bytes() == kept


def _names_of_processes() -> set[str]:
    names = set()
    for entry in Path("/proc").iterdir():
        try:
            names.add((entry / "comm").read_text().strip())
        except OSError:
            continue
    return names
