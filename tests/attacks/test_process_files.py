# SPDX-License-Identifier: Apache-2.0
"""Attacks by files that a kernel's, a program's, a reference's or an answer's process leaves."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attacks.hammer import hammered, until_each_came

import npuforge
from npuforge.bench.modules.checks import Check
from npuforge.bench.modules.protocol import ModuleProtocol, Tolerance
from npuforge.bench.modules.reference import compute
from npuforge.dtypes import HostTensor, find
from npuforge.errors import UsageError
from npuforge.sandbox import Limits
from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.twin import session_result
from npuforge.twin.execute import RunResult, execute, keep_trace
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import Launch, TensorArgument, output
from npuforge.twin.reference import by_expression, by_function
from npuforge.twin.torchbind import conduct

_KERNEL = """
#include "kernel_operator.h"
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
static void left(const char* name, const char* text)
{{
    unlink(name);
    FILE* file = fopen(name, "w");
    fputs(text, file);
    fclose(file);
}}
extern "C" __global__ __aicore__ void hostile(GM_ADDR y)
{{
    AscendC::GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t*)y, 4);
    out.SetValue(0, 7);
    {body}
    _exit(0);
}}
"""
_RESULT: dict[str, Any] = {"error": "", "launches": [], "findings": []}


def _run(body: str) -> RunResult:
    build = Kernel.build(_KERNEL.format(body=body))
    assert build.ok, build.log
    launch = Launch(1, [output("y", (4,), "int32")])
    return execute(build, launch, mode="run", limits=Limits(wall_s=20))


@pytest.mark.parametrize(
    "body",
    [
        'unlink("0.bin"); mkfifo("0.bin", 0600); left("result.json", RESULT);',
        'unlink("0.bin"); symlink("SECRET", "0.bin"); left("result.json", RESULT);',
        'truncate("0.bin", 1LL << 33); left("result.json", RESULT);',
        'truncate("0.bin", 3); left("result.json", RESULT);',
        'unlink("result.json"); symlink("SECRET", "result.json");',
        'unlink("result.json"); mkfifo("result.json", 0600);',
        'unlink("result.json"); mkdir("result.json", 0700);',
        'FILE* f = fopen("result.json", "w"); for (int i = 0; i < 300000; ++i) fputc(91, f);'
        " fclose(f);",
    ],
)
def test_a_kernel_that_leaves_something_else(tmp_path: Path, body: str) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(json.dumps({**_RESULT, "error": "SECRET"}).encode()[:16])
    result = json.dumps(json.dumps(_RESULT))
    done = _run(body.replace("RESULT", result).replace('"SECRET"', f'"{secret}"'))
    assert done.error is not None
    assert "SECRET" not in done.error
    assert "0.bin" not in body or "y" not in done.outputs


def _timing(**fields: Any) -> dict[str, Any]:
    core: dict[str, Any] = {"cube": False, "start_us": 0.0, "end_us": 1.0, "sync_us": 0.0}
    core |= {"read_bytes": 0, "written_bytes": 0, "pipes": {}}
    names = ["gm_read", "gm_write", "l2_read_hit", "hbm_read", "hbm_write"]
    names += ["footprint_read", "footprint_write"]
    whole: dict[str, Any] = {f"{name}_bytes": 0 for name in names}
    whole |= {"kernel": "k", "block_num": 1, "clock_mhz": 1800, "stall": None, "total_us": 1.0}
    return whole | {"launch_us": 0.1, "skew_us": 0.0, "cores": [core]} | fields


def _launch(**fields: Any) -> dict[str, Any]:
    plain = {"name": "k", "blocks": 1, "error": "", "value_read": False, "stream_hash": "1"}
    return {**_RESULT, "launches": [{**plain, **fields}]}


def _finding(**fields: Any) -> dict[str, Any]:
    return {**_RESULT, "findings": [{"rule": "MEM-01", "message": "m", **fields}]}


def test_the_result_that_is_changed_below_is_right(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(_launch(timing=_timing())))
    with SharedFolder(tmp_path) as folder:
        loaded = session_result.load(folder)
    assert loaded is not None
    assert loaded.launches[0].summary is not None


@pytest.mark.parametrize(
    "result",
    [
        _launch(timing=_timing(cores=[])),
        _launch(timing=_timing(total_us=-1)),
        _launch(timing=_timing(total_us=1e300)),
        _launch(timing=_timing(clock_mhz=0)),
        _launch(timing=_timing(block_num=1 << 90)),
        _launch(timing=_timing(gm_read_bytes="many")),
        _launch(timing=_timing(cores=[{"pipes": {"V": {}}}])),
        _launch(timing=_timing(kernel="k" * 100_000)),
        _launch(timing={}),
        _launch(name="n" * 100_000),
        _launch(more=1),
        _finding(count=-1),
        _finding(message="m" * 100_000),
        _finding(site=[{"address": 1 << 70, "object": "./kernel.so"}]),
        _finding(site=[{"address": 1, "object": "./kernel.so"}] * 1000),
        {**_RESULT, "findings": _finding()["findings"] * 2000},
    ],
)
def test_results_that_lie_are_no_results(tmp_path: Path, result: dict[str, Any]) -> None:
    (tmp_path / "result.json").write_text(json.dumps(result))
    with SharedFolder(tmp_path) as folder:
        assert session_result.load(folder) is None


def test_texts_of_findings_are_lines_fit_for_a_terminal(tmp_path: Path) -> None:
    shown = _finding(rule="MEM-01\x1b[2J", message="a\nb\x1b]0;title\x07" + "c" * 5000)
    (tmp_path / "result.json").write_text(json.dumps(shown))
    with SharedFolder(tmp_path) as folder:
        loaded = session_result.load(folder)
    assert loaded is not None
    for text in (loaded.findings[0].rule, loaded.findings[0].message):
        assert text.isprintable()
        assert len(text) < 1100


@pytest.mark.parametrize("kind", ["sparse", "pipe", "link", "folder"])
def test_a_timeline_that_is_none(kind: str, tmp_path: Path) -> None:
    run, kept = tmp_path / "run", tmp_path / "trace.json"
    run.mkdir()
    if kind == "sparse":
        with (run / "trace.json").open("wb") as file:
            file.truncate(1 << 42)
    elif kind == "pipe":
        os.mkfifo(run / "trace.json")
    elif kind == "link":
        (run / "trace.json").symlink_to("/dev/zero")
    else:
        (run / "trace.json").mkdir()
    with SharedFolder(run) as shared:
        keep_trace(shared, kept)
    assert not kept.exists()


def test_a_hammered_run_folder(tmp_path: Path) -> None:
    folder, secret, kept = tmp_path / "run", tmp_path / "secret", tmp_path / "trace.json"
    folder.mkdir()
    good = json.dumps(_RESULT).encode()
    secret.write_bytes(json.dumps({**_RESULT, "error": "SECRET"}).encode())
    outcomes = {"right": 0, "refused": 0}
    names = ["result.json", "trace.json"]
    with SharedFolder(folder) as shared, hammered(folder, secret, good, names):
        for _ in until_each_came(outcomes):
            loaded = session_result.load(shared)
            outcomes["refused" if loaded is None else "right"] += 1
            assert loaded is None or loaded.error == ""
            keep_trace(shared, kept)
            assert not kept.exists() or kept.read_bytes() in (good, b"")
    assert min(outcomes.values()) > 0, outcomes


_REFERENCE = """
import os, sys, time
import numpy as np

