# SPDX-License-Identifier: Apache-2.0
"""Host translation: tiling fields, the tiling computation, block count and workspace.

The computation is a list of C++ statements over local variables. How shapes and attributes are read
and how results are handed over differs between formats, so the statements are written with a
`Surroundings` that the format supplies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from npuforge.lower.cpp import TYPES, Printer
from npuforge.lower.kernel_class import KernelCode
from npuforge.lower.names import Namer, camel, pascal
from npuforge.lower.streams import CACHE_SHARE
from npuforge.tile.expr import (
    Call,
    Chip,
    Choose,
    Compare,
    Const,
    Expr,
    Shape,
    Type,
    Var,
    align_up,
    children,
    fold,
    mul,
    rewrite,
    walk,
)
from npuforge.tile.ir import (
    Host,
    HostIf,
    HostLet,
    HostStmt,
    Kernel,
    Launch,
    Require,
    Reserve,
    SameShape,
    Tensor,
    TileProgram,
)

_INDENT = "    "
WORKSPACE_ALIGNMENT = 512
_LONG = 100  # characters: an expression from here on gets names for its parts
_SMALLEST_PART = 5
_OWN_NAMES = ("blocks", "key", "workspaceBytes", "context", "tiling", "platform")


@dataclass(frozen=True, slots=True)
class Field:
    """A member of the tiling structure; `type` is a C++ type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Phase:
    """One launch inside the single kernel entry: which class, and its fields by parameter."""

    launch: Launch
    code: KernelCode
    fields: dict[str, Field]  # by parameter, by name of a derived size, and by streamed tensor
    cores: Field | None  # set where several phases share one entry


@dataclass(frozen=True, slots=True)
class Schedule:
    """The phases that run under one tiling key."""

    key: int
    phases: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How a format reads its inputs and leaves early."""

    shape: Callable[[str, int | None], str]  # (tensor, axis or None for the number of elements)
    attribute: Callable[[str], str]
    refuse: Callable[[str], str]  # statement for a condition that does not hold
    assign: Callable[[Field, str], str]  # statement that sets a field
    cores: str
    ub_bytes: str
    reserved: tuple[str, ...] = ()  # names the format uses itself


@dataclass(slots=True)
class HostCode:
    """What the host side of every format is made of; `written` is a kernel's text that stands in
    the place of the compiler's."""

    program: TileProgram
    fields: list[Field] = field(default_factory=list)
    schedules: list[Schedule] = field(default_factory=list)
    workspace_offsets: dict[str, Field] = field(default_factory=dict)
    phases: dict[int, Phase] = field(default_factory=dict)  # by id of the launch
    key_bits: dict[int, int] = field(default_factory=dict)  # key bit by id of the choice
    written: str | None = None

    @property
    def host(self) -> Host:
        return self.program.host

    @property
    def tiling_struct(self) -> str:
        return f"{pascal(self.program.name)}TilingData"


def translate_host(program: TileProgram, codes: dict[int, KernelCode]) -> HostCode:
    """Fields and schedules; `codes` has the class of each launch by its id."""
    code = HostCode(program)
    launches = list(program.launches())
    taken = Namer()
    for launch in launches:
        prefix = f"{launch.kernel.name}_" if len(launches) > 1 else ""
        fields = {
            scalar.name: Field(taken.fresh(camel(prefix + scalar.name)), _field_type(scalar.type))
            for scalar in launch.kernel.scalars
        }
        for name in codes[id(launch)].derived:
            fields[name] = Field(taken.fresh(camel(prefix + name)), TYPES[Type.INT])
        for name in codes[id(launch)].streamed.values():
            fields[name] = Field(taken.fresh(camel(prefix + name)), TYPES[Type.INT])
        code.fields += fields.values()
        cores = None
        if len(launches) > 1:
            cores = Field(taken.fresh(camel(f"{prefix}cores")), TYPES[Type.INT])
            code.fields.append(cores)
        code.phases[id(launch)] = Phase(launch, codes[id(launch)], fields, cores)
    for tensor in program.host.workspaces:
        offset = Field(taken.fresh(camel(f"{tensor.name}_offset")), TYPES[Type.INT])
        code.workspace_offsets[tensor.name] = offset
        code.fields.append(offset)
    if not code.fields:
        code.fields.append(Field("unused", TYPES[Type.INT]))
    for choice in _choices(program.host.body):
        code.key_bits[id(choice)] = 1 << len(code.key_bits)
    code.schedules = [
        Schedule(key, tuple(code.phases[id(launch)] for launch in path))
        for key, path in _paths(program.host.body, code.key_bits)
    ]
    return code


