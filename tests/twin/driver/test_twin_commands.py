# SPDX-License-Identifier: Apache-2.0
"""`npuforge run | check | profile` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npuforge.cli import main
from npuforge.verdict import Verdict


def test_check_is_ok_and_short(kernels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(kernels / "add.cpp"), "--launch", str(kernels / "add.toml")]) == 0
    said = capsys.readouterr().out
    assert "correct add" in said
    assert "ok add" in said
    assert len(said.splitlines()) < 10


def test_json_on_standard_output_is_all_there_is(
    kernels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["check", str(kernels / "add.cpp"), "--launch", str(kernels / "add.toml"), "--json", "-"]
    assert main(call) == 0
    verdict = Verdict.from_json(capsys.readouterr().out)
    assert verdict.compiled
    assert verdict.correct
    assert verdict.cases[0].shapes == [[8, 4096], [8, 4096]]
    assert verdict.cases[0].max_abs == 0
    assert verdict.time_us is None


def test_wrong_result_is_status_1_with_a_pattern(
    kernels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = tmp_path / "add.toml"
    launch.write_text((kernels / "add.toml").read_text().replace("x + y", "(x + y) / 2"))
    out = tmp_path / "verdict.json"
    call = ["run", str(kernels / "add.cpp"), "--launch", str(launch), "--json", str(out)]
    assert main(call) == 1
    assert "2 times what is wanted" in capsys.readouterr().out
    message = Verdict.from_json(out.read_text()).cases[0].message
    assert message is not None
    assert message.startswith("z: ")


def test_profile_shows_pipes_and_writes_the_trace(
    kernels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, out = tmp_path / "trace.json", tmp_path / "verdict.json"
    call = ["profile", str(kernels / "add.cpp"), "--launch", str(kernels / "add.toml")]
    assert main([*call, "--trace", str(trace), "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "MTE2" in said
    assert "-bound" in said
    assert json.loads(trace.read_text())["traceEvents"]
    verdict = Verdict.from_json(out.read_text())
    assert verdict.time_us is not None
    assert verdict.pipes is not None
    assert verdict.pipes["V"] > 0


def test_violation_shows_its_line(
    kernels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "add.cpp"
    text = (kernels / "add.cpp").read_text().replace("            xs_.FreeTensor(a);\n", "")
    source.write_text(text)
    assert main(["check", str(source), "--launch", str(kernels / "add.toml")]) == 1
    said = capsys.readouterr().out
    assert "fix:" in said
    assert "^^^^" in said


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["run", "nothing.cpp"], "no such file or folder: nothing.cpp"),
        (["run", "{kernels}/add.cpp"], "needs --launch FILE"),
        (["run", "{kernels}/add.toml"], "sources end in .cpp"),
        (["check", "{kernels}/add.cpp", "--soc", "310p"], "unknown chip '310p'"),
        (
            ["run", "{kernels}/add.cpp", "--launch", "no.toml"],
            "cannot read no.toml",
        ),
        (["run", "{kernels}/direct_add.cpp", "--launch", "x"], "has its own main"),
        (
            ["run", "{kernels}/add.cpp", "--launch", "{kernels}/add.toml", "--entry", "sub"],
            "add.cpp has no __global__ function 'sub'; it has add",
        ),
    ],
)
def test_bad_calls_are_one_line_and_status_2(
    kernels: Path, capsys: pytest.CaptureFixture[str], call: list[str], message: str
) -> None:
    assert main([word.format(kernels=kernels) for word in call]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1
