# SPDX-License-Identifier: Apache-2.0
"""From a captured graph to tile programs: which values are stored, and how each is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from npuforge.lower.compiler import CAPACITY, Lowered, lower
from npuforge.lower.names import clashes_with_c
from npuforge.plan.arith import is_float
from npuforge.plan.expand import expand
from npuforge.plan.folds import Parts, can_pass_twice, folded, parallel_pieces, state_count
from npuforge.plan.itemcode import SteppedError
from npuforge.plan.launch import Demand, KernelName, Launch, Program
from npuforge.plan.levels import Level, merged, substitute
from npuforge.plan.nest import Access, Axis, Item, Nest, needed, nest_of
from npuforge.plan.operands import Root, by_shape, host_parameters, identifier, source_names
from npuforge.plan.plan import Operand, Plan, PlanError, Variant
from npuforge.plan.reads import all_tensors, in_step, loads, read_tensors, reductions
from npuforge.plan.room import Fit, fit_of
from npuforge.plan.special import Job, writer_of
from npuforge.plan.split import in_groups, largest_piece, stored_parts, too_many
from npuforge.plan.tiles import Choice, TileShape, tiled
from npuforge.plan.values import (
    ONE,
    Load,
    Reduce,
    Special,
    Tensor,
    Value,
    is_whole,
    label,
    load,
    stored,
)
from npuforge.plan.ways import NARROW, WAYS
from npuforge.spec.graph import Graph
from npuforge.spec.size import Size
from npuforge.tile import chip_constants
from npuforge.tile.source import TileError


@dataclass
class Planner:
    """Puts one program together."""

    program: Program
    choice: Choice
    cores: int
    example: Mapping[str, int]
    produced: Sequence[Tensor]  # temporaries that results of special operations go to
    _done: set[int] = field(default_factory=set)  # ids of tensors and specials computed
    _kernels: int = 0

    def compute(self, roots: Sequence[Root]) -> None:
        """Compute values of one shape into their tensors."""
        roots = [root for root in roots if not self.written_directly(*root)]
        if not roots:
            return
        try:
            self._compute(roots)
        except SteppedError as stepped:
            values = [value for value, _ in roots]
            found = _apart(values, stepped.tensor)
            if not found or _among(values, found):
                raise
            self.hold(found, roots)

    def _compute(self, roots: Sequence[Root]) -> None:
        for value, _ in roots:
            self.prepare(value)
        probe = nest_of(roots, self.example, explicit=False)
        self.demand(probe)
        if too_many(probe) and self.in_pieces(roots, probe):
            return
        sets = {frozenset(item.folds) for item in probe.items if item.kind == "fold"}
        if not sets:
            nest = nest_of(roots, self.example, explicit=True)
            nest.merge_axes()
            turned = _turned_under_masks(nest)
            if turned:
                self.hold(turned, roots)
            else:
                self.stream(nest)
            return
        if len(sets) == 1 and (self.within_tiles(roots) or self.in_two_loops(roots)):
            return
        values = [value for value, _ in roots]
        for inner in sorted(sets, key=lambda folds: _depth(probe, folds)):
            level = Level(probe, inner)
            found = level.frontier(values)
            if found and not _among(values, found):
                break  # else the same would be computed for ever
        else:
            found = level.inside(values) or _narrower(roots)
            if not found and len(sets) > 1:
                raise PlanError("folds over several axes that do not come apart")
            if not found:
                self.fold(roots)
                return
        self.hold(found, roots)

    def in_pieces(self, roots: Sequence[Root], nest: Nest) -> bool:
        """Several kernels where one cannot hold all tensors at once."""
        known = stored_parts([value for value, _ in roots])
        if known:
            swaps = {part: load(tensor) for part, tensor in known.items()}
            for whole in swaps.values():
                self.prepare(whole)
            self.compute([(substitute(value, swaps), out) for value, out in roots])
            return True
        groups = in_groups(roots, nest)
        if len(groups) > 1:
            for group in groups:
                self.compute(group)
            return True
        piece = largest_piece(roots[0][0], nest)
        if piece is None or any(piece is value for value, _ in roots):
            return False
        self.hold([piece], roots)
        return True

    def hold(self, found: Sequence[Value], roots: Sequence[Root]) -> None:
        """Store these values, then compute the roots from what is stored."""
        swaps: dict[int, Value] = {}
        held: list[Root] = []
        for value in found:
            dtype = "float32" if is_float(value.dtype) else value.dtype
            tensor = Tensor("", value.shape, dtype)
            self.name_temporary(tensor)
            held.append((value, tensor))
            swaps[id(value)] = load(tensor)
        for group in by_shape(held):
            self.compute(group)
        self.compute([(substitute(value, swaps), out) for value, out in roots])

    def demand(self, nest: Nest) -> None:
        """What the nest takes for granted: the host function refuses anything else."""
        demands = [
            Demand(left, "==", right, "tensors that meet are of one size")
            for left, right in nest.assumed
        ]
        for axis in sorted(nest.folded):
            if not nest.sizes[axis].is_positive:
                why = "an axis that is folded has elements"
                demands.append(Demand(nest.sizes[axis], ">=", ONE, why))
        known = self.program.demands
        known += [demand for demand in demands if demand not in known]

    def update(self, updates: Sequence[Root]) -> None:
        """Tensors changed in place, after everything that reads their old values."""
        changed = {id(tensor) for _, tensor in updates}
        copies: list[Root] = []
        for value, tensor in updates:
            direct = {id(read.memory) for read in read_tensors(value)}
            behind = {id(read) for read in all_tensors(value)} - direct
            others = (direct | behind) & changed - {id(tensor)}
            if not others and id(tensor) not in behind and in_step(value, tensor):
                copies.append((value, tensor))
                continue
            held = stored(value)
            self.prepare(load(held))
            copies.append((load(held), tensor))
        for group in by_shape(copies):
            self.compute(group)

    def written_directly(self, value: Value, out: Tensor) -> bool:
        """A temporary as it is, under whatever shape: the output takes its place."""
        if not isinstance(value, Load) or not is_whole(value) or value.dtype != out.dtype:
            return False
        if all(out is not parameter.tensor for parameter in self.program.parameters):
            return False
        memory = value.tensor.memory
        if memory.producer is None or id(memory) in self._done or memory.given:
            return False
        memory.given = out.given
        self.prepare(value)
        return True

    def within_tiles(self, roots: Sequence[Root]) -> bool:
        """Fold inside tiles, where what is folded fits one."""
        nest = nest_of(roots, self.example, explicit=True)
        nest.merge_axes()
        axes = nest.order()
        (folds,) = {frozenset(item.folds) for item in nest.items if item.kind == "fold"}
        if len(folds) != 1:
            return False
        (axis,) = folds
        kept = 1
        for other in axes:
            kept *= nest.extent(other) if other != axis else 1
        extent = nest.extent(axis)
        if extent * kept > 65536 and kept * 2 < self.cores:
            return False  # too few lines for the cores: better cut into parts
        streams = sum(item.kind == "load" and axis in item.axes for item in nest.items)
        streams += sum(axis in store.access.strides for store in nest.stores)
        each = 8 * streams + 4 * (streams > 1) + 4
        places = any(item.op in ("argmax", "argmin") for item in nest.items)
        if axis == axes[-1]:
            if extent * each > self.choice.room or (places and len(axes) == 1):
                return False
            shape: TileShape = "rows" if len(axes) > 1 else "line"
        elif len(axes) > 1 and axis == axes[-2] and extent * each * 64 <= self.choice.room:
            if places:
                return False
            if any(_masked(item) and axis in item.axes for item in nest.items):
                return False  # a mask of two dimensions has whole rows only
            again = any(axis in store.access.strides for store in nest.stores)
            if nest.sizes[axis].known is None and not again and extent > _FEW:
                return False  # a plain reduction takes any number of rows the other way
            shape = "columns"
        else:
            return False
        self.add(tiled(nest, shape, self.fresh(), WAYS[shape], self.choice))
        return True

    def in_two_loops(self, roots: Sequence[Root]) -> bool:
        """Fold a line and go over it again, where every core has lines of its own."""
        nest = nest_of(roots, self.example, explicit=False)
        nest.merge_axes()
        if not any(set(store.access.strides) & nest.folded for store in nest.stores):
            return False
        room = self.choice.room
        if not can_pass_twice(nest, room) or _parts(parallel_pieces(nest, room), self.cores) > 1:
            return False
        self.add(folded(nest, self.fresh(), WAYS["twice"], self.choice, None))
        return True

    def fold(self, roots: Sequence[Root]) -> None:
        """Fold more than a tile holds: in one launch, or in parts that a second one merges."""
        nest = nest_of(roots, self.example, explicit=False)
        nest.merge_axes()
        pieces = parallel_pieces(nest, self.choice.room)
        work = 1
        for axis in nest.sizes:
            work *= nest.extent(axis)
        parts = 1 if work < 32768 else _parts(pieces, self.cores)
        if parts == 1:
            self.add(folded(nest, self.fresh(), WAYS["fold"], self.choice, None))
        else:
            self.fold_in_parts(roots, parts)

    def fold_in_parts(self, roots: Sequence[Root], count: int) -> None:
        reduces: list[Reduce] = []
        for value, _ in roots:
            reduces += [item for item in reductions(value) if item not in reduces]
        swaps: dict[int, Value] = {}
        of_shape: dict[tuple[object, ...], list[Reduce]] = {}
        for item in reduces:
            of_shape.setdefault(item.shape, []).append(item)
        for group in of_shape.values():
            self._parts_of(group, count, swaps)
        self.compute([(substitute(value, swaps), out) for value, out in roots])

    def _parts_of(self, group: list[Reduce], count: int, swaps: dict[int, Value]) -> None:
        """One launch for the states of these folds; how to merge them goes to `swaps`."""
        marks = [Tensor("", item.shape, "float32") for item in group]
        nest = nest_of(list(zip(group, marks, strict=True)), self.example, explicit=False)
        nest.merge_axes()
        kept: dict[int, list[Tensor]] = {}
        order = [item for item in nest.items if item.kind == "fold"]
        for item in order:
            shape = group[0].shape
            tensors = []
            for _ in range(state_count(item.op)):
                tensor = Tensor("", (Size.of(count), *shape), "float32")
                self.name_temporary(tensor)
                tensors.append(tensor)
            kept[id(item)] = tensors
        parts = Parts(count, [kept[id(item)] for item in order])
        self.add(folded(nest, self.fresh(), WAYS["parts"], self.choice, parts))
        for reduce, store in zip(group, nest.stores, strict=True):
            swaps[id(reduce)] = whole = merged(reduce, kept[id(store.item)])
            label(whole, reduce.label)

    def prepare(self, value: Value) -> None:
        """Compute the temporaries that a value reads."""
        for tensor in read_tensors(value):
            memory = tensor.memory
            if id(memory) in self._done or memory.producer is None:
                continue
            self._done.add(id(memory))
            if isinstance(memory.producer, Special):
                self.special(memory.producer)
            else:
                if not memory.given:
                    self.name_temporary(memory)
                self.compute([(memory.producer, memory)])

    def name_temporary(self, tensor: Tensor) -> None:
        tensor.given = f"w{len(self.program.workspaces)}"
        self.program.workspaces.append(tensor)

    def stream(self, nest: Nest) -> None:
        """Every element once."""
        axes = nest.order()
        rows = len(axes) >= 2 and nest.extent(axes[-1]) * NARROW <= self.choice.room
        shape: TileShape = "rows" if rows else "flat"
        if any(_turned(access, axes) for access in nest.accesses):
            shape = "turned"
        if any(_backwards(access, axes) or _stepped(access, axes) for access in nest.accesses):
            shape = "flat"
        self.add(tiled(nest, shape, self.fresh(), WAYS[shape], self.choice))

    def special(self, special: Special) -> None:
        """An operation with a kernel of its own: its arguments first, then its launches."""
        args = [stored(arg) for arg in special.args]
        for arg in args:
            self.prepare(load(arg))
        outs = []
        for tensor in self.outputs_of(special):
            self._done.add(id(tensor))
            if not tensor.given:
                self.name_temporary(tensor)
            outs.append(tensor)
        job = Job(special, args, outs, self.fresh().name, self.example, self.workspace)
        for launch in writer_of(special)(job):
            self.add(launch)

    def outputs_of(self, special: Special) -> list[Tensor]:
        """The tensors of all results; what nobody reads is written to a temporary all the same."""
        found = {tensor.index: tensor for tensor in self.produced if tensor.producer is special}
        for index, (shape, dtype) in enumerate(zip(special.shapes, special.dtypes, strict=True)):
            if index not in found:
                found[index] = Tensor("", shape, dtype, special, index)
        return [found[index] for index in sorted(found)]

    def workspace(self, shape: Sequence[Size | int], dtype: str) -> Tensor:
        tensor = Tensor("", tuple(map(Size.of, shape)), dtype)
        self.name_temporary(tensor)
        return tensor

    def fresh(self) -> KernelName:
        """The next kernel's name."""
        self._kernels += 1
        suffix = "" if self._kernels == 1 else f"_{self._kernels}"
        return KernelName(f"{self.program.name}{suffix}", f"k{self._kernels}")

    def add(self, launch: Launch) -> None:
        self.program.launches.append(launch)