def _field_type(type_: Type) -> str:
    """Tiling structures have no truth values; they travel as whole numbers."""
    return TYPES[Type.INT] if type_ is Type.BOOL else TYPES[type_]


def _choices(body: Sequence[HostStmt]) -> Iterator[HostIf]:
    """Conditions that decide between launches."""
    for statement in body:
        if isinstance(statement, HostIf) and _has_launch(statement):
            yield statement
            yield from _choices(statement.then)
            yield from _choices(statement.orelse)


def _has_launch(statement: HostStmt) -> bool:
    match statement:
        case Launch():
            return True
        case HostIf(then=then, orelse=orelse):
            return any(_has_launch(inner) for inner in (*then, *orelse))
        case _:
            return False


def _paths(body: Sequence[HostStmt], bits: dict[int, int]) -> list[tuple[int, list[Launch]]]:
    """Every sequence of launches the host may take, with its key."""
    paths: list[tuple[int, list[Launch]]] = [(0, [])]
    for statement in body:
        match statement:
            case Launch():
                paths = [(key, [*launches, statement]) for key, launches in paths]
            case HostIf(then=then, orelse=orelse) if id(statement) in bits:
                branches = [
                    (key | bits[id(statement)], launches) for key, launches in _paths(then, bits)
                ] + _paths(orelse, bits)
                paths = [
                    (key | more, [*before, *after])
                    for key, before in paths
                    for more, after in branches
                ]
            case _:
                pass
    return paths


# ---- the tiling computation -------------------------------------------------------------------
def tiling_lines(code: HostCode, around: Surroundings, used: set[str]) -> list[str]:
    """Statements that set every field and `blocks`; with several schedules `key`, and with
    temporaries in global memory `workspaceBytes`."""
    return _Tiling(code, around, used).lines()


