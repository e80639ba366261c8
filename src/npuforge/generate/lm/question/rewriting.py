# SPDX-License-Identifier: Apache-2.0
"""A graph that is written anew, operation by operation: values may become others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import cast

from npuforge.spec.graph import Argument, Extent, Node, Ref, TensorType
from npuforge.spec.size import Size

RANGE = "aten.arange.start_step"
_LOOKS = ("aten.unsqueeze.default", "aten.squeeze.dims", "aten.view.default")
REMAINDERS = ("aten.remainder.Scalar", "aten.fmod.Scalar")


@dataclass
class Rewriting:
    """What was written so far, and what is known of it."""

    types: dict[str, TensorType]
    items: Collection[tuple[str, int]] = ()  # which results are read of what has many
    nodes: list[Node] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # of values that are others
    several: dict[str, list[str]] = field(default_factory=dict)  # values of what has many
    _ranges: dict[str, Node] = field(default_factory=dict)
    _constants: dict[str, Argument] = field(default_factory=dict)
    _looks: dict[str, Argument] = field(default_factory=dict)
    _rolls: dict[str, tuple[int | Extent, Node]] = field(default_factory=dict)

    def put(self, node: Node) -> str:
        """A node as it is."""
        self.nodes.append(node)
        if node.types and node.types[0] is not None:
            self.types[node.name] = node.types[0]
        if node.op == RANGE:
            self._ranges[node.name] = node
        if node.op in _LOOKS:
            self._looks[node.name] = node.args[0]
        if node.op == "aten.full.default":
            self._constants[node.name] = node.args[1]
        return node.name

    def compute(
        self, name: str, op: str, args: list[Argument], kind: TensorType, **named: Argument
    ) -> Ref:
        return Ref(self.put(Node(name, f"aten.{op}", args, dict(named), [kind])))

    def kind(self, argument: Argument) -> TensorType:
        return self.types[cast(Ref, argument).ref]

    def see_roll(self, node: Node) -> None:
        """A range from nothing, moved by a number, and what is left of it by its length."""
        given = node.args[0] if node.args else None
        before = given.ref if isinstance(given, Ref) else ""
        number = node.args[1] if len(node.args) > 1 else None
        counted = self._ranges.get(before)
        if node.op == "aten.add.Tensor" and counted is not None and counted.args[0] == 0:
            if isinstance(number, int | Extent) and [*counted.args, 1][2] == 1:
                self._rolls[node.name] = number, counted
        elif node.op in REMAINDERS and before in self._rolls:
            by, counted = self._rolls[before]
            if _size(number) == counted.type.sizes[0] and _is_within(by, number):
                self._rolls[node.name] = by, node

    def roll_of(self, argument: Argument) -> int | Extent | None:
        """By how much a range is turned."""
        found = self._rolls.get(argument.ref) if isinstance(argument, Ref) else None
        return found[0] if found is not None and found[1].op in REMAINDERS else None

    def constant(self, argument: Argument) -> Argument:
        """What all elements are, where that is known; a number is what it is."""
        return self._constants.get(argument.ref) if isinstance(argument, Ref) else argument

    def looked_at(self, argument: Argument) -> Argument:
        """What has the same elements one after the other, before anyone looked at it otherwise."""
        while isinstance(argument, Ref) and argument.ref in self._looks:
            argument = self._looks[argument.ref]
        return argument

    def range_of(self, argument: Argument) -> Node | None:
        return self._ranges.get(argument.ref) if isinstance(argument, Ref) else None


def number(text: str, example: int) -> Argument:
    known = Size.parse(text).known
    return known if known is not None else Extent(text, example)


def _size(argument: Argument) -> Size | None:
    if isinstance(argument, Extent):
        return argument.size
    return Size.of(argument) if isinstance(argument, int) else None


def _is_within(by: int | Extent, number: Argument) -> bool:
    """Whether a number lies between nothing and another: it is a remainder by it, or known."""
    if isinstance(by, Extent):
        within = isinstance(number, Extent) and by.text.endswith(f" % ({number.text}))")
        return within and by.example > 0
    return isinstance(number, int) and 0 < by < number


def lengths(kind: TensorType) -> Argument:
    """A shape as operations are given it."""
    found = (number(*one) for one in zip(kind.extents, kind.shape, strict=True))
    return cast(Argument, list(found))