_LEAST_ROOM = 8 * 1024  # bytes: what does not fit with less than that does not fit


def _turned(access: Access, axes: Sequence[Axis]) -> bool:
    """Whether neighbours in memory are rows of the nest."""
    one = Size.of(1)
    return (
        len(axes) > 1
        and access.strides.get(axes[-1]) not in (one, None)
        and (access.strides.get(axes[-2]) == one)
    )


def _stepped(access: Access, axes: Sequence[Axis]) -> bool:
    """Whether no axis of a tile has neighbours in memory."""
    steps = [access.strides.get(axis) for axis in axes[-2:]]
    return bool(steps) and steps[-1] is not None and ONE not in steps


def _turned_under_masks(nest: Nest) -> list[Value]:
    """What lies turned in memory beside masks: a mask of two dimensions has whole rows only, which
    a turned tile has not, so it is laid straight first."""
    axes = nest.order()
    masked = any(item.kind == "map" and _masked(item) for item in nest.items)
    if not masked or any(_backwards(access, axes) for access in nest.accesses):
        return []
    return nest.loaded(lambda access: _turned(access, axes))


def _masked(item: Item) -> bool:
    """Whether a mask of the item's shape is computed or, however it was before, read."""
    return "bool" in {item.dtype, *(arg.dtype for arg in item.args)}


