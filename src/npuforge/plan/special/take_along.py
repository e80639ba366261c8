# SPDX-License-Identifier: Apache-2.0
"""`take_along`: y[r, k] = x[r, index[r, k]] along the last axis; `shared` indices serve every row.

Rows lie in the unified buffer and the elements are picked there. Short rows are worked on together:
as many as fit are loaded as one stretch, and an index becomes a place in the stretch. Rows that are
too long come in pieces; every index is looked up in each piece, and kept where it lies inside.
"""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.plan.launch import Launch
from npuforge.plan.plan import PlanError
from npuforge.plan.special import Job, writes
from npuforge.plan.special.indices import (
    element_bytes,
    index_buffers,
    index_lines,
    row_names,
    row_number,
    text,
)
from npuforge.plan.special.take_rows import take_rows
from npuforge.plan.values import Tensor
from npuforge.spec.size import Size

_STRETCH = 49152  # bytes of rows that lie in the buffer, twice
_PICKED = 2048  # elements picked at a time: 40 bytes each
_GATHERED = ("float16", "bfloat16", "float32", "int16", "int32")
_SELECTED = ("float16", "float32", "int32")
_BYTES = ("int8", "uint8", "bool")


@dataclass(frozen=True, slots=True)
class _Element:
    """How elements of a type are held while they are picked: bytes as float16."""

    given: str

    @property
    def held(self) -> str:
        return "float16" if self.given in _BYTES else self.given

    def buffers(self) -> list[str]:
        lines = [f"row = tl.alloc_ub(stretch, dtype=tl.{self.given})"]
        if self.held != self.given:
            lines.append(f"held = tl.alloc_ub(stretch, dtype=tl.{self.held})")
            lines.append(f"got = tl.alloc_ub(picked, dtype=tl.{self.held})")
        if self.given == "bool":
            lines.append("bits = tl.alloc_mask(picked)")
        return [*lines, f"out = tl.alloc_ub(picked, dtype=tl.{self.given})"]

    def load(self, count: str) -> list[str]:
        """After a row is loaded."""
        return [] if self.held == self.given else [f"tl.cast(held[:{count}], row[:{count}])"]

    @property
    def source(self) -> str:
        return "row" if self.held == self.given else "held"

    @property
    def target(self) -> str:
        return "out" if self.held == self.given else "got"

    def store(self, count: str) -> list[str]:
        """Before results are stored."""
        if self.held == self.given:
            return []
        if self.given == "bool":
            return [
                f'tl.compare(bits[:{count}], got[:{count}], 0.0, "ne")',
                f"tl.bool_from_mask(out[:{count}], bits[:{count}])",
            ]
        return [f'tl.cast(out[:{count}], got[:{count}], round="rint")']


def element(tensor: Tensor) -> _Element:
    """How the tensor's elements are picked."""
    if tensor.dtype not in (*_GATHERED, *_BYTES):
        raise PlanError(f"elements of type {tensor.dtype} are not picked one by one")
    return _Element(tensor.dtype)


@writes("take_columns")
def take_columns(job: Job) -> list[Launch]:
    """Few elements of long rows are fetched one by one; otherwise rows are read as a whole."""
    data = job.special.data
    extent, count = (data[key].at(job.example) for key in ("extent", "count"))
    picked = job.args[0].dtype in (*_GATHERED, *_BYTES)
    return take_along(job) if picked and extent <= 64 * count else take_rows(job)


