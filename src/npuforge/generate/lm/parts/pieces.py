# SPDX-License-Identifier: Apache-2.0
"""Parts of a question as they are asked, and the program of the whole out of theirs.

A part is a question of its own, in canonical names. Its program is put into the whole's: kernels
keep their bodies, what the host of the part computes is computed by that of the whole, and what one
part leaves for another has a room.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from npuforge import syntax
from npuforge.errors import NpuforgeError
from npuforge.generate.lm.form.asked import Asked
from npuforge.generate.lm.form.form import complete
from npuforge.generate.lm.form.quoted import stored
from npuforge.generate.lm.parts.divided import divided
from npuforge.generate.lm.parts.simpler import simpler
from npuforge.generate.lm.question.kinds import folds
from npuforge.generate.lm.question.task import OPERATOR, canonical, task_text
from npuforge.lower.compiler import lower
from npuforge.spec.graph import Graph, TensorType
from npuforge.spec.size import Size
from npuforge.tile.parse import KERNEL_DECORATOR, LANGUAGE_IMPORT

_HOST = f"{OPERATOR}_host"
_SHAPE = "has shape"
_ROOM = "tl.workspace("
_EXISTS = " >= 1:"  # with which a host function passes over what has nothing to leave
_MOST_BRANCHES = 4  # the compiler looks at each way through them
_KERNEL = re.compile(rf"^@{KERNEL_DECORATOR}\ndef {OPERATOR}", re.MULTILINE)


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A part, a canonical graph; what its tensors and extents are in the whole."""

    graph: Graph
    tensors: dict[str, str]  # those it reads and those it leaves, by their names in the part
    extents: dict[str, str]
    rooms: dict[str, str]  # what it leaves: the shape and type that a room for it has
    demands: dict[str, str]  # conditions on extents of the whole, and why they must hold
    exists: list[str] = []  # extents of the whole without which there is nothing to leave
    pieces: list[Piece] = []  # where the part is too hard, too

    @property
    def asked(self) -> str:
        """The part as a question."""
        return task_text(self.graph)


def pieces(graph: Graph, most: Sequence[int] = (12, 1)) -> list[Piece]:
    """Of a canonical graph; each has smaller ones, as long as there are smaller sizes. One is the
    whole in simpler operations, where these are few."""
    if not most:
        return []
    whole, graph = graph, simpler(graph)
    least = 2 if graph.nodes == whole.nodes else 1
    kinds = {node.name: kind for node in graph.nodes if (kind := node.types[0]) is not None}
    found: list[Piece] = []
    for part, extents, leaves, same, was in divided(graph, most[0], least):
        own, names = canonical(part)
        back = {
            symbol: whole
            for source in own.sources
            for symbol, whole in zip(
                source.type.extents, extents[names.sources[source.name]], strict=True
            )
            if symbol.isidentifier()
        }
        asked = task_text(own)
        fresh = [leaf for leaf, one in zip(leaves, own.results, strict=True) if not one.mutates]
        outputs = [name for name in stored(asked) if name not in names.sources]
        rooms = {leaf: f"({_shape(kinds[leaf].extents)}), tl.{kinds[leaf].dtype}" for leaf in fresh}
        found.append(
            Piece(
                graph=own,
                tensors={
                    **{own: was.get(one, one) for own, one in names.sources.items()},
                    **dict(zip(outputs, fresh, strict=True)),
                },
                extents=back,
                rooms=rooms,
                demands=_demands(own, same, back),
                exists=_may_be_empty(kinds[leaf] for leaf in leaves),
                pieces=pieces(own, most[1:]),
            )
        )
    return found or pieces(whole, most[1:])


def _demands(
    part: Graph, same: Sequence[tuple[str, str]], extents: Mapping[str, str]
) -> dict[str, str]:
    """What holds for extents of the part whatever they are, and not for what they are in the whole:
    of a difference there may be nothing left."""
    found = {f"{one} == {other}": "tensors that meet are of one size" for one, other in same}
    if any(folds(node) for node in part.nodes):
        empty = [one for one in extents.values() if not Size.parse(one).is_positive]
        found |= {f"{one} >= 1": "what is folded has elements" for one in empty}
    return found


def _may_be_empty(kinds: Iterable[TensorType]) -> list[str]:
    """Extents that all of some values have, and that may be nothing."""
    found = [
        {e for e, n in zip(k.extents, k.sizes, strict=True) if not n.is_positive} for k in kinds
    ]
    return sorted(set.intersection(*found)) if found else []


def _shape(extents: Sequence[str]) -> str:
    return "".join(f"{one}, " for one in extents or ("1",)).rstrip()


# What a model wrote for a graph: a program for each sample, nothing where it gave up; nothing at
# all where it was not asked.
Written = Callable[[Graph], Sequence[str | None] | None]


def wanted(graph: Graph, parts: Sequence[Piece], written: Written) -> Iterator[Graph]:
    """What must be asked next: a graph itself, then its parts where it was given up."""
    known = written(graph)
    if known is None:
        yield graph
    elif None in known:
        for part in parts:
            yield from wanted(part.graph, part.pieces, written)


