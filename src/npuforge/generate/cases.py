# SPDX-License-Identifier: Apache-2.0
"""Which sizes and values a kernel is proven with.

Kernels go wrong at the seams: a tail shorter than a vector, a row longer than the buffer, a core
without work. So the cases are few but different: the given sizes (scaled down where the tensors
are large, keeping rank and alignment), primes, the least sizes there are, and values at the edges
of the number format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.generate.divisors import divisible
from npuforge.plan import Plan
from npuforge.spec.graph import Graph, Symbol, TensorType
from npuforge.spec.size import Size, SizeError

# own: what the module's get_inputs makes. signed: normal values around zero. large: zeros, tiny and
# large numbers among its own. special: infinities and NaN among its own.
Values = Literal["own", "signed", "large", "special"]

Sizes = Mapping[str, int]

# Running products: PyTorch takes them in double precision, where they neither overflow nor vanish
# as soon as in float32; infinities and zeros among the values then meet other numbers.
_IN_DOUBLE = ("aten.cumprod.",)

_WHOLE = 2_000_000  # elements up to which the given sizes are run as they are
_SCALED = 800_000  # elements to come down to otherwise
_ODD = 120_000
_HEAVY = 8_000_000  # elements in every case beyond which there are fewer cases
_MOST = 250_000_000  # elements in every case beyond which there is no proof
_LIGHT = ("given", "other values", "scaled", "scaled evenly", "primes", "least")
_ALIGNMENTS = (128, 32, 16, 8, 4, 2, 1)
_SMALL = (7, 5, 3, 9)


@dataclass(frozen=True, slots=True)
class ProofCase:
    """One launch: the graph's symbols as numbers, and what the tensors hold.

    `options` are assignments, the first that the module accepts is taken: nobody says which sizes
    go together (an index may have at most as many rows as what it indexes). `given` marks the cases
    that stand for the shapes asked for: these must run. `perturbed` changes parameters that are
    constant at the start, so that a kernel which ignores them is caught.
    """

    name: str
    options: tuple[Sizes, ...]
    seed: int
    values: Values = "own"
    perturbed: bool = False
    given: bool = False


def choose(graph: Graph) -> list[ProofCase]:
    """The cases, the given sizes first; `UsageError` for a module too large to run."""
    free = free_symbols(graph)
    example = {symbol.name: symbol.example for symbol in free}
    count = counter(graph)
    if fixed_elements(graph) > _MOST:
        raise UsageError(
            f"{graph.name} cannot be proven: {fixed_elements(graph)} elements in every case, "
            "and no axis of them may vary"
        )
    if count(example) <= _WHOLE:
        whole = (example,)
        cases = [
            ProofCase("given", whole, 0, given=True),
            ProofCase("other values", whole, 1, values="signed", perturbed=True, given=True),
        ]
    else:
        alike = _alike(free, count, _SCALED)
        deep = (_scaled(free, count, _SCALED, _next_outer), alike)
        wide = (_scaled(free, count, _SCALED, _next_largest), alike)
        cases = [
            ProofCase("scaled", deep, 0, given=True),
            ProofCase("scaled evenly", wide, 1, values="signed", perturbed=True, given=True),
        ]
    if not free:
        large = ProofCase("large values", (example,), 2, values="large")
        return [*cases, large, ProofCase("special values", (example,), 3, values="special")]
    alike = _primes(free, _alike(free, count, _ODD), different=False)
    odd = (_primes(free, _scaled(free, count, _ODD, _next_largest)), alike)
    long = (_primes(free, _scaled(free, count, _ODD, _next_outer)), alike)
    small = {s.name: max(s.least, _SMALL[i % len(_SMALL)]) for i, s in enumerate(free)}
    even = {s.name: max(s.least, *_SMALL) for s in free}
    cases += [
        ProofCase("primes", odd, 2),
        ProofCase("primes, long rows", long, 3, values="signed"),
        ProofCase("least", ({s.name: max(1, s.least) for s in free},), 4),
        ProofCase("small", (small, even), 5, values="signed", perturbed=True),
        ProofCase("large values", odd, 6, values="large"),
        ProofCase("special values", odd, 7, values="special"),
    ]
    if any(node.op.startswith(_IN_DOUBLE) for node in graph.nodes):
        cases = [case for case in cases if case.values != "special"]
    fitted = divisible(graph, free)
    cases = [replace(case, options=tuple(map(fitted, case.options))) for case in cases]
    kept = _distinct(cases)
    if fixed_elements(graph) > _HEAVY:
        kept = [case for case in kept if case.name in _LIGHT]
    return kept


def fewer_rows(graph: Graph, most: int | None) -> Sizes:
    """The given sizes; with fewer rows where there are more than `most` elements."""
    free = free_symbols(graph)
    if most is None:
        return {symbol.name: symbol.example for symbol in free}
    return divisible(graph, free)(_scaled(free, counter(graph), most, _next_outer))


def all_smaller(graph: Graph, most: int) -> Sizes:
    """All axes smaller together, until there are at most so many elements: what was equal stays
    equal, and an index stays within what it indexes."""
    free = free_symbols(graph)
    return divisible(graph, free)(_alike(free, counter(graph), most))


def halved(graph: Graph, sizes: Sizes) -> Sizes | None:
    """Half as many rows, alike aligned; None where no axis can be halved."""
    free = free_symbols(graph)
    name = _next_outer(free, dict(sizes))
    if name is None:
        return None
    least = next(symbol.least for symbol in free if symbol.name == name)
    smaller = _halved(sizes[name], least)
    assert smaller is not None
    return divisible(graph, free)({**sizes, name: smaller})


def free_symbols(graph: Graph) -> list[Symbol]:
    """The graph's symbols, and the names only multiples of which are extents (`8*s1`)."""
    found = {symbol.name: symbol for symbol in graph.symbols}
    for source in graph.sources:
        for axis, size in enumerate(source.type.sizes):
            for name in size.names - found.keys():
                known = {other: found[other].example for other in size.names & found.keys()}
                start = size.at({**known, name: 0})
                slope = size.at({**known, name: 1}) - start
                value = (source.type.shape[axis] - start) // slope if slope else 1
                found[name] = Symbol(name, source.name, axis, value, 1)
    return list(found.values())