def _backwards(access: Access, axes: Sequence[Axis]) -> bool:
    return bool(axes) and access.strides.get(axes[-1]) == Size.of(-1)


def _parts(pieces: int, cores: int) -> int:
    """Fewest parts of each piece that keep nearly all cores busy until the end."""

    def busy(parts: int) -> float:
        units = pieces * parts
        return units / (-(-units // cores) * cores)

    return next((parts for parts in range(1, cores) if busy(parts) >= _BUSY), cores)


_BUSY = 0.85
_FEW = 32


def plan(graph: Graph, soc: str = "910b2", *, most: int | None = None) -> Plan:
    """Return programs for the graph, the favourite first, `most` of them or all.

    `PlanError` says what cannot be planned and why.
    """
    try:
        return _planned(graph, soc, most)
    except RecursionError:
        raise PlanError(
            f"the module is {len(graph.nodes)} operations, too many of which depend on one another "
            "in a chain; loops over positions are unrolled when they are captured"
        ) from None


def _planned(graph: Graph, soc: str, most: int | None) -> Plan:
    variants: list[Variant] = []
    largest = max((math.prod(source.type.shape) for source in graph.sources), default=1)
    cores = int(chip_constants(soc)["cores"])
    for title, why, choice in _CHOICES:
        if choice.least > Choice().least and largest >= cores * choice.least:
            continue  # all cores have that much to do
        text, operands = _write(graph, soc, choice)
        if all(text != variant.program for variant in variants):
            variants.append(Variant(title, text, why))
        if len(variants) == most:
            break
    return Plan(graph.name, tuple(variants), operands)


_CHOICES = (
    ("two rounds", "tiles half a core's share: transfers overlap with work", Choice()),
    ("one round", "tiles as large as fit: fewest transfers", Choice(rounds=1)),
    ("fewer cores", "to start a core costs more than its share of the work", Choice(least=16384)),
    ("four rounds", "smaller tiles: the first results leave earlier", Choice(rounds=4)),
)


def _write(graph: Graph, soc: str, choice: Choice) -> tuple[str, tuple[Operand, ...]]:
    """The program under a choice: written once to learn what its tiles take, then for good."""
    choice = _with_fits(graph, soc, choice)
    program, operands = _put_together(graph, soc, choice)
    return program.text(), operands


def _with_fits(graph: Graph, soc: str, choice: Choice) -> Choice:
    """What helpers take is known only when a program is written: where tiles that planning counted
    on do not fit, it counts on less."""
    while True:
        rough, _ = _put_together(graph, soc, choice)
        try:
            lowered = lower(rough.text(), soc)
        except TileError as error:
            full = all(finding.rule == CAPACITY for finding in error.findings)
            if not full or choice.room < _LEAST_ROOM:
                raise
        else:
            fits = _fits(rough, lowered)
            room = chip_constants(soc)["ub_bytes"]
            tight = (
                fits[launch.tuned].taken(launch.least, launch.span) > room
                for launch in rough.launches
                if launch.tuned is not None
            )
            if choice.room < _LEAST_ROOM or not any(tight):
                return replace(choice, fits=fits)
        choice = replace(choice, room=choice.room // 2)


def _fits(rough: Program, lowered: Lowered) -> dict[str, Fit]:
    codes = {code.kernel.name: code for code in lowered.kernels}
    return {
        launch.tuned: fit_of(codes[launch.tuned], launch.whole)
        for launch in rough.launches
        if launch.tuned is not None
    }


def _put_together(graph: Graph, soc: str, choice: Choice) -> tuple[Program, tuple[Operand, ...]]:
    names = source_names(graph)
    expanded = expand(graph, names)
    parameters, operands, roots, updates = host_parameters(graph, expanded)
    used = {parameter.tensor.name for parameter in parameters}
    symbols = {
        symbol.name: f"{names[symbol.source]}.shape[{symbol.axis}]"
        for symbol in graph.symbols
        if names[symbol.source] in used
    }
    summary = f"{graph.name}: planned from a PyTorch module."
    name = identifier(graph.name)
    if clashes_with_c(name):
        name = f"{name}_custom"
    program = Program(name, summary, parameters, symbols)
    cores = int(chip_constants(soc)["cores"])
    example = {symbol.name: symbol.example for symbol in graph.symbols}
    produced = [tensor for value in expanded.results for tensor in all_tensors(value)]
    planner = Planner(program, choice, cores, example, produced)
    for group in by_shape(roots):
        planner.compute(group)
    planner.update(updates)
    return program, operands


def _apart(values: Sequence[Value], tensor: Tensor) -> list[Value]:
    """What values read of a tensor in steps, each once."""
    every = (item for value in values for item in loads(value))
    found = (item for item in every if item.tensor.memory is tensor)
    return list({id(item): item for item in found if ONE not in item.strides}.values())


def _among(values: Sequence[Value], found: Sequence[Value]) -> bool:
    """Whether all of these were found."""
    return all(any(value is one for one in found) for value in values)


def _narrower(roots: Sequence[Root]) -> list[Value]:
    """The folds of the roots, where each gives one number for many elements: they come first."""
    found: dict[int, Value] = {}
    for value, _ in roots:
        for fold in reductions(value):
            if fold.shape == value.shape:
                return []
            found[id(fold)] = fold
    return list(found.values())


def _depth(nest: Nest, folds: frozenset[Axis]) -> int:
    """How many folds of other axes lie below these."""
    found = 0
    for item in nest.items:
        if item.kind == "fold" and frozenset(item.folds) == folds:
            below = needed(item.args)
            found += sum(x.kind == "fold" and frozenset(x.folds) != folds for x in below)
    return found
