# SPDX-License-Identifier: Apache-2.0
"""A part of a question in as few axes as it needs.

Axes that lie beside one another in every tensor, and that no operation tells apart, are one axis to
a kernel, which sees memory. Axes of one element are none. What was asked in four axes is then asked
in rows and columns, as most of what a model has seen.
"""

from __future__ import annotations

from dataclasses import replace

from npuforge.generate.lm.parts.axes import Axes, Rewriting, UnfitError
from npuforge.generate.lm.parts.axis_arguments import ARGUMENTS, as_they_are
from npuforge.generate.lm.parts.axis_operations import LOOKS, SLICE
from npuforge.generate.lm.parts.axis_rules import RULES, each
from npuforge.generate.lm.parts.grouped import sizes_of
from npuforge.generate.lm.question.kinds import kind_of
from npuforge.spec.graph import Graph, Node


def in_few_axes(part: Graph) -> Graph:
    """The part as it is where an operation has axes of which nothing is known here."""
    axes = Axes({source.name: source.type for source in part.sources})
    for source in part.sources:
        axes.places[source.name] = [axes.new() for _ in source.type.shape]
    axes.alone |= _counted_in(part, axes)
    for node in part.nodes:
        if not _added(axes, node):
            return part
    if axes.meet_themselves():
        return part
    axes.merge()
    try:
        return _rewritten(part, axes)
    except UnfitError:
        return part


def _counted_in(part: Graph, axes: Axes) -> set[int]:
    """The axes of tensors that are not read for which a number stands: they are there for it."""
    read = {name for node in part.nodes for name in node.reads()}
    said = {name for node in part.nodes for size in sizes_of(node) for name in size.names}
    return {
        place
        for source in part.sources
        if source.name not in read
        for place, size in zip(axes.places[source.name], source.type.sizes, strict=True)
        if size.names & said
    }


def _added(axes: Axes, node: Node) -> bool:
    """Whether it is known where the axes of a node lie."""
    if not node.types or node.types[0] is None:
        return False
    rule = RULES.get(node.op.removeprefix("aten."))
    if rule is None:
        if kind_of(node, axes.types) != "elements":
            return False
        rule = each
    found = rule(axes, node)
    if found is None or len(found) != len(node.type.shape):
        return False
    axes.types[node.name] = node.type
    axes.places[node.name] = found
    return True


def _rewritten(part: Graph, axes: Axes) -> Graph:
    how = Rewriting(axes, axes.kept())
    results = {result.name for result in part.results}
    nodes: list[Node] = []
    names: dict[str, str] = {}
    for node in part.nodes:
        types = [how.type(node.name, kind) if kind is not None else None for kind in node.types]
        word = node.op.removeprefix("aten.")
        args = ARGUMENTS.get(word, as_they_are)(how, node)
        if word in LOOKS and how.order(next(node.reads())) == how.order(node.name):
            if node.name not in results:
                read = next(node.reads())
                names[node.name] = names.get(read, read)
                continue
            node, args = replace(node, op="aten.clone.default", kwargs={}), node.args[:1]
        new = replace(node, args=args, types=types)
        if word == SLICE and len(how.order(node.name)) < len(how.order(next(node.reads()))):
            new = _element(new)
        nodes.append(new.reading(names))
    sources = [replace(one, type=how.type(one.name, one.type)) for one in part.sources]
    return replace(part, sources=sources, nodes=nodes)


def _element(node: Node) -> Node:
    """A part of one element, which has no axis then."""
    start = node.args[2] if len(node.args) > 2 else 0
    return replace(node, op="aten.select.int", args=[*node.args[:2], start])
