# SPDX-License-Identifier: Apache-2.0
"""The module that stands in for the reference: made and called alike, with the operator inside."""

from __future__ import annotations

import re

from npuforge.lower.formats.model import ModelShape
from npuforge.plan import Plan
from npuforge.spec.graph import Graph, Source
from npuforge.spec.session import Signature
from npuforge.tile.ir import Host

_OWNER = "reference"


def model_shape(
    host: Host, plan: Plan, graph: Graph, signature: Signature, reference: str
) -> ModelShape:
    """How `ModelNew` takes the place of `Model`.

    What the module owns is made by the reference's own class, so that names, order and initial
    values are the same; its forward is not used.
    """
    names = [_name(argument) for argument in signature.forward]
    sources = {source.name: source for source in graph.sources}
    inputs: dict[str, str] = {}
    owned = False
    for operand in plan.operands:
        if operand.source is not None:
            source = sources[operand.source]
            inputs[operand.name] = _expression(source, names)
            owned |= source.position is None
    made = ", ".join(_passed(argument) for argument in signature.init)
    return ModelShape(
        init=tuple(signature.init),
        parameters=((_OWNER, f"Model({made})"),) if owned else (),
        forward=tuple(signature.forward),
        inputs=inputs,
        returns=_returns(host, plan, graph),
        definitions=reference if owned else "",
    )


def _expression(source: Source, names: list[str]) -> str:
    if source.position is not None:
        return names[source.position] if source.position < len(names) else source.name
    return f"self.{_OWNER}.{source.target}"


def _name(argument: str) -> str:
    """`eps=1e-05` is called `eps`, `*args` is `args`."""
    found = re.match(r"\**(\w+)", argument)
    return found.group(1) if found else argument


def _passed(argument: str) -> str:
    """How an argument of `__init__` is handed on."""
    stars = argument[: len(argument) - len(argument.lstrip("*"))]
    return f"{stars}{_name(argument)}"


def _returns(host: Host, plan: Plan, graph: Graph) -> tuple[int, ...] | None:
    """Places among the operator's outputs of what `forward` returns; None for all in order."""
    by_result = {operand.result: operand.name for operand in plan.operands}
    outputs = [tensor.name for tensor in host.outputs]
    wanted = [
        outputs.index(by_result[number])
        for number, result in enumerate(graph.results)
        if result.mutates is None and by_result.get(number) in outputs
    ]
    return None if wanted == list(range(len(outputs))) else tuple(wanted)