def shape_of(kind: TensorType, sizes: Sizes) -> tuple[int, ...]:
    """A tensor's shape in a case."""
    return tuple(size.at(sizes) for size in kind.sizes)


def operand_shapes(plan: Plan, graph: Graph, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Shapes of a program's inputs, by its names."""
    types = {source.name: source.type for source in graph.sources}
    return {
        operand.name: shape_of(types[operand.source], sizes)
        for operand in plan.operands
        if operand.source is not None
    }


def operand_values(plan: Plan, given: Mapping[str, HostTensor]) -> dict[str, HostTensor]:
    """Values of a program's inputs, by its names, from those of the graph's sources."""
    return {
        operand.name: given[operand.source]
        for operand in plan.operands
        if operand.source is not None and operand.source in given
    }


def fixed_elements(graph: Graph) -> int:
    """Elements of the sources that have the same shape in every case."""
    shapes = [source.type.sizes for source in graph.sources]
    return sum(
        math.prod(size.at({}) for size in shape)
        for shape in shapes
        if not any(size.names for size in shape)
    )


def counter(graph: Graph) -> Callable[[Sizes], int]:
    """Elements of the sources that may vary and of the largest tensor computed, for given sizes."""
    sources = [source.type.sizes for source in graph.sources]
    sources = [shape for shape in sources if any(size.names for size in shape)]
    types = (kind for node in graph.nodes for kind in node.types if kind is not None)
    made = {kind.extents: kind.sizes for kind in types if any(s.names for s in kind.sizes)}

    def count(sizes: Sizes) -> int:
        held = sum(math.prod(size.at(sizes) for size in shape) for shape in sources)
        computed = (_elements(shape, sizes) for shape in made.values())
        return held + max(computed, default=0)

    return count


def _elements(shape: Sequence[Size], sizes: Sizes) -> int:
    """None at sizes that the module will refuse: some extent of them is no number."""
    try:
        return math.prod(size.at(sizes) for size in shape)
    except SizeError:
        return 0


_Next = Callable[[list[Symbol], dict[str, int]], str | None]


def _scaled(
    free: list[Symbol], count: Callable[[Sizes], int], target: int, following: _Next
) -> dict[str, int]:
    sizes = {symbol.name: symbol.example for symbol in free}
    least = {symbol.name: symbol.least for symbol in free}
    while count(sizes) > target:
        name = following(free, sizes)
        if name is None:
            break
        smaller = _halved(sizes[name], least[name])
        assert smaller is not None
        sizes[name] = smaller
    return sizes


def _alike(free: list[Symbol], count: Callable[[Sizes], int], target: int) -> dict[str, int]:
    """All halved together: what was equal stays equal, what was less stays less or equal."""
    sizes = {symbol.name: symbol.example for symbol in free}
    while count(sizes) > target:
        smaller = {s.name: _halved(sizes[s.name], s.least) or sizes[s.name] for s in free}
        if smaller == sizes:
            break
        sizes = smaller
    return sizes


def _next_outer(free: list[Symbol], sizes: dict[str, int]) -> str | None:
    """Outer axes first: rows keep their length, there are fewer of them."""
    for symbol in sorted(free, key=lambda s: s.axis):
        if _halved(sizes[symbol.name], symbol.least) is not None:
            return symbol.name
    return None


def _next_largest(free: list[Symbol], sizes: dict[str, int]) -> str | None:
    """The largest axis first: all become similar."""
    for symbol in sorted(free, key=lambda s: -sizes[s.name]):
        if _halved(sizes[symbol.name], symbol.least) is not None:
            return symbol.name
    return None


def _halved(value: int, least: int) -> int | None:
    """At most half as much, with the same remainder by as large a power of two as possible."""
    half = value // 2
    for modulus in _ALIGNMENTS:
        smaller = half - (half - value) % modulus
        if smaller >= max(2, least) and smaller >= modulus:
            return smaller
    return None


def _primes(free: list[Symbol], sizes: Sizes, *, different: bool = True) -> dict[str, int]:
    """A prime for each symbol, the next one up."""
    found: dict[str, int] = {}
    for symbol in free:
        value = max(sizes[symbol.name], symbol.least, 3)
        while not _prime(value) or (different and value in found.values()):
            value += 1
        found[symbol.name] = value
    return found


def _prime(value: int) -> bool:
    return value > 1 and all(value % factor for factor in range(2, math.isqrt(value) + 1))


def _distinct(cases: list[ProofCase]) -> list[ProofCase]:
    """Without cases that repeat sizes, values and parameters of an earlier one."""
    kept: list[ProofCase] = []
    for case in cases:
        same = [
            other
            for other in kept
            if (other.options[0], other.values, other.perturbed)
            == (case.options[0], case.values, case.perturbed)
        ]
        if not same:
            kept.append(case)
    return kept