def expected(x):
    {body}
    os._exit(0)
"""


def test_an_expression_that_leaves_no_array() -> None:
    """The expression writes the list of outputs itself, and ends its process."""
    listing = b'{"tensors": []}'
    content = len(listing).to_bytes(8, "little") + listing
    write = f"__import__('os').write(__import__('os').open('outputs.tensors', 65), {content!r})"
    expression = f"({write}, __import__('os')._exit(0))"
    wanted = [TensorArgument("y", (4,), find("float32"), "out")]
    with pytest.raises(UsageError, match="0 arrays for 1 outputs"):
        by_expression({"y": expression}, [("x", HostTensor.of(np.zeros(4, np.float32)))], wanted)


@pytest.mark.parametrize(
    "body",
    [
        "os.mkfifo('outputs.tensors')",
        "os.symlink('SECRET', 'outputs.tensors')",
        "open('outputs.tensors', 'wb').write(bytes(8))",
        "os.truncate(os.open('outputs.tensors', os.O_CREAT | os.O_RDWR), 6 << 20)",
        "np.save('outputs.tensors', np.array([{}], object), allow_pickle=True)",
    ],
)
def test_a_reference_that_leaves_something_else(tmp_path: Path, body: str) -> None:
    secret = tmp_path.parent / "secret.tensors"
    secret.write_bytes(b"SECRET")
    file = tmp_path / "reference.py"
    file.write_text(_REFERENCE.format(body=body.replace("SECRET", str(secret))))
    wanted = [TensorArgument("y", (4,), find("float32"), "out")]
    inputs = [("x", HostTensor.of(np.zeros(4, np.float32)))]
    with pytest.raises(UsageError, match="the reference left no outputs") as caught:
        by_function(file, "expected", inputs, wanted)
    assert "SECRET" not in str(caught.value)


_TASK = """
import json, os, sys, time
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        {body}
        return x