@writes("take_along")
def take_along(job: Job) -> list[Launch]:
    x, index = job.args
    y, p, data = job.results[0], job.name, job.special.data
    rows: Size = data["rows"]
    extent: Size = data["extent"]
    count: Size = data["count"]
    limit = _STRETCH // max(2, element_bytes(x))
    kernels = {"rows": _rows_kernel(job), "pieces": _pieces_kernel(job)}
    arguments = f"{x.name}, {index.name}, {y.name}, {p}_rows, {p}_extent, {p}_count"
    extents = row_names("x", data["axes"])
    more = "".join(f", {extent}" for extent in extents.values())
    alike = " and ".join(f"{own} == {other}" for own, other in data["axes"][1:]) or "True"
    grid = f"{p}_per_r, {p}_per_k, {p}_groups_k"
    host = {
        "rows": [
            "# Short rows are worked on together, if every core has some.",
            f"{p}_fit = min({limit} // max({p}_extent, 1), {_PICKED} // max({p}_count, 1))",
            f"{p}_tile = max(1, min({p}_fit, {p}_per_r)) if {alike} else 1",
            f"{p}_stretch = max(1, {p}_tile * {p}_extent)",
            f"{p}_rows_kernel[{p}_groups_r * {p}_groups_k](",
            f"    {arguments}, {grid}, {p}_tile, {p}_stretch, {p}_picked,",
            f"    1.0 / float(max({p}_count, 1)){more},",
            ")",
        ],
        "pieces": [
            f"{p}_pieces_kernel[{p}_groups_r * {p}_groups_k](",
            f"    {arguments}, {grid}, {limit}, {_PICKED // 2}{more},",
            ")",
        ],
    }
    if extent.known is not None:
        chosen = ["rows"] if extent.known <= limit else ["pieces"]
        body = host[chosen[0]]
    else:
        chosen = ["rows", "pieces"]
        body = [f"if {p}_extent <= {limit}:", *_in(host["rows"]), "else:", *_in(host["pieces"])]
    lines = [
        f"{p}_rows = {rows}",
        f"{p}_extent = {extent}",
        f"{p}_count = {count}",
        "# Cores share the rows; those that are left over share the indices of a row.",
        f"{p}_groups_r = max(1, min({p}_rows, tl.num_cores()))",
        f"{p}_per_r = tl.cdiv({p}_rows, {p}_groups_r)",
        f"{p}_spare = min(tl.num_cores() // {p}_groups_r, {p}_count // 512)",
        f"{p}_groups_k = max(1, {p}_spare)",
        f"{p}_per_k = max(1, tl.cdiv({p}_count, {p}_groups_k))",
        f"{p}_picked = {_PICKED}",
        *body,
    ]
    kernel = "\n\n@ascend_kernel\n".join(kernels[name] for name in chosen)
    return [Launch(kernel, lines)]


def _names(job: Job) -> str:
    return "".join(f", {name}" for name in row_names("x", job.special.data["axes"]))


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


_GRID = [
    "core = tl.program_id(0)",
    "first_k = core % groups_k * per_k",
    "some_k = min(per_k, count - first_k)",
    "first_r = core // groups_k * per_r",
    "some_r = min(per_r, rows - first_r)",
]


def _rows_kernel(job: Job) -> str:
    x, index = job.args
    data = job.special.data
    elements = element(x)
    wraps = "extent" if data["wraps"] else None
    head = (
        f"def {job.name}_rows_kernel(x, index, y, rows, extent, count, per_r, per_k, groups_k,\n"
        f"        tile, stretch, picked, share{_names(job)}):"
    )
    shared: bool = data["shared"]
    source = f"{elements.source}[: some * extent]"
    buffers = [
        *index_buffers(index, "picked"),
        "turn = tl.alloc_ub(picked, dtype=tl.float32)",
        "start = tl.alloc_ub(picked, dtype=tl.int32)",
        *(["spread = tl.alloc_ub(picked, dtype=tl.int32)"] if shared else []),
        *elements.buffers(),
    ]
    quotient = [
        "# Which of the rows worked on together an element belongs to: exact, as the numbers are",
        "# small and a half keeps them away from whole quotients.",
        "tl.iota(turn, 0.5, 1.0)",
        "tl.mul(turn, turn, share)",
        "tl.floor(turn, turn)",
        'tl.cast(start, turn, round="rint")',
    ]
    fetch = [
        "with tl.copyin():",
        f"    from_row = {row_number('x', data['axes'], '(first_r + t * tile)')}",
        "    tl.load(x + from_row * extent, row[: some * extent])",
    ]
    if not shared:
        return text(
            head,
            [
                (4, _GRID),
                (4, buffers),
                "    with tl.compute():",
                (8, [*quotient, "tl.mul(start, start, extent)"]),
                "    for t in range(tl.cdiv(some_r, tile)):",
                "        some = min(tile, some_r - t * tile)",
                (8, fetch),
                (8, _computed(elements.load("some * extent"))),
                "        for c in range(tl.cdiv(some * some_k, picked)):",
                "            n = min(picked, some * some_k - c * picked)",
                "            first = (first_r + t * tile) * count + first_k + c * picked",
                "            with tl.copyin():",
                "                tl.load(index + first, given[:n])",
                "            with tl.compute():",
                (16, index_lines(index, "n", wraps)),
                "                tl.add(places[:n], places[:n], start[:n])",
                f"                tl.gather({elements.target}[:n], {source}, places[:n])",
                (16, elements.store("n")),
                "            with tl.copyout():",
                "                tl.store(y + first, out[:n])",
            ],
        )
    return text(
        head,
        [
            (4, _GRID),
            (4, buffers),
            "    for c in range(tl.cdiv(some_k, picked)):",
            "        have = min(picked, some_k - c * picked)",
            "        with tl.copyin():",
            "            tl.load(index + first_k + c * picked, given[:have])",
            "        with tl.compute():",
            (12, index_lines(index, "have", wraps)),
            "            # The indices once for each of the rows worked on together.",
            (12, quotient),
            "            tl.iota(spread, 0, 1)",
            "            tl.mul(signs, start, have)",
            "            tl.sub(spread, spread, signs)",
            "            n = tile * have",
            "            tl.gather(signs[:n], places[:have], spread[:n])",
            "            tl.mul(start, start, extent)",
            "            tl.add(signs[:n], signs[:n], start[:n])",
            "        for t in range(tl.cdiv(some_r, tile)):",
            "            some = min(tile, some_r - t * tile)",
            "            m = some * have",
            (12, fetch),
            "            with tl.compute():",
            (16, elements.load("some * extent")),
            f"                tl.gather({elements.target}[:m], {source}, signs[:m])",
            (16, elements.store("m")),
            "            with tl.copyout():",
            "                to = (first_r + t * tile) * count + first_k + c * picked",
            "                tl.store(y + to, out[:m])",
        ],
    )