def program_of(
    graph: Graph, parts: Sequence[Piece], sample: int, written: Written, soc: str = "910b2"
) -> str | None:
    """The program of a sample, as a whole or of the programs of its parts. Where the sample gave up
    a part it asks again, which is to say that it takes the next sample's."""
    known = written(graph) or ()
    if len(known) > sample and (whole := known[sample]) is not None:
        return whole
    programs: list[str] = []
    for part in parts:
        turned = _turned(written(part.graph) or (), sample)
        program = next((one for one in turned if one is not None), None)
        program = program or program_of(part.graph, part.pieces, sample, written, soc)
        if program is None:
            return None
        programs.append(program)
    return assembled(task_text(graph), parts, programs, soc) if programs else None


def _turned(known: Sequence[str | None], sample: int) -> list[str | None]:
    return [*known[sample:], *known[:sample]]


def assembled(
    asked: str, parts: Sequence[Piece], programs: Sequence[str], soc: str = "910b2"
) -> str | None:
    """The program of the whole out of those of its parts; nothing where it is none."""
    head = Asked.read(asked).head
    if head is None:
        return None
    tensors = Asked.read(asked).tensors
    outputs = {value: name for name, value in stored(asked).items() if tensors[name].role == "out"}
    rooms: dict[str, str] = {}
    kernels: list[str] = []
    host: list[str] = []
    branches = sum(bool(part.exists) for part in parts)
    branches += sum(program.count(_EXISTS) for program in programs)
    for number, (part, program) in enumerate(zip(parts, programs, strict=True), 1):
        if branches > _MOST_BRANCHES:
            why = dict.fromkeys((f"{one} >= 1" for one in part.exists), "what is left has elements")
            part = msgspec.structs.replace(part, demands=part.demands | why, exists=[])
        own, lines = _placed(part, program, f"p{number}", outputs)
        kernels.append(own)
        rooms |= {value: kind for value, kind in part.rooms.items() if value not in outputs}
        host += lines
    made = [f"    {_room(value)} = tl.workspace({kind})" for value, kind in rooms.items()]
    text = f"{LANGUAGE_IMPORT}\n\n\n{''.join(kernels)}{head}" + "".join(
        f"{line}\n" for line in (*made, *host)
    )
    return text if _is_program(text, soc) else None


def _is_program(text: str, soc: str) -> bool:
    try:
        lower(complete(text, soc).text, soc)
    except (NpuforgeError, RecursionError):
        return False
    return True


def _room(value: str) -> str:
    return f"room_{value}"


def _placed(
    part: Piece, program: str, prefix: str, outputs: Mapping[str, str]
) -> tuple[str, list[str]]:
    """The kernels of a part, and the lines of its host, in names of the whole."""
    tree = syntax.parse(program)
    host = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == _HOST)
    before = program.partition(f"def {_HOST}(")[0]
    kernels = before[before.index(f"@{KERNEL_DECORATOR}") :]
    named = {
        one.name: f"{OPERATOR}_{prefix}{one.name.removeprefix(OPERATOR)}"
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and one is not host
    }
    made = [one.id for one in ast.walk(host) if isinstance(one, ast.Name) and _is_given(one)]
    names = {name: f"{prefix}_{name}" for name in made}
    names |= named
    names |= {
        own: outputs.get(whole, _room(whole) if whole[0] == "v" else whole)
        for own, whole in part.tensors.items()
    }
    lines = [f'    tl.require({one}, "{why}")' for one, why in part.demands.items()]
    lines += [f"    {names[name]} = {part.extents[name]}" for name in made if name in part.extents]
    work = [
        _Renamed(names).visit(statement) for statement in host.body if not _says_shapes(statement)
    ]
    rooms = _rooms(work) if part.exists else work
    said = [ast.unparse(one) for one in rooms]
    if part.exists:
        condition = " and ".join(f"{one}{_EXISTS[:-1]}" for one in part.exists)
        rest = (ast.unparse(one) for one in work if one not in rooms)
        said += [f"if {condition}:", *(textwrap.indent(one, "    ") for one in rest)]
    lines = [*dict.fromkeys(lines), *textwrap.indent("\n".join(said), "    ").splitlines()]
    return _KERNEL.sub(lambda one: f"{one[0]}_{prefix}", kernels), lines


def _rooms(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Those that make room in memory, and those that say how much."""
    found: list[ast.stmt] = []
    needed: set[str] = set()
    for one in reversed(statements):
        given = {name.id for name in _names(one) if _is_given(name)}
        if _ROOM in ast.unparse(one) or given & needed:
            found.append(one)
            needed |= {name.id for name in _names(one)} - given
    return found[::-1]


def _names(statement: ast.stmt) -> list[ast.Name]:
    return [one for one in ast.walk(statement) if isinstance(one, ast.Name)]


def _is_given(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _says_shapes(statement: ast.stmt) -> bool:
    """Whether a statement reads an extent, or requires one of a tensor."""
    match statement:
        case ast.Assign([ast.Name()], ast.Subscript(ast.Attribute(attr="shape"))):
            return True
        case ast.Expr(ast.Call(args=[_, ast.Constant(str(message))])):
            return _SHAPE in message
        case _:
            return False


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)
