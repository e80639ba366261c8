# SPDX-License-Identifier: Apache-2.0
"""The table of rules: which function expands which ATen operation.

A rule is called with the node and the operation's arguments: tensors as `Value`, extents as `Size`,
the rest plain. It returns the value of the result, or a tuple of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npuforge.plan.plan import PlanError
from npuforge.plan.values import Value
from npuforge.spec.graph import Node

Rule = Callable[..., Value | tuple[Value | None, ...]]

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule under names such as `aten.add.Tensor`."""

    def register(function: Rule) -> Rule:
        for name in names:
            if name in RULES:
                raise ValueError(f"two rules for {name}")
            RULES[name] = function
        return function

    return register


def refuse(node: Node, reason: str) -> PlanError:
    """The error to raise for a node that cannot be planned."""
    return PlanError(f"{node.name} = {node.op}: {reason}")


def plain(node: Node, value: Any, what: str) -> Any:
    """An argument that must be known when planning."""
    if isinstance(value, Value):
        raise refuse(node, f"{what} must be a number, not a tensor")
    return value
