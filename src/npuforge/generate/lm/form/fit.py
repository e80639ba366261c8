# SPDX-License-Identifier: Apache-2.0
"""`tl.fit(kernel)`: the largest tile that fits, which the compiler knows and a model need not.

Programs that a model reads and writes say `tl.fit(op)`, or `tl.fit(op, width)` where the kernel's
tiles are rows of that width. Before they are compiled it becomes the host's arithmetic: as the
planner does, the program is lowered once to ask what the kernel's buffers take.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from npuforge.errors import UsageError
from npuforge.generate.lm.form.single import arguments
from npuforge.lower.compiler import lower
from npuforge.lower.kernel_class import KernelCode
from npuforge.plan.room import fit_of
from npuforge.tile.expr import names

_ROOM = "(tl.ub_bytes() - "
_FACTOR = re.compile(r"\d+ \* (.+?)(?: \+ \d+)?")  # bytes for each element of a row of a width
_LAUNCH = re.compile(r"^    k(\d+)_")
_CALL = "tl.fit("
_ROUGH = "1"  # a tile that fits whatever there is


def with_fits(program: str) -> str:
    """A planner's program with its numbers of bytes left to the compiler."""
    return "\n".join(map(_with_fit, program.splitlines())) + "\n"


def resolved(program: str, soc: str) -> str:
    """The program as the language has it; `UsageError` (`TileError`) where it is none."""
    if _CALL not in program:
        return program
    rough, calls = _rough(program)
    codes = {code.kernel.name: code for code in lower(rough, soc).kernels}
    for kernel, _ in calls:
        if kernel not in codes:
            raise UsageError(f"tl.fit names {kernel}, which is not launched")

    def formula(kernel: str, whole: str | None) -> str:
        code = codes[kernel]
        fit = fit_of(code, _width(code) if whole is not None else None)
        return fit.tiles_text(whole or "1")

    return _replaced(program, formula)[0]


def without_fits(program: str) -> str:
    """With a tile that fits whatever there is."""
    return _rough(program)[0]


def _rough(program: str) -> tuple[str, list[tuple[str, str | None]]]:
    return _replaced(program, lambda _kernel, _whole: _ROUGH)


def _with_fit(line: str) -> str:
    launch = _LAUNCH.match(line)
    before, room, rest = line.partition(_ROOM)
    if launch is None or not room:
        return line
    _, rest = _closed(rest)
    divisor = re.match(r" // (?:(\d+)|\()", rest)
    if divisor is None:
        return line
    each, after = divisor[1] or "", rest[divisor.end() :]
    if not each:
        each, after = _closed(after)
    kernel = "op" if launch[1] == "1" else f"op_{launch[1]}"
    width = _FACTOR.fullmatch(each)
    return f"{before}tl.fit({kernel}{f', {_bare(width[1])}' if width else ''}){after}"


def _bare(text: str) -> str:
    """Without a bracket around the whole."""
    inside, rest = _closed(text[1:]) if text.startswith("(") else ("", text)
    return text if rest else inside


def _replaced(
    program: str, instead: Callable[[str, str | None], str]
) -> tuple[str, list[tuple[str, str | None]]]:
    made, rest = "", program
    calls: list[tuple[str, str | None]] = []
    while _CALL in rest:
        before, _, rest = rest.partition(_CALL)
        inside, rest = _closed(rest)
        given = arguments(inside)
        if not given or len(given) > 2:
            raise UsageError("tl.fit takes a kernel and perhaps a width")
        calls.append((given[0], given[1] if len(given) > 1 else None))
        made += f"{before}({instead(*calls[-1])})"
    return made + rest, calls


def _closed(text: str) -> tuple[str, str]:
    """What is inside the bracket that is open, and what follows it."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[:place], text[place + 1 :]
    raise UsageError("a bracket of tl.fit is not closed")


def _width(code: KernelCode) -> str:
    """The parameter, besides the tile, that the kernel's buffers follow from."""
    scalars = {scalar.name for scalar in code.kernel.scalars}
    found = {
        name
        for buffer in code.kernel.buffers
        for extent in buffer.shape
        for name in names(extent)
        if name in scalars and name != "tile"
    }
    if len(found) != 1:
        raise UsageError(f"the width of {code.kernel.name} is not one of its parameters")
    return found.pop()
