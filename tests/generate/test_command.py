# SPDX-License-Identifier: Apache-2.0
"""`npuforge generate` as it is typed, with the planner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.generate.description import module_text
from npuforge.verdict import Verdict

DESCRIPTION = """
name = "ScaledRelu"
formula = "torch.relu(x) * scale + bias"

[inputs]
x = { shape = [24, 200], dtype = "float32" }
bias = { shape = [200] }
scale = 0.5
"""


def test_a_description_becomes_a_proven_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scaled.toml"
    file.write_text(DESCRIPTION)
    out = tmp_path / "op"
    assert main(["generate", str(file), "--out", str(out), "--json", "-", "--format", "npukb"]) == 0
    said = capsys.readouterr()
    verdict = Verdict.from_json(said.out)
    assert json.loads(said.out)["strategy"] == "planner"
    assert verdict.name == "scaled_relu"
    assert verdict.correct is True
    assert verdict.cases[0].shapes == [[24, 200], [200]]
    assert verdict.baseline_us is not None
    assert "capture" in said.err
    assert "correct" in said.err
    names = {path.name for path in out.iterdir()}
    assert names >= {"op", "scaled_relu.tile.py", "verdict.json", "report.html", "trace.json"}
    assert any((out / "op").rglob("*.cpp"))


def test_what_cannot_be_planned_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hard.toml"
    file.write_text(
        'name = "hard"\nformula = "torch.linalg.svd(x).S"\n[inputs]\nx = { shape = [24, 24] }\n'
    )
    out = tmp_path / "op"
    assert main(["generate", str(file), "--out", str(out), "--quiet"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("npuforge: ")
    assert "svd" in said.err
    assert said.err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name = 3", "no operator description"),
        ('name = "a"\nformula = "x"\n[inputs]\nx = { shape = [2], dtype = "odd" }', "dtype"),
        ('name = "a"\nformula = "x"\n[inputs]\n"a b" = 1.0', "no name"),
        ('name = "a"\nformula = "x"\nextra = 1\n[inputs]\n', "extra"),
    ],
)
def test_bad_descriptions_are_named(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=reason):
        module_text(file)


def test_formulas_of_several_lines(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(
        'name = "two"\nformula = """\n  y = x * 2\n  return y, y.sum()\n"""\n'
        '[inputs]\nx = { shape = [4], dtype = "int32", below = 9 }\n'
        'm = { shape = [4], dtype = "bool" }\n'
    )
    name, text = module_text(file)
    assert name == "two"
    scope: dict[str, object] = {}
    exec(text, scope)
    values = scope["get_inputs"]()  # type: ignore[operator]
    doubled, total = scope["Model"]()(*values)  # type: ignore[operator]
    assert doubled.sum() == total == 2 * values[0].sum()


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", str(tmp_path / "absent.py"), "--out", str(tmp_path / "o")]) == 2
    assert "no such file" in capsys.readouterr().err
