# SPDX-License-Identifier: Apache-2.0
"""The list of operators: its size, its halves, its fields, and that it is guarded."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from benchmarks.operators import measure
from benchmarks.operators.module_text import module_text
from benchmarks.operators.results import Results, read, save
from benchmarks.operators.row import Operator, file_name, half_of
from benchmarks.operators.row import read as read_list
from benchmarks.operators.structure import MOST_ELEMENTS

from npuforge import dtypes

LISTED = read_list()  # every field's type is checked here


def test_there_are_enough_operators_of_enough_packages_in_both_halves() -> None:
    halves = Counter(one.half for one in LISTED)
    assert len(LISTED) >= 150
    assert min(halves["open"], halves["held back"]) >= len(LISTED) * 2 // 5
    assert len({one.package for one in LISTED}) >= 5


def test_names_are_unique_and_in_order() -> None:
    names = [one.name for one in LISTED]
    assert names == sorted(set(names))
    assert len({file_name(one) for one in LISTED}) == len(names)


def test_no_structure_is_listed_more_than_twice_or_split() -> None:
    structures: defaultdict[str, list[Operator]] = defaultdict(list)
    for one in LISTED:
        structures[one.structure].append(one)
    for family in structures.values():
        assert len(family) <= 2
        assert len({one.family for one in family}) == 1
        assert family[0].family in {one.name for one in family}
        assert {one.half for one in family} == {half_of(family[0].family)}


@pytest.mark.parametrize("operator", LISTED, ids=lambda one: one.name)
def test_a_row_is_valid_and_makes_a_module(operator: Operator) -> None:
    assert operator.version[0].isdigit()
    assert all(part.isidentifier() for part in operator.target.replace(":", ".").split("."))
    for one in operator.inputs:
        assert one.name.isidentifier()
        assert one.dtype in dtypes.names()
        assert all(extent > 0 for extent in one.shape)
    sizes = [_elements(one.shape) for one in operator.inputs]
    assert max(sizes) <= MOST_ELEMENTS
    tree = ast.parse(module_text(operator))
    defined = {one.name for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef)}
    assert defined == {"Model", "get_inputs", "get_init_inputs"}


def test_operators_held_back_are_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    held = next(one for one in LISTED if one.half == "held back")
    out = tmp_path / "results.json"
    monkeypatch.setattr(sys, "argv", ["measure", "--only", held.name, "--out", str(out)])
    assert measure.main() == 2
    said = capsys.readouterr().err
    assert "--held-back" in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_results_of_another_format_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    save(Results("910b2", format=0), path)
    with pytest.raises(ValueError, match="format 0"):
        read(path, "910b2")


def test_the_results_kept_are_of_open_operators() -> None:
    kept = read(Path(measure.__file__).with_name("results-open.json"), "910b2")
    assert {one.name for one in kept.operators} <= {
        one.name for one in LISTED if one.half == "open"
    }


def _elements(shape: list[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
