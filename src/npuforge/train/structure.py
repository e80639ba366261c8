# SPDX-License-Identifier: Apache-2.0
"""What makes two operators the same work: their operations and how these hang together.

Names, extents, element types, numbers, and the order of operands where it does not matter are left
out, so that an operator and its twin (another size, another type, another constant) are one
structure. Training and evaluation are kept apart by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import cast

from npuforge.spec.graph import Argument, Extent, Graph, Node, Ref

# Change neither values nor the order of work.
_SILENT = {"_to_copy", "clone", "alias", "detach", "copy", "lift_fresh_copy"}
_EITHER_ORDER = {"add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or"}
# Arguments that are axes: which side of the tensor they mean is part of the structure.
_AXES = {
    "sum", "mean", "amax", "amin", "var", "prod", "any", "all", "argmax", "argmin", "logsumexp",
    "_softmax", "_log_softmax", "cumsum", "cumprod", "linalg_vector_norm", "var_mean", "sort",
    "topk", "cat", "flip", "index_select", "gather",
}  # fmt: skip


def structure(graph: Graph) -> str:
    """The structure in 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(lines(graph)).encode()).hexdigest()[:16]


def lines(graph: Graph) -> list[str]:
    """The structure as text: a line for each operation that counts."""
    return _Writer(graph).lines()


class _Writer:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes = {node.name: node for node in graph.nodes}
        self.numbers: dict[str, str] = {}
        self.written: list[str] = []
        self.kinds: dict[str, str] = {}

    def lines(self) -> list[str]:
        for node in self.graph.nodes:  # from the sources on, so that no recursion is deep
            self.kind(node.name)
        results = sorted(self.reference(result.name) for result in self.graph.results)
        return [*self.written, "return " + " ".join(results)]

    def reference(self, name: str) -> str:
        """The short name of a value; what it follows from is written first."""
        waiting = [name]
        while waiting:
            last = waiting[-1]
            node = self.nodes.get(last)
            below = [] if node is None or last in self.numbers else _refs(self.ordered(node))
            unknown = next((ref for ref in below if ref not in self.numbers), None)
            if unknown is not None:
                waiting.append(unknown)
                continue
            waiting.pop()
            if last not in self.numbers:
                self.numbers[last] = f"x{self._sources()}" if node is None else self.write(node)
        return self.numbers[name]

    def write(self, node: Node) -> str:
        """The short name of an operation's value; those of its arguments are known."""
        op = _short(node)
        first = node.args[0] if node.args else None
        if op in _SILENT and isinstance(first, Ref):
            return self.numbers[first.ref]
        self.written.append(f"{op} {' '.join(self.arguments(node, op))}")
        return f"v{len(self.written)}"

    def ordered(self, node: Node) -> list[Argument]:
        """Arguments by what they are where their order is none of the operation's; of what changes
        nothing, the first alone counts."""
        given = [*node.args, *node.kwargs.values()]
        op = _short(node)
        if op in _SILENT and given and isinstance(given[0], Ref):
            return given[:1]
        if op in _EITHER_ORDER:
            given.sort(key=lambda one: self.kind(one.ref) if isinstance(one, Ref) else "")
        return given

    def arguments(self, node: Node, op: str) -> Iterator[str]:
        for argument in self.ordered(node):
            yield from self.argument(argument, node, op)

    def argument(self, argument: Argument, node: Node, op: str) -> Iterator[str]:
        if isinstance(argument, Ref):
            yield self.numbers[argument.ref]
        elif isinstance(argument, list):
            for item in cast(list[Argument], argument):
                yield from self.argument(item, node, op)
        elif isinstance(argument, int) and not isinstance(argument, bool) and op in _AXES:
            yield self.axis(argument, node)
        elif isinstance(argument, int | float | Extent) and not isinstance(argument, bool):
            return
        elif isinstance(argument, str) and argument in {"none", "tanh", "amax", "sum", "mean"}:
            yield argument

    def kind(self, name: str) -> str:
        """What a value is, whichever source it comes from."""
        if name not in self.kinds:
            node = self.nodes.get(name)
            if node is None:
                self.kinds[name] = "x"
            else:
                below = [self.kind(ref) for ref in _refs([*node.args, *node.kwargs.values()])]
                op = _short(node)
                if op in _EITHER_ORDER:
                    below.sort()
                silent = op in _SILENT and len(below) == 1
                text = f"{op} {' '.join(below)}"
                self.kinds[name] = below[0] if silent else hashlib.sha256(text.encode()).hexdigest()
        return self.kinds[name]

    def axis(self, axis: int, node: Node) -> str:
        first = node.args[0]
        rank = self._rank(first.ref) if isinstance(first, Ref) else 0
        return "last" if axis in {-1, rank - 1} else "other"

    def _rank(self, name: str) -> int:
        if name in self.nodes:
            return len(self.nodes[name].type.shape)
        return next(len(s.type.shape) for s in self.graph.sources if s.name == name)

    def _sources(self) -> int:
        return sum(number.startswith("x") for number in self.numbers.values())


def _refs(arguments: list[Argument]) -> list[str]:
    found: list[str] = []
    for argument in arguments:
        if isinstance(argument, Ref):
            found.append(argument.ref)
        elif isinstance(argument, list):
            found += _refs(cast(list[Argument], argument))
    return found


def _short(node: Node) -> str:
    return node.op.removeprefix("aten.").partition(".")[0]
