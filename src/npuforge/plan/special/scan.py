# SPDX-License-Identifier: Apache-2.0
"""Running sums, products, largest, smallest and sums of exponentials along an axis.

Along the last axis a row is scanned in pieces, each starting from what the last one ended with;
many short rows are scanned at once. Along another axis, rows of the later axes are combined one
after the other, as logarithms of sums of exponentials always are.
"""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.plan.launch import Launch
from npuforge.plan.special import Job, writes
from npuforge.plan.values import Tensor
from npuforge.spec.size import Size, product

_JOIN = {"cumsum": "add", "cumprod": "mul", "cummax": "maximum", "cummin": "minimum"}
_NEUTRAL = {
    "cumsum": "0.0",
    "cumprod": "1.0",
    "cummax": "-tl.inf",
    "cummin": "tl.inf",
    "logcumsumexp": "-tl.inf",
}
_SHORT = 1024  # longer rows are cut


@dataclass(frozen=True)
class _Scan:
    """A scan of shape (before, extent, after)."""

    name: str
    x: Tensor
    y: Tensor
    kind: str
    backwards: bool
    before: Size
    extent: Size
    after: Size

    @property
    def wide(self) -> bool:
        """Whether elements are cast to float32 and back."""
        return self.x.dtype != "float32"

    def buffers(self, shape: str) -> list[str]:
        """Tiles in and out, with copies in float32 where the tensor has another type."""
        lines = [
            f"given = tl.alloc_ub({shape}, dtype=tl.{self.x.dtype})",
            f"result = tl.alloc_ub({shape}, dtype=tl.{self.y.dtype})",
        ]
        if self.wide:
            lines.append(f"x32 = tl.alloc_ub({shape}, dtype=tl.float32)")
            lines.append(f"y32 = tl.alloc_ub({shape}, dtype=tl.float32)")
        return lines

    @property
    def source(self) -> str:
        return "x32" if self.wide else "given"

    @property
    def target(self) -> str:
        return "y32" if self.wide else "result"

    def cast_in(self, view: str) -> list[str]:
        return [f"tl.cast(x32{view}, given{view})"] if self.wide else []

    def cast_out(self, view: str) -> list[str]:
        return [f'tl.cast(result{view}, y32{view}, round="rint")'] if self.wide else []


@writes("scan")
def write_scan(job: Job) -> list[Launch]:
    shape = job.args[0].shape
    axis: int = job.special.data["axis"]
    scan = _Scan(
        job.name,
        job.args[0],
        job.results[0],
        job.special.data["kind"],
        job.special.data["backwards"],
        product(shape[:axis]),
        shape[axis],
        product(shape[axis + 1 :]),
    )
    if scan.after != Size.of(1) or scan.kind not in _JOIN:
        return [_down(scan)]
    if scan.extent.at(job.example) <= _SHORT and not scan.backwards:
        return [_short_rows(scan)]
    return [_products(scan) if scan.kind == "cumprod" else _long_rows(scan)]


