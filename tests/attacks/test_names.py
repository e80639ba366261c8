# SPDX-License-Identifier: Apache-2.0
"""Names in answers and launch files that are paths, code, options or lines of a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.twin.kernel import Kernel
from npuforge.twin.launch import AbsentArgument, output, tensor
from npuforge.twin.launch_file import load
from npuforge.twin.sources.model_answer import ModelAnswer

_KERNEL = (
    '#include "kernel_operator.h"\n'
    "template <typename T> __global__ __aicore__ void k(GM_ADDR x) {}\n"
)
_BAD = ["{outside}/x", "../../x", "a b", "a\nb", "a\0b", "", "x" * 5000, 'a"; system("id")', "é"]


def six(operator: Any) -> str:
    """Return an answer in six strings with that operator's name."""
    described = json.dumps([{"op": operator}])
    rest = "host_tiling_src host_operator_src kernel_src python_bind_src model_src".split()  # noqa: SIM905
    return f"project_json_src = {described!r}\n" + "".join(f"{name} = 'x'\n" for name in rest)


@pytest.mark.parametrize("name", [*_BAD, 7, None, ["x"]])
def test_an_operators_name_is_no_path(tmp_path: Path, name: Any) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    if isinstance(name, str):
        name = name.format(outside=outside)
    (tmp_path / "answer.py").write_text(six(name))
    with pytest.raises(UsageError) as caught:
        ModelAnswer.open(tmp_path / "answer.py")
    assert "\n" not in str(caught.value)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"sources": [{"path": "/tmp/x.py", "content": ""}]},
        {"sources": [{"path": "../x.py", "content": ""}]},
        {"sources": [{"path": "a\nb.py", "content": ""}]},
        {"sources": [{"path": ".git/config", "content": ""}]},
        {"sources": [{"path": "a.cpp", "content": "x"}, {"path": "a.cpp/b.cpp", "content": "x"}]},
        {"sources": [{"path": "model.py", "content": 7}]},
        {"sources": {}},
        {"entry": {"model": "model.py::a b"}},
        {"entry": {"model": "model.py::__import__('os')"}},
        {"entry": []},
        {"build": []},
        {"build": {"module_name": ".."}},
        {"build": {"module_name": "-fplugin=x"}},
        {"build": {"module_name": 7}},
    ],
)
def test_a_direct_answers_names_are_checked(tmp_path: Path, change: dict[str, Any]) -> None:
    document = {
        "sources": [
            {"path": "model.py", "content": ""},
            {"path": "op.cpp", "content": "PYBIND11_MODULE(ops, m) {}"},
        ],
        "entry": {"model": "model.py::ModelNew"},
    }
    (tmp_path / "answer.json").write_text(json.dumps(document))
    assert ModelAnswer.open(tmp_path / "answer.json").module == "ops"
    (tmp_path / "answer.json").write_text(json.dumps({**document, **change}))
    with pytest.raises(UsageError) as caught:
        ModelAnswer.open(tmp_path / "answer.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x\nmode run", "x 4 in -", "x:4", "x#1", "x[", "", "\u0661x"])
def test_a_tensors_name_is_no_line_of_a_plan(name: str) -> None:
    with pytest.raises(UsageError):
        AbsentArgument(name)
    with pytest.raises(UsageError):
        tensor(name, [1.0])
    with pytest.raises(UsageError):
        output(name, [1], "float32")


@pytest.mark.parametrize(
    "define",
    ["", "=1", "A B", "-fplugin=x", "@file", "A=1\n#include <x>", "NPUFORGE_MODE=1", "A" * 999],
)
def test_a_define_is_no_option(tmp_path: Path, define: str) -> None:
    source = tmp_path / "k.cpp"
    source.write_text(_KERNEL)
    with pytest.raises(UsageError):
        Kernel.build(source, entry="k<int>", defines=[define])
    (tmp_path / "l.toml").write_text(f"blocks = 1\ndefines = [{json.dumps(define)}]\n")
    with pytest.raises(UsageError):
        load(tmp_path / "l.toml")


@pytest.mark.parametrize(
    "entry",
    [
        "k<int>); void f() { system(0); } void g(",
        'k<int>\n#include "/etc/passwd"\n',
        "k<" + "int, " * 500 + "int>",
        "k<int>;",
        "../k",
    ],
)
def test_an_entry_is_no_code(tmp_path: Path, entry: str) -> None:
    source = tmp_path / "k.cpp"
    source.write_text(_KERNEL)
    with pytest.raises(UsageError, match=r"not allowed|too long"):
        Kernel.build(source, entry=entry)
    (tmp_path / "l.toml").write_text(f"blocks = 1\nentry = {json.dumps(entry)}\n")
    with pytest.raises(UsageError):
        load(tmp_path / "l.toml")


@pytest.mark.parametrize("soc", ["../../etc/passwd", "a\nb", "x" * 5000, ""])
def test_a_chips_name_is_no_path(soc: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "none.cpp", "--soc", soc]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