def get_inputs():
    return [torch.rand(4)]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    "body",
    [
        "os.mkfifo('checks.json'); os._exit(0)",
        "open('checks.json', 'w').write('[' * 100000); os._exit(0)",
        "open('checks.json', 'w').write(json.dumps([{'file': 1 << 40}])); os._exit(0)",
        "open('checks.json', 'w').write('[]'); os._exit(0)",
        "open('checks.json', 'w').write(json.dumps([{'file': 0}])); os._exit(0)",
        "open('checks.json', 'w').write(json.dumps([{'file': 0}]));"
        " os.mkfifo('outputs0.tensors'); os.mkfifo('golden0.tensors'); os._exit(0)",
    ],
)
def test_a_task_that_leaves_something_else(tmp_path: Path, body: str) -> None:
    file = tmp_path / "task.py"
    file.write_text(_TASK.format(body=body))
    protocol = ModuleProtocol(
        trials=1, seed=1, seeding="stream", tolerances={"paper": {"default": Tolerance(1, 1)}}
    )
    place = tmp_path / "place"
    place.mkdir()
    checks = [Check("trial", "published")]
    with SharedFolder(place) as folder, pytest.raises(UsageError, match="does not run"):
        compute(file, checks, None, protocol, folder).outputs(0)


def test_a_record_is_read_once(tmp_path: Path) -> None:
    """Outputs are compared from the bytes that the seal vouches for; a link is none of them."""
    (tmp_path / "record.json").write_text(json.dumps({"body": "[" * 100_000, "seal": "0" * 64}))
    with SharedFolder(tmp_path) as folder:
        assert conduct.read(folder, b"k", 100).forged == "the record is not the worker's"
        (tmp_path / "record.json").write_text('{"body": "\\ud800", "seal": ""}')
        assert conduct.read(folder, b"k", 100).forged == "the record is not the worker's"
        (tmp_path / "record.json").unlink()
        (tmp_path / "record.json").symlink_to("/etc/hostname")
        assert conduct.read(folder, b"k", 100).forged == "the record is not the worker's"


_READS = {"read_bytes", "read_text", "write_bytes", "write_text", "tofile", "symlink_to", "mkfifo"}
_READS |= {"fromfile", "memmap", "copyfile", "copytree", "exists", "glob"}
_LIBRARIES = {"np.load", "np.save", "torch.load", "torch.save", "shutil.copy"}
# Its own library, a source the user named: never a file below the folder.
_ALLOWED = {
    ("twin/host/runner.py", "library.read_bytes"),
    ("twin/reference.py", "np.save"),  # into memory
    ("bench/suites/npukernelbench/judged.py", ".read_text"),
    ("bench/suites/npukernelbench/judged.py", "file.write_text"),
}
# Owned by others: what they do with sources is checked by their own tests.
_SOURCES = {
    "sandbox/sandbox.py", "twin/sources/direct.py", "twin/symbolize.py", "twin/toolchain.py",
}  # fmt: skip


def _modules() -> list[Path]:
    root = Path(npuforge.__file__).parent
    return [path for path in sorted(root.rglob("*.py")) if "cpp" not in path.parts]


def _starts_a_process(tree: ast.AST) -> bool:
    """It calls `run(..., scratch=...)` or `run_job`, or is a `FolderProcess`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            shares = any(keyword.arg in ("scratch", "writable") for keyword in node.keywords)
            if shares and getattr(node.func, "attr", "") == "run":
                return True
            if getattr(node.func, "id", "") == "run_job":
                return True
        elif isinstance(node, ast.ClassDef) and "FolderProcess" in map(ast.unparse, node.bases):
            return True
    return False


def _file_calls(tree: ast.AST) -> list[str]:
    """Calls that open, read or write a file by its path."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        last = called.rpartition(".")[2]
        opens = last == "open" and not called[:1].isupper()  # Class.open is a constructor
        if opens or last in _READS or called in _LIBRARIES:
            found.append(called)
    return found


def test_folders_of_processes_are_read_through_one_module() -> None:
    """Whoever starts a process in the sandbox touches files through `SharedFolder` alone."""
    root = Path(npuforge.__file__).parent
    starters = []
    for path in _modules():
        name = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        if name in _SOURCES or not _starts_a_process(tree):
            continue
        starters.append(name)
        text = path.read_text("utf-8")
        calls = _file_calls(tree)
        shared = any(word in text for word in ("SharedFolder", "FolderProcess", "self.folder"))
        assert shared or not calls, name
        for call in calls:
            known = any(name == where and call.endswith(what) for where, what in _ALLOWED)
            assert known or call.startswith(("self.folder.", "folder.", "shared.")), (name, call)
    assert len(starters) >= 8, starters


def test_nobody_unpickles_what_a_process_left() -> None:
    """`torch.load` and `numpy.load` of tensors stay inside the sandbox."""
    root = Path(npuforge.__file__).parent
    inside = {"twin/torchbind/worker.py", "twin/reference_worker.py"}
    own = ("train/", "generate/lm/", "knowledge/")  # files of the user's own
    for path in _modules():
        name = path.relative_to(root).as_posix()
        if name in inside or name.startswith(own):
            continue
        calls = _file_calls(ast.parse(path.read_text("utf-8")))
        assert "torch.load" not in calls, name