def _computed(lines: list[str]) -> list[str]:
    return ["with tl.compute():", *_in(lines)] if lines else []


def _pieces_kernel(job: Job) -> str:
    x, index = job.args
    data = job.special.data
    elements = element(x)
    held = elements.held
    kept = held if held in _SELECTED else "float32"
    wraps = "extent" if data["wraps"] else None
    found = "found" if kept == held else "wide"
    widen = [] if kept == held else ["tl.cast(wide[:n], found[:n])"]
    narrow = "copy" if kept == held else "cast"
    rounding = "" if kept == held else ', round="rint"'
    of_row = "" if data["shared"] else "(first_r + r) * count + "
    return text(
        f"def {job.name}_pieces_kernel(x, index, y, rows, extent, count, per_r, per_k, groups_k,\n"
        f"        stretch, picked{_names(job)}):",
        [
            (4, _GRID),
            (4, index_buffers(index, "picked")),
            "    inside = tl.alloc_mask(picked)",
            "    below = tl.alloc_mask(picked)",
            f"    found = tl.alloc_ub(picked, dtype=tl.{held})",
            *([] if kept == held else [f"    wide = tl.alloc_ub(picked, dtype=tl.{kept})"]),
            f"    kept = tl.alloc_ub(picked, dtype=tl.{kept})",
            (4, elements.buffers()),
            "    for r in range(some_r):",
            "        for c in range(tl.cdiv(some_k, picked)):",
            "            n = min(picked, some_k - c * picked)",
            "            first = first_k + c * picked",
            "            with tl.copyin():",
            f"                tl.load(index + {of_row}first, given[:n])",
            "            with tl.compute():",
            (16, index_lines(index, "n", wraps)),
            f"                tl.fill(kept[:n], {'0' if kept == 'int32' else '0.0'})",
            "            for piece in range(tl.cdiv(extent, stretch)):",
            "                low = piece * stretch",
            "                m = min(stretch, extent - low)",
            "                with tl.copyin():",
            f"                    from_row = {row_number('x', data['axes'], '(first_r + r)')}",
            "                    tl.load(x + from_row * extent + low, row[:m])",
            "                with tl.compute():",
            (20, elements.load("m")),
            '                    tl.compare(inside[:n], places[:n], low, "ge")',
            '                    tl.compare(below[:n], places[:n], low + m, "lt")',
            "                    tl.mask_and(inside[:n], inside[:n], below[:n])",
            "                    tl.sub(signs[:n], places[:n], low)",
            "                    tl.maximum(signs[:n], signs[:n], 0)",
            "                    tl.minimum(signs[:n], signs[:n], m - 1)",
            f"                    tl.gather(found[:n], {elements.source}[:m], signs[:n])",
            (20, widen),
            f"                    tl.select(kept[:n], inside[:n], {found}[:n], kept[:n])",
            "            with tl.compute():",
            f"                tl.{narrow}({elements.target}[:n], kept[:n]{rounding})",
            (16, elements.store("n")),
            "            with tl.copyout():",
            "                tl.store(y + (first_r + r) * count + first, out[:n])",
        ],
    )
