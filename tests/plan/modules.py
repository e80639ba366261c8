# SPDX-License-Identifier: Apache-2.0
"""Modules planned as a whole and run on the twin against PyTorch, at several shapes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import torch

from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan.plan import Plan
from npuforge.plan.planner import plan
from npuforge.spec import capture_worker
from npuforge.spec.graph import Graph

Inputs = Sequence[Any]
_TOLERANCES = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def module_of(function: Callable[..., Any]) -> type[torch.nn.Module]:
    """A function as a class of modules."""

    def forward(self: torch.nn.Module, *args: Any) -> Any:  # noqa: ARG001
        return function(*args)

    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = inspect.signature(function)
    signature = own.replace(parameters=[first, *own.parameters.values()])
    forward.__signature__ = signature  # type: ignore[attr-defined]  # export reads it
    return type("Model", (torch.nn.Module,), {"forward": forward})


def captured(model: type[torch.nn.Module], inputs: Inputs) -> Graph:
    """The graph of a module that this test wrote, captured in this process."""
    module = types.SimpleNamespace(Model=model, get_inputs=lambda: inputs)
    found = capture_worker.described(capture_worker.capture(module), "probe", [])
    return msgspec.convert(found["graph"], Graph)


def agree(
    what: type[torch.nn.Module] | Callable[..., Any], *cases: Inputs, loose: float = 1.0
) -> Plan:
    """The program planned for the first case computes what PyTorch does, for all of them."""
    factory = what if isinstance(what, type) else module_of(what)
    torch.manual_seed(0)
    graph = captured(factory, cases[0])
    planned = plan(graph, most=1)
    twin = TwinProgram(lower(planned.variants[0].program))
    assert twin.build.ok, (twin.build.diagnostics[:3], planned.variants[0].program)
    for inputs in cases:
        torch.manual_seed(0)
        _agree_once(factory(), graph, planned, twin, inputs, loose)
    return planned


def _agree_once(
    model: torch.nn.Module,
    graph: Graph,
    planned: Plan,
    twin: TwinProgram,
    inputs: Inputs,
    loose: float,
) -> None:
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    values: dict[str, torch.Tensor] = {}
    for source in graph.sources:
        held = inputs[source.position] if source.position is not None else None
        if held is None:
            assert source.target is not None
            held = state[source.target]
        values[source.name] = held.detach().clone()
    found = twin.launch(
        {o.name: values[o.source].contiguous() for o in planned.operands if o.source}, mode="check"
    )
    assert found.error is None, found.error
    errors = [finding for finding in found.findings if finding.severity == "error"]
    assert not errors, (errors[:2], planned.variants[0].program)
    assert not found.races, (found.races[:1], planned.variants[0].program)
    copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    with torch.no_grad():
        results = model(*copies)
    expected = [results] if isinstance(results, torch.Tensor) else list(results)
    after = {
        **state,
        **{s.name: copies[s.position] for s in graph.sources if s.position is not None},
    }
    outputs = [result for result in graph.results if result.mutates is None]
    for operand in planned.operands:
        if operand.result is None:
            continue
        result = graph.results[operand.result]
        want = after[result.mutates] if result.mutates else expected[outputs.index(result)]
        got = torch.as_tensor(found.tensors[operand.name].values().copy()).reshape(want.shape)
        tolerance = _TOLERANCES.get(want.dtype, 0.0) * loose
        torch.testing.assert_close(
            got.to(torch.float64),
            want.to(torch.float64),
            rtol=tolerance,
            atol=tolerance,
            equal_nan=True,
            msg=lambda text: f"{operand.name}: {text}\n{planned.variants[0].program}",  # noqa: B023
        )