class _Tiling:
    def __init__(self, code: HostCode, around: Surroundings, used: set[str]) -> None:
        self.code = code
        self.around = around
        self.names = Namer()
        attributes = [camel(item.name) for item in code.host.attributes]
        for taken in (*_OWN_NAMES, *around.reserved, *attributes):
            self.names.fresh(taken)
        self.print = Printer(code.host.facts, "host", self.leaf, used)
        self.attributes = {attribute.name for attribute in code.host.attributes}

    def leaf(self, expr: Expr) -> str:
        match expr:
            case Var(name=name) if name in self.attributes and expr.version == 0:
                return self.around.attribute(name)
            case Var(name=name):
                return self.names.name(name)
            case Shape(tensor, axis):
                return self.shape(tensor, axis)
            case Chip("cores"):
                return self.around.cores
            case Chip():
                return self.around.ub_bytes
            case _:
                raise AssertionError(f"{expr} in a host function")

    def shape(self, tensor: str, axis: int | None) -> str:
        """Extents of outputs follow from their declared shapes, the others are read."""
        found = next(t for t in self.code.host.tensors if t.name == tensor)
        if isinstance(found.shape, SameShape):
            return self.shape(found.shape.tensor, axis)
        if found.shape is None:
            return self.around.shape(tensor, axis)
        if axis is not None:
            return f"({self.print(found.shape[axis])})"
        product: Expr = Const(1)
        for extent in found.shape:
            product = mul(product, extent)
        return f"({self.print(product)})"

    def lines(self) -> list[str]:
        lines = ["int64_t blocks = 1;"]
        if len(self.code.schedules) > 1:
            lines.append("uint64_t key = 0;")
        if self.code.host.workspaces:
            lines.append("int64_t workspaceBytes = 0;")
        several = _assigned_often(self.code.host.body)
        types = _types(self.code.host.body)
        lines += [f"{TYPES[types[n]]} {self.names.name(n)} = 0;" for n in sorted(several)]
        return lines + self.block(self.code.host.body, several)

    def block(self, body: Sequence[HostStmt], declared: set[str]) -> list[str]:
        lines: list[str] = []
        known = dict(self.print.aliases)
        for statement in body:
            lines += self.statement(statement, declared)
        self.print.aliases = known  # names of this block end with it
        return lines

    def statement(self, statement: HostStmt, declared: set[str]) -> list[str]:
        match statement:
            case Require(condition, message):
                return [
                    f"if (!({self.print(condition)})) {{",
                    _INDENT + self.around.refuse(message),
                    "}",
                ]
            case HostLet(name, _, value, _, comment):
                notes = [f"// {line}" for line in comment.splitlines()]
                prefix = "" if name in declared else f"const {TYPES[value.type]} "
                return [*notes, f"{prefix}{self.names.name(name)} = {self.print(value)};"]
            case Reserve(tensor):
                return self.reserve(tensor)
            case Launch():
                return self.launch(self.code.phases[id(statement)])
            case HostIf(condition, then, orelse):
                return self.choice(statement, condition, then, orelse, declared)

    def reserve(self, tensor: Tensor) -> list[str]:
        assert isinstance(tensor.shape, tuple)
        size: Expr = Const(max(1, tensor.dtype.bits // 8))
        for extent in tensor.shape:
            size = mul(size, extent)
        offset = self.code.workspace_offsets[tensor.name]
        return [
            self.around.assign(offset, "workspaceBytes"),
            f"workspaceBytes += {self.print(align_up(size, WORKSPACE_ALIGNMENT))};",
        ]

    def launch(self, phase: Phase) -> list[str]:
        lines = self.derived(phase)
        lines += self.capacity(phase)
        lines += [
            self.around.assign(phase.fields[scalar.name], self.print(scalar.value))
            for scalar in phase.launch.kernel.scalars
        ]
        lines += [
            self.around.assign(phase.fields[name], self.print(self.in_host_terms(expr, phase)))
            for name, expr in phase.code.derived.items()
        ]
        lines += [
            self.around.assign(phase.fields[name], self.print(expr))
            for name, expr in stream_conditions(phase, self.code.host.facts.chip)
        ]
        low = self.code.host.facts.bounds(phase.launch.cores)[0]
        known = low is not None and low >= 1
        wanted = phase.launch.cores if known else Call("max", (Const(1), phase.launch.cores))
        cores = self.print(wanted)
        if phase.cores is not None:
            lines.append(self.around.assign(phase.cores, cores))
            self.print.used.add("MaxOf")
            lines.append(f"blocks = MaxOf<int64_t>(blocks, {cores});")
            lines.append(f"if (blocks > {self.around.cores}) {{")
            lines.append(_INDENT + self.around.refuse("more blocks than cores wait for each other"))
            lines.append("}")
        else:
            lines.append(f"blocks = {cores};")
        return lines

    def derived(self, phase: Phase) -> list[str]:
        """Local variables for sizes; from here on their expressions print as these names."""
        lines = []
        for name, expr in phase.code.derived.items():
            value = self.in_host_terms(expr, phase)
            if isinstance(value, Const) or value in self.print.aliases:
                continue
            lines += self.shared_parts(name, value)
            local = self.names.fresh(name)
            lines.append(f"const int64_t {local} = {self.print(value)};")
            self.print.aliases[value] = local
        return lines

    def shared_parts(self, name: str, value: Expr) -> list[str]:
        """Local variables for what a long expression says twice."""
        lines = []
        while len(self.print(value)) > _LONG and (part := _repeated(value, self.print.aliases)):
            local = self.names.fresh(f"{name}Part")
            lines.append(f"const int64_t {local} = {self.print(part)};")
            self.print.aliases[part] = local
        return lines

    def in_host_terms(self, expr: Expr, phase: Phase) -> Expr:
        return fold(_in_host_terms(expr, phase.launch.kernel))

    def capacity(self, phase: Phase) -> list[str]:
        """A check at run time, unless the sizes are known to fit."""
        kernel = phase.launch.kernel
        high = kernel.facts.bounds(phase.code.ub_bytes)[1]
        limit = self.code.host.facts.chip["ub_bytes"]
        if high is not None and high <= limit:
            return []
        size = self.print(self.in_host_terms(phase.code.ub_bytes, phase))
        return [
            f"if ({size} > {self.around.ub_bytes}) {{",
            _INDENT + self.around.refuse("the tiles do not fit the unified buffer"),
            "}",
        ]

    def choice(
        self,
        statement: HostIf,
        condition: Expr,
        then: Sequence[HostStmt],
        orelse: Sequence[HostStmt],
        declared: set[str],
    ) -> list[str]:
        bit = self.code.key_bits.get(id(statement))
        lines = [f"if ({self.print(condition)}) {{"]
        if bit:
            lines.append(f"{_INDENT}key |= {bit};")
        lines += [_INDENT + line for line in self.block(then, declared)]
        if orelse:
            lines += ["} else {", *(_INDENT + line for line in self.block(orelse, declared))]
        return [*lines, "}"]


def stream_conditions(phase: Phase, chip: Mapping[str, int]) -> Iterator[tuple[str, Expr]]:
    """For each tensor that may stream: 1 if it is large enough, as an expression of the host."""
    for pointer in phase.launch.kernel.pointers:
        if pointer.name in phase.code.streamed:
            size = mul(
                Shape(pointer.tensor.name, None), Const(max(1, pointer.tensor.dtype.bits // 8))
            )
            large = Compare(">", size, Const(chip["l2_bytes"] // CACHE_SHARE))
            yield phase.code.streamed[pointer.name], Choose(large, Const(1), Const(0))


def _repeated(expr: Expr, named: Mapping[Expr, str]) -> Expr | None:
    """The largest part that stands in an expression twice and has no name yet."""
    seen: set[Expr] = set()
    best: Expr | None = None

    def visit(node: Expr) -> int:
        nonlocal best
        if node in named:
            return 1
        size = 1 + sum(visit(child) for child in children(node))
        if (
            node in seen
            and size >= _SMALLEST_PART
            and (best is None or size > len(list(walk(best))))
        ):
            best = node
        seen.add(node)
        return size

    visit(expr)
    return best


def _in_host_terms(expr: Expr, kernel: Kernel) -> Expr:
    """An expression over a kernel's parameters, with what the host passes for them."""
    values = {scalar.name: scalar.value for scalar in kernel.scalars}
    return rewrite(expr, lambda node: values.get(node.name) if isinstance(node, Var) else None)


def _lets(body: Sequence[HostStmt]) -> Iterator[HostLet]:
    for statement in body:
        match statement:
            case HostLet():
                yield statement
            case HostIf(then=then, orelse=orelse):
                yield from _lets(then)
                yield from _lets(orelse)
            case _:
                pass


def _assigned_often(body: Sequence[HostStmt]) -> set[str]:
    names = [let.name for let in _lets(body)]
    return {name for name in names if names.count(name) > 1}


def _types(body: Sequence[HostStmt]) -> dict[str, Type]:
    return {let.name: let.value.type for let in _lets(body)}
