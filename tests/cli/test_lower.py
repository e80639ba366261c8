# SPDX-License-Identifier: Apache-2.0
"""`npuforge lower`: formats, forms after passes, findings, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npuforge.cli import main
from npuforge.cli.lower import FORMAT_NAMES, PASS_NAMES
from npuforge.lower.formats import FORMATS
from npuforge.lower.passes import PASSES

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile"
SOFTMAX = str(EXAMPLES / "softmax.py")
LAYER_NORM = str(EXAMPLES / "layer_norm.py")

BAD = """\
import tile.language as tl

@ascend_kernel
def twice_kernel(x, y, n):
    tile = tl.alloc_ub(64, dtype=tl.float32)
    with tl.copyin():
        tl.load(x, tile)
    with tl.compute():
        tl.mul(tile, tile, unknown)
        tl.no_such_operation(tile)
    with tl.copyout():
        tl.store(y, tile)

def twice_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    twice_kernel[1](x, y, x.numel())
"""


def test_the_names_on_the_command_line_are_the_compilers_own() -> None:
    assert tuple(FORMATS) == FORMAT_NAMES
    assert tuple(PASSES) == PASS_NAMES


def test_prints_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lower", SOFTMAX]) == 0
    text = capsys.readouterr().out
    assert text.startswith('#include "kernel_operator.h"\n')
    assert 'extern "C" __global__ __aicore__ void softmax(' in text


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("parse", ["def softmax_kernel(", "tl.reduce_max("]),
        ("types", ["tile_in: buffer float32 (tile_rows, cols)", "n.0 = min(", "peak[0 : +n]"]),
        ("check", ["softmax_kernel: ", " buffers, ", "1 stores: no finding"]),
        ("fuse", ["kernel softmax_kernel on n_cores cores", "tile_out["]),
        ("buffers", ["tile_in          in         2", "start of copyin: alloc tile_in"]),
        ("placement", ["512 * k + 256", "total "]),
        ("host", ["struct Plan {", "const char* MakePlan(const Extents& xShape, Plan& plan)"]),
        ("compute", ["class SoftmaxKernel {", "__aicore__ inline void CopyIn("]),
    ],
)
def test_prints_the_form_after_a_pass(
    after: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lower", SOFTMAX, "--after", after]) == 0
    text = capsys.readouterr().out
    for word in words:
        assert word in text


@pytest.mark.parametrize("form", [name for name in FORMAT_NAMES if name != "npukb-kernel"])
def test_writes_a_folder(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lower", SOFTMAX, "--format", form, "--out", str(tmp_path / "to")]) == 0
    listed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert listed
    assert all(path.is_file() for path in listed)
    there = {path for path in (tmp_path / "to").rglob("*") if path.is_file()}
    assert there == {*listed, tmp_path / "to" / ".npuforge.json"}
    for path in listed:
        if path.suffix == ".sh":
            assert path.stat().st_mode & 0o100


def test_static_shapes_become_constants(capsys: pytest.CaptureFixture[str]) -> None:
    static = ["--static", "x=64x200 gamma=200 beta=200 eps=0.5"]
    assert main(["lower", LAYER_NORM, "--format", "npukb-kernel", *static]) == 0
    text = capsys.readouterr().out
    assert "static constexpr int64_t cols = 200;" in text
    assert "static constexpr float eps = 0.5f;" in text
    assert "GET_TILING_DATA" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--static", "z=3"], "no input or attribute 'z'"),
        (["--static", "x=3xy"], "'x=3xy' is not NAME=128x1024"),
        (["--static", "x=-3x4"], "not negative"),
        (["--static", "x=3x4x5"], "dimensions"),
        (["--static", ""], "the shape of input 'x' is missing"),
        (["--format", "npukb-kernel"], "give the shapes with --static"),
        (["--soc", "no-such-chip"], "no-such-chip"),
        (["--after", "nothing"], "--after"),
    ],
)
def test_bad_calls_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lower", SOFTMAX, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_unreadable_files_are_status_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lower", str(tmp_path / "none.py")]) == 2
    assert main(["lower", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("cannot read") == 2
    assert main(["lower", SOFTMAX, "--out", SOFTMAX]) == 2
    assert "is no folder" in capsys.readouterr().err


def test_all_findings_one_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "twice.py"
    path.write_text(BAD)
    assert main(["lower", str(path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{path}:9:")
    assert lines[1].startswith(f"{path}:10:")
    assert all("[TL-" in line and line.endswith(")") for line in lines)


def test_findings_on_a_terminal_show_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    path = tmp_path / "twice.py"
    path.write_text(BAD)
    assert main(["lower", str(path)]) == 1
    shown = capsys.readouterr().err
    assert "\x1b[" in shown
    assert "tl.mul(tile, tile, unknown)" in shown
    assert "^^^" in shown


def test_findings_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "twice.py"
    path.write_text(BAD)
    assert main(["lower", str(path), "--json", "-"]) == 1
    captured = capsys.readouterr()
    verdict = json.loads(captured.out)
    assert captured.err == ""
    assert verdict["compiled"] is False
    assert [(v["line"], v["severity"]) for v in verdict["violations"]] == [
        (9, "error"),
        (10, "error"),
    ]
    assert all(v["rule"].startswith("TL-") and v["fix"] for v in verdict["violations"])


def test_json_of_a_good_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "verdict.json"
    assert main(["lower", SOFTMAX, "--json", str(out)]) == 0
    assert json.loads(out.read_text())["compiled"] is True
    assert "SoftmaxKernel" in capsys.readouterr().out