def _indented(lines: list[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]


def _short_rows(scan: _Scan) -> Launch:
    view = "[:n, :]"
    lines = [
        f"def {scan.name}({scan.x.name}, {scan.y.name}, rows, cols, tile, per_core):",
        "    # Whole rows, several at once.",
        *_indented(scan.buffers("(tile, cols)"), 1),
        "    first = tl.program_id(0) * per_core",
        "    last = min(first + per_core, rows)",
        "    for t in range(tl.cdiv(last - first, tile)):",
        "        row = first + t * tile",
        "        n = min(tile, last - row)",
        "        with tl.copyin():",
        f"            tl.load({scan.x.name} + row * cols, given{view}, stride=cols)",
        "        with tl.compute():",
        *_indented(scan.cast_in(view), 3),
        f"            tl.{scan.kind}({scan.target}{view}, {scan.source}{view}, axis=1)",
        *_indented(scan.cast_out(view), 3),
        "        with tl.copyout():",
        f"            tl.store({scan.y.name} + row * cols, result{view}, stride=cols)",
    ]
    p, rows, cols = scan.name, scan.before, scan.extent
    each = 40 if scan.wide else 28
    host = [
        f"# Tiles in and out and the temporaries of the scan: {each} bytes an element.",
        f'tl.require({cols} <= 4096, "a row must fit the unified buffer")',
        f"{p}_cores = max(1, min(tl.num_cores(), {rows}))",
        f"{p}_per_core = tl.cdiv({rows}, {p}_cores)",
        f"{p}_fit = (tl.ub_bytes() - 24576) // ({each} * tl.align_up({cols}, 32))",
        f"{p}_tile = max(1, min({p}_fit, tl.cdiv({p}_per_core, 2)))",
        f"{p}[{p}_cores]({scan.x.name}, {scan.y.name}, {rows}, {cols}, {p}_tile, {p}_per_core)",
    ]
    return Launch("\n".join(lines), host)


def _long_rows(scan: _Scan) -> Launch:
    view = "[:n]"
    join, neutral = _JOIN[scan.kind], _NEUTRAL[scan.kind]
    source, target = scan.source, scan.target
    extra: list[str] = []
    if scan.backwards:
        extra = ["turned = tl.alloc_ub(tile, dtype=tl.float32)"]
        start = "start = max(0, cols - (t + 1) * tile)"
        count = "n = min(tile, cols - t * tile)"
        body = [
            f"tl.reverse(turned{view}, {source}{view})",
            f"tl.{scan.kind}({source}{view}, turned{view})",
            f"tl.{join}({source}{view}, {source}{view}, carry)",
            f"carry = tl.extract_scalar({source}, n - 1)",
            f"tl.reverse({target}{view}, {source}{view})",
        ]
    else:
        start = "start = t * tile"
        count = "n = min(tile, cols - start)"
        body = [
            f"tl.{scan.kind}({target}{view}, {source}{view})",
            f"tl.{join}({target}{view}, {target}{view}, carry)",
            f"carry = tl.extract_scalar({target}, n - 1)",
        ]
    lines = [
        f"def {scan.name}({scan.x.name}, {scan.y.name}, rows, cols, tile, per_core):",
        "    # Rows in pieces, each starting from what the last one ended with.",
        *_indented([*scan.buffers("tile"), *extra], 1),
        "    first = tl.program_id(0) * per_core",
        "    for r in range(first, min(first + per_core, rows)):",
        f"        carry = {neutral}",
        "        for t in range(tl.cdiv(cols, tile)):",
        f"            {start}",
        f"            {count}",
        "            with tl.copyin():",
        f"                tl.load({scan.x.name} + r * cols + start, given{view})",
        "            with tl.compute():",
        *_indented([*scan.cast_in(view), *body, *scan.cast_out(view)], 4),
        "            with tl.copyout():",
        f"                tl.store({scan.y.name} + r * cols + start, result{view})",
    ]
    p, rows, cols = scan.name, scan.before, scan.extent
    host = [
        *_host_lines(p, str(rows), scan),
        f"{p}_tile = min({p}_fit, tl.align_up({cols}, 64))",
        f"{p}[{p}_cores]({scan.x.name}, {scan.y.name}, {rows}, {cols}, {p}_tile, {p}_per_core)",
    ]
    return Launch("\n".join(lines), host)


_PIECE = 256  # columns of a piece of several rows


def _products(scan: _Scan) -> Launch:
    """Long rows of products. The next piece starts from the last product, multiplied into its first
    factor: a product of its own could overflow where that of the row does not."""
    view = "[:n, :m]"
    source, target = scan.source, scan.target
    at = f"cols - t * {_PIECE} - m" if scan.backwards else f"t * {_PIECE}"
    extra: list[str] = []
    if scan.backwards:
        extra = [f"turned = tl.alloc_ub((tile, {_PIECE}), dtype=tl.float32)"]
        turn = ["for r in range(n):", f"    tl.reverse(turned[r, :m], {source}[r, :m])"]
        back = ["for r in range(n):", f"    tl.reverse({target}[r, :m], {source}[r, :m])"]
        step = [*turn, *_started("turned"), *_scanned(source, "turned"), *back]
    else:
        step = [*_started(source), *_scanned(target, source)]
    lines = [
        f"def {scan.name}({scan.x.name}, {scan.y.name}, rows, cols, tile, per_core):",
        "    # Several rows at once, piece by piece; the last product starts the next piece.",
        *_indented([*scan.buffers(f"(tile, {_PIECE})"), *extra], 1),
        "    carry = tl.alloc_ub(tile, dtype=tl.float32)",
        "    first = tl.program_id(0) * per_core",
        "    last = min(first + per_core, rows)",
        "    for b in range(tl.cdiv(last - first, tile)):",
        "        row = first + b * tile",
        "        n = min(tile, last - row)",
        "        with tl.compute():",
        "            tl.fill(carry[:], 1.0)",
        f"        for t in range(tl.cdiv(cols, {_PIECE})):",
        f"            m = min({_PIECE}, cols - t * {_PIECE})",
        f"            start = {at}",
        "            with tl.copyin():",
        f"                tl.load({scan.x.name} + row * cols + start, given{view}, stride=cols)",
        "            with tl.compute():",
        *_indented([*scan.cast_in(view), *step, *scan.cast_out(view)], 4),
        "            with tl.copyout():",
        f"                tl.store({scan.y.name} + row * cols + start, result{view}, stride=cols)",
    ]
    p, rows, cols = scan.name, scan.before, scan.extent
    host = [
        f"# {_PIECE} columns of 16 rows take about 100 KB with all copies and temporaries.",
        f"{p}_cores = max(1, min(tl.num_cores(), {rows}))",
        f"{p}_per_core = tl.cdiv({rows}, {p}_cores)",
        f"{p}_tile = min(16, {p}_per_core)",
        f"{p}[{p}_cores]({scan.x.name}, {scan.y.name}, {rows}, {cols}, {p}_tile, {p}_per_core)",
    ]
    return Launch("\n".join(lines), host)


def _started(source: str) -> list[str]:
    """The last product of every row multiplied into the piece's first factor."""
    return [
        "for r in range(n):",
        f"    factor = tl.extract_scalar({source}, r, 0)",
        "    before = tl.extract_scalar(carry, r)",
        f"    tl.insert_scalar({source}, r, 0, factor * before)",
    ]


def _scanned(target: str, source: str) -> list[str]:
    """The products of every row, and the last one kept."""
    return [
        f"tl.cumprod({target}[:n, :m], {source}[:n, :m], axis=1)",
        "for r in range(n):",
        f"    total = tl.extract_scalar({target}, r, m - 1)",
        "    tl.insert_scalar(carry, r, total)",
    ]


def _down(scan: _Scan) -> Launch:
    view, neutral = "[:n]", _NEUTRAL[scan.kind]
    index = "(extent - 1 - r)" if scan.backwards else "r"
    lines = [
        f"def {scan.name}("
        f"{scan.x.name}, {scan.y.name}, extent, cols, tile, tiles, units, per_core):",
        "    # A piece of the later axes at a time, combined along the axis.",
        *_indented(scan.buffers("tile"), 1),
        "    total = tl.alloc_ub(tile, dtype=tl.float32)",
        *_indented(_EXPONENTIALS if scan.kind == "logcumsumexp" else [], 1),
        "    first = tl.program_id(0) * per_core",
        "    for u in range(first, min(first + per_core, units)):",
        "        start = u % tiles * tile",
        "        base = u // tiles * extent * cols + start",
        "        n = min(tile, cols - start)",
        "        with tl.compute():",
        f"            tl.fill(total[:], {neutral})",
        "        for r in range(extent):",
        f"            at = base + {index} * cols",
        "            with tl.copyin():",
        f"                tl.load({scan.x.name} + at, given{view})",
        "            with tl.compute():",
        *_indented(scan.cast_in(view), 4),
        *_indented(_combined(scan, view), 4),
        f"                {_leave(scan, view)}",
        "            with tl.copyout():",
        f"                tl.store({scan.y.name} + at, result{view})",
    ]
    p, cols = scan.name, scan.after
    each = 32 if scan.kind in _JOIN else 64  # bytes of an element with all temporaries
    host = [
        f"{p}_fit = tl.align_down((tl.ub_bytes() - 24576) // {each}, 64)",
        f"{p}_share = tl.align_up(tl.cdiv({scan.before * cols}, tl.num_cores()), 64)",
        f"{p}_tile = max(64, min({p}_fit, {p}_share, tl.align_up({cols}, 64)))",
        f"{p}_tiles = tl.cdiv({cols}, {p}_tile)",
        f"{p}_units = {p}_tiles * ({scan.before})",
        f"{p}_cores = max(1, min(tl.num_cores(), {p}_units))",
        f"{p}_per_core = tl.cdiv({p}_units, {p}_cores)",
        f"{p}[{p}_cores]({scan.x.name}, {scan.y.name}, {scan.extent}, {cols}, {p}_tile, {p}_tiles, "
        f"{p}_units, {p}_per_core)",
    ]
    return Launch("\n".join(lines), host)


_EXPONENTIALS = [
    "larger = tl.alloc_ub(tile, dtype=tl.float32)",
    "left = tl.alloc_ub(tile, dtype=tl.float32)",
    "same = tl.alloc_mask(tile)",
]


def _combined(scan: _Scan, view: str) -> list[str]:
    """The total with the next row."""
    total, source = f"total{view}", f"{scan.source}{view}"
    if scan.kind != "logcumsumexp":
        return [f"tl.{_JOIN[scan.kind]}({total}, {total}, {source})"]
    larger, left, same = (f"{name}{view}" for name in ("larger", "left", "same"))
    return [  # what is left of an infinity that meets itself is nothing
        f"tl.maximum({larger}, {total}, {source})",
        f"tl.minimum({left}, {total}, {source})",
        f'tl.compare({same}, {left}, {larger}, "eq")',
        f"tl.sub({left}, {left}, {larger})",
        f"tl.select({left}, {same}, 0.0, {left})",
        f"tl.exp({left}, {left})",
        f"tl.log1p({left}, {left})",
        f"tl.add({total}, {larger}, {left})",
    ]


def _leave(scan: _Scan, view: str) -> str:
    if scan.wide:
        return f'tl.cast(result{view}, total{view}, round="rint")'
    return f"tl.copy(result{view}, total{view})"


def _host_lines(p: str, rows: str, scan: _Scan) -> list[str]:
    each = 52 if scan.wide else 40
    return [
        f"# Tiles in and out and the temporaries of the scan: {each} bytes an element.",
        f"{p}_cores = max(1, min(tl.num_cores(), {rows}))",
        f"{p}_per_core = tl.cdiv({rows}, {p}_cores)",
        f"{p}_fit = tl.align_down((tl.ub_bytes() - 24576) // {each}, 64)",
    ]
