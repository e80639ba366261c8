# SPDX-License-Identifier: Apache-2.0
"""A tiny suite of our own in CANN Bench's layout, from the checkout to the score."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import torch

from npuforge.bench.attempt import Attempt
from npuforge.bench.settings import Settings
from npuforge.bench.suites.cannbench import checkout, inputs, open_suite, protocol, rows
from npuforge.bench.suites.cannbench.suite import totals
from npuforge.bench.suites.cannbench.times import anchor
from npuforge.bench.tables.smaller import elements
from npuforge.errors import UsageError
from npuforge.verdict import Verdict

PROTO = """
operator:
  name: ScaledAdd
  category: Elementwise
  inputs: [{name: x, dtype: [float16]}, {name: y, dtype: [float16]}]
  outputs: [{name: z, dtype: [float16]}]
  precision_thresholds: {float16: 0.002}
  schema: scaled_add(Tensor x, Tensor y, float alpha) -> Tensor z
"""
CASES = """
cases:
- {operator: ScaledAdd, case_id: 1, input_shape: [[8, 96], [8, 96]], dtype: [float16],
   attrs: {alpha: 0.5}, value_range: [[-1, 1], [-2, 2]]}
- {operator: ScaledAdd, case_id: 2, input_shape: [[64, 33], [64, 33]], dtype: [float16],
   attrs: {alpha: 0.5}, value_range: [-.inf, .inf]}
"""
GOLDEN = """
import torch

def scaled_add(x: torch.Tensor, y: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
    wide = x.double() + alpha * y.to(torch.float64)
    return wide.to(x.dtype)
"""
TIMES = {"level1": {"scaled_add": {"1": {"baseline_perf_us": 9.0, "t_hw_us": 1.0}}}}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "suite" / "tasks" / "level1" / "scaled_add"
    folder.mkdir(parents=True)
    for name, text in (("proto.yaml", PROTO), ("cases.yaml", CASES), ("golden.py", GOLDEN)):
        (folder / name).write_text(text)
    metadata = folder.parents[1] / "metadata"
    metadata.mkdir()
    (metadata / "910b2.json").write_text(json.dumps(TIMES))
    return tmp_path / "suite"


def test_the_planner_and_then_its_answer(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = protocol.load()
    here = protocol.Here(judged_elements=10_000, checked_elements=2_000, tuned=1)
    changed = msgspec.structs.replace(numbers, here=here)
    monkeypatch.setattr(protocol, "load", lambda: changed)
    settings = Settings(suite="cannbench", path=str(place))
    suite = open_suite(settings)
    (task,) = suite.tasks()
    assert (task.name, task.category, task.level) == ("level1/scaled_add", "elementwise", 1)

    planned = suite.attempt(task, 0, tmp_path)
    assert (planned.state, planned.published, planned.strict) == ("judged", True, True)
    assert planned.scores["accuracy"] == 1.0
    assert planned.scores["cases_scaled"] == 1.0  # the second case
    first, second = planned.verdict.cases
    assert "baseline 9.00 us (published)" in (first.message or "")
    assert "bound" not in (second.message or "")
    assert second.shapes == [[64, 33], [64, 33]]
    assert planned.scores["hap"] is not None
    # 20 for both cases running, 30 for both being right, 50 * HAP / 2 for the one with a bound.
    assert planned.scores["score"] == pytest.approx(50 + 25 * planned.scores["hap"])

    (tmp_path / "given").mkdir()
    (tmp_path / "answer" / "program0").rename(tmp_path / "given" / "scaled_add")
    given = open_suite(msgspec.structs.replace(settings, answers=str(tmp_path / "given")))
    answered = given.attempt(task, 0, tmp_path / "none")
    assert (answered.state, answered.published, answered.strict) == ("judged", True, True)
    assert answered.scores["score"] == pytest.approx(planned.scores["score"], rel=0.05)
    assert given.attempt(task, 1, tmp_path / "none").state == "missing"


def test_a_row_too_long_for_the_first_program_gets_one_of_its_own(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A smaller case stands in for it, which the first program does take."""
    folder = place / "tasks" / "level1" / "scaled_add"
    shares = GOLDEN.replace(
        "    return wide.to(x.dtype)",
        """
    return (wide / (wide.abs().amax(-1, keepdim=True) + 1.0)).to(x.dtype)""",
    )
    (folder / "golden.py").write_text(shares)
    long = CASES.replace("[[64, 33], [64, 33]]", "[[4, 100000], [4, 100000]]")
    (folder / "cases.yaml").write_text(long.replace("[-.inf, .inf]", "[-1, 1]"))
    changed = msgspec.structs.replace(
        protocol.load(),
        here=protocol.Here(judged_elements=10_000, checked_elements=2_000, tuned=1),
    )
    monkeypatch.setattr(protocol, "load", lambda: changed)
    suite = open_suite(Settings(suite="cannbench", path=str(place)))
    planned = suite.attempt(suite.tasks()[0], 0, tmp_path)
    assert (planned.state, planned.published, planned.strict) == ("judged", True, True)
    assert planned.scores["cases_scaled"] == 1.0
    assert {path.name for path in (tmp_path / "answer").iterdir()} == {"program0", "program1"}


def test_an_answer_in_half_precision_scores_nothing(place: Path, tmp_path: Path) -> None:
    """Written for a reference that rounds to half precision, judged where it does not."""
    folder = place / "tasks" / "level1" / "scaled_add"
    for file in (folder / "proto.yaml", folder / "cases.yaml"):
        file.write_text(file.read_text().replace("float16", "float32"))
    golden = GOLDEN.replace("wide.to(x.dtype)", "wide.float()")
    rounded = golden.replace("wide.float()", "wide.half().float()")
    (folder / "golden.py").write_text(rounded)
    settings = Settings(suite="cannbench", path=str(place), cases=1)
    suite = open_suite(settings)
    (task,) = suite.tasks()
    assert suite.attempt(task, 0, tmp_path).passed
    (folder / "golden.py").write_text(golden)
    (tmp_path / "given").mkdir()
    (tmp_path / "answer" / "program0").rename(tmp_path / "given" / "scaled_add")
    given = open_suite(msgspec.structs.replace(settings, answers=str(tmp_path / "given")))
    answered = given.attempt(task, 0, tmp_path / "none")
    assert (answered.published, answered.passed) == (True, False)
    assert [found.kind for found in answered.cheats] == ["precision"]
    assert answered.scores["score"] == 0.0


def test_what_cannot_be_judged_says_so(place: Path, tmp_path: Path) -> None:
    folder = place / "tasks" / "level1" / "scaled_add"
    (folder / "golden.py").write_text(GOLDEN.replace("alpha * y", "missing * y"))
    suite = open_suite(Settings(suite="cannbench", path=str(place)))
    broken = suite.attempt(suite.tasks()[0], 0, tmp_path)
    assert broken.state in ("unusable", "unplanned")
    assert "missing" in (broken.reason or "")
    assert broken.scores["score"] == 0.0
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "build.sh").write_text("exit 1\n")
    given = open_suite(Settings(suite="cannbench", path=str(place), answers=str(submission)))
    with pytest.raises(UsageError, match="needs the vendor"):
        given.attempt(suite.tasks()[0], 0, tmp_path)


