# SPDX-License-Identifier: Apache-2.0
"""Whole generations with plans by hand: the wrong variant is caught, the right one is written."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from tests.generate.modules import EXAMPLES, NORM, norm_plan

from npuforge.errors import UsageError
from npuforge.generate import generate
from npuforge.generate.events import CandidateTimed, CaseDone, Event, StageDone
from npuforge.plan import Operand, Plan, PlanError, Variant
from npuforge.spec.graph import Graph
from npuforge.verdict import Verdict


def test_the_fastest_variant_that_is_right_wins(tmp_path: Path) -> None:
    file = tmp_path / "norm.py"
    file.write_text(NORM)
    out = tmp_path / "made" / "norm_op"
    events: list[Event] = []
    outcome = generate(file, strategy=norm_plan, form="mkb", out=out, observer=events.append)
    states = {candidate.variant.title: candidate.state for candidate in outcome.candidates}
    assert states == {"forgetful": "wrong", "whole rows": "chosen", "broken": "failed"}
    assert "other values" in outcome.candidates[0].note  # the case with perturbed parameters
    verdict = outcome.verdict
    assert verdict.ok
    assert verdict.correct is True
    assert len(verdict.cases) >= 6
    assert verdict.cases[0].shapes == [[40, 96]]
    assert verdict.time_us is not None
    assert verdict.roofline is not None
    assert verdict.strategy == "norm_plan"
    assert outcome.trace.startswith(b"{") or outcome.trace.startswith(b"[")

    assert Verdict.from_json((out / "verdict.json").read_bytes()) == verdict
    assert (out / "layer_norm.tile.py").read_text() == outcome.program
    assert (out / "trace.json").stat().st_size > 0
    answer = (out / "op" / "layer_norm.py").read_text()
    strings = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(answer).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    model = strings["model_src"]
    ast.parse(model)
    assert "self.reference = Model(features)" in model
    assert "self.reference.norm.weight" in model
    assert [path.name for path in out.parent.iterdir()] == ["norm_op"]

    assert {e.name for e in events if isinstance(e, StageDone)} >= {"capture", "plan", "prove"}
    assert sum(isinstance(e, CandidateTimed) for e in events) == 3
    assert sum(isinstance(e, CaseDone) for e in events) == 2 * len(verdict.cases)


def test_a_live_module_and_a_plan_without_a_right_variant(tmp_path: Path) -> None:
    def only_wrong(graph: Graph, soc: str) -> Plan:
        plan = norm_plan(graph, soc)
        sources = [source.name for source in graph.sources]
        weight = next(name for name in sources if "weight" in name)
        bias = next(name for name in sources if "bias" in name)
        x = next(s.name for s in graph.sources if s.origin == "input")
        named = dict(zip(("x", "gamma", "beta"), (x, weight, bias), strict=True))
        operands = tuple(
            type(o)(o.name, o.role, named.get(o.name), o.result) for o in plan.operands
        )
        return Plan(plan.name, plan.variants[:1], operands)

    out = tmp_path / "op"
    outcome = generate(torch.nn.LayerNorm(32), [torch.randn(6, 32)], strategy=only_wrong, out=out)
    assert outcome.verdict.exit_status == 1
    assert outcome.verdict.correct is False
    assert (out / "verdict.json").is_file()
    assert outcome.candidates[0].state == "wrong"


def test_sizes_that_the_host_function_refuses_are_listed() -> None:
    def whole_rows(graph: Graph, soc: str) -> Plan:  # noqa: ARG001
        variant = Variant("rows", (EXAMPLES / "softmax.py").read_text(), "rows of 8192 at most")
        given = Operand("x", "input", graph.sources[0].name)
        return Plan("softmax", (variant,), (given, Operand("y", "output", result=0)))

    outcome = generate(torch.nn.Softmax(-1), [torch.randn(3, 9000)], strategy=whole_rows)
    verdict = outcome.verdict
    assert verdict.exit_status == 1
    refused = [case for case in verdict.cases if "not supported" in (case.message or "")]
    assert refused[0] == verdict.cases[0]
    assert verdict.cases[0].correct is False
    assert all(case.correct is None for case in refused[2:])
    assert any(case.correct for case in verdict.cases)
    assert verdict.time_us is None

    fine = generate(torch.nn.Softmax(-1), [torch.randn(3, 900)], strategy=whole_rows)
    assert fine.verdict.ok


def test_programs_that_do_not_compile_are_a_negative_verdict(tmp_path: Path) -> None:
    def broken(graph: Graph, soc: str) -> Plan:
        plan = norm_plan(graph, soc)
        return Plan(plan.name, plan.variants[2:], plan.operands)

    file = tmp_path / "norm.py"
    file.write_text(NORM)
    outcome = generate(file, strategy=broken, out=tmp_path / "op")
    assert outcome.verdict.compiled is False
    assert "copyaway" in outcome.verdict.diagnostics[0].message
    assert outcome.verdict.exit_status == 1


def test_what_cannot_be_planned_leaves_nothing(tmp_path: Path) -> None:
    def refuses(graph: Graph, soc: str) -> Plan:  # noqa: ARG001
        raise PlanError(f"{graph.nodes[0].op}: no rule")

    out = tmp_path / "op"
    with pytest.raises(PlanError, match=r"aten\.mul.*no rule"):
        generate(lambda x: x * 2, [torch.randn(6)], strategy=refuses, out=out)
    assert not out.exists()


def test_a_folder_with_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="no earlier result"):
        generate(lambda x: x * 2, [torch.randn(6)], strategy=norm_plan, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