def test_a_folder_that_is_no_checkout(tmp_path: Path) -> None:
    suite = open_suite(Settings(suite="cannbench", path=str(tmp_path)))
    with pytest.raises(UsageError, match="no checkout of CANN Bench"):
        suite.tasks()
    with pytest.raises(UsageError, match="one set of shapes"):
        open_suite(Settings(suite="cannbench", path=str(tmp_path), shapes="v0"))
    with pytest.raises(UsageError, match="no answers of its own"):
        open_suite(Settings(suite="cannbench", path=str(tmp_path), answers="reference"))


def test_inputs_follow_the_published_rules() -> None:
    operator = checkout.Operator("level1/exp", "Exp", "", 1, "exp", ["x"], [], {})
    assert operator.seed(1) == 895033750  # sha256("level1/exp_1"), its first eight bytes
    made = inputs.make([[4, 25], None, [[3], [5]]], ["float16", None, "int32"], [[-2, 2]], 7)
    again = inputs.make([[4, 25], None, [[3], [5]]], ["float16", None, "int32"], [[-2, 2]], 7)
    drawn = torch.rand(4, 25, dtype=torch.float64, generator=torch.Generator().manual_seed(7))
    assert torch.equal(made[0], (drawn * 4 - 2).to(torch.float16))
    assert made[1] is None
    assert [t.dtype for t in made[2]] == [torch.int32] * 2
    # A plain pair is no range for the members of a list: they take the type's default.
    assert int(made[2][1].max()) > 2
    assert all(torch.equal(a, b) for a, b in zip(made[2], again[2], strict=True))
    (endless,) = inputs.make([[100]], ["float32"], [float("-inf"), float("inf")], 1)
    assert endless[:5].eq(-torch.inf).all()
    assert endless[-5:].eq(torch.inf).all()
    assert endless[5:-5].isfinite().all()
    (missing,) = inputs.make([[1000]], ["float32"], [float("nan"), float("nan")], 1)
    assert 400 < int(missing.isnan().sum()) < 600


def test_large_cases_are_scaled_down_together() -> None:
    given = {"shapes": [[1000, 64], [1000], None], "ranges": [[-1, 1], [0, 999], None]}
    options = rows.scaled(given, 10_000)
    assert options
    for option in options:
        (row_count, row_size), (indices,), absent = option["shapes"]
        assert row_count == indices
        assert absent is None
        assert option["ranges"][1] == [0, row_count - 1]
        assert elements(option["shapes"]) <= 10_000
        assert row_size <= 64
    assert rows.scaled(given, 100_000) == []


def test_a_baseline_that_was_cut_off_is_found_again() -> None:
    operator = checkout.Operator("level1/mish", "Mish", "", 1, "mish", ["x"], [], {})
    case = checkout.Case(1, [[1024, 1024]], ["float16"], [-1, 1], {})
    cut = anchor(operator, case, checkout.Times(10.9, 1.09), "910b2")
    assert (cut.baseline_us, cut.source, cut.cut_us) == (13.8, "measured", 10.9)
    whole = anchor(operator, case, checkout.Times(8.0, 1.09), "910b2")
    assert (whole.baseline_us, whole.source) == (8.0, "published")
    other = checkout.Case(1, [[3, 5]], ["float16"], [-1, 1], {})
    nobody = anchor(operator, other, checkout.Times(None, 2.0), "910b2")
    assert (nobody.baseline_us, nobody.source) == (20.0, "proxy")


def test_one_operator_that_does_not_compile_zeroes_a_submission() -> None:
    good = Attempt("a", 0, "judged", Verdict("a", level=1, compiled=True), scores={"score": 80.0})
    bad = Attempt("b", 0, "judged", Verdict("b", level=2, compiled=False), scores={"score": 0.0})
    found = {score.name: score for score in totals([good, bad])}
    assert found["total"].value == 80.0
    assert found["total"].of == 200.0
    assert found["level 1"].value == 80.0
    assert found["total as one submission"].value == 0.0
    assert {s.name: s.value for s in totals([good])}["total as one submission"] == 80.0
