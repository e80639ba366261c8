# SPDX-License-Identifier: Apache-2.0
"""`npuforge lower`: a tile program to AscendC, or to the form it has after one of the passes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from npuforge.cli.output import force_option, json_option, say, write_json
from npuforge.errors import UsageError
from npuforge.untrusted.inputs import read_input

if TYPE_CHECKING:
    from npuforge.lower.compiler import Lowered
    from npuforge.lower.formats.baked import Baked
    from npuforge.tile.expr import Number
    from npuforge.tile.source import Finding

# Named here so that --help imports no compiler; a test compares them with the compiler's own.
PASS_NAMES = ("parse", "types", "check", "fuse", "buffers", "placement", "host", "compute")
FORMAT_NAMES = ("msopgen", "direct", "torch", "mkb", "mkb-direct", "npukb", "npukb-kernel")
_MOST_BYTES = 4 << 20


@click.command()
@click.argument("program", type=click.Path(path_type=Path))
@click.option("--after", type=click.Choice(PASS_NAMES), help="Print the form after this pass.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMAT_NAMES),
    default="msopgen",
    show_default=True,
    help="What to emit.",
)
@click.option(
    "--static",
    metavar="SHAPES",
    help="Tiling as constants: shapes of the inputs and values of attributes, "
    '"x=128x1024 eps=1e-5".',
)
@click.option("--soc", default="910b2", show_default=True, help="Chip to compile for.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for the files; else print the kernel."
)
@force_option
@json_option
def lower(
    program: Path,
    after: str | None,
    form: str,
    static: str | None,
    soc: str,
    out: Path | None,
    force: bool,
    json_out: str | None,
) -> int:
    """Compile the tile program PROGRAM to AscendC."""
    from npuforge.lower.compiler import lower as compile_program  # noqa: PLC0415 (--help)
    from npuforge.lower.formats import emit, find  # noqa: PLC0415
    from npuforge.lower.passes import show  # noqa: PLC0415
    from npuforge.result_folder import write_folder  # noqa: PLC0415
    from npuforge.tile.source import TileError  # noqa: PLC0415

    source = read_input(program, _MOST_BYTES)
    try:
        if after is not None:
            _print(show(source, after, soc), json_out)
        else:
            lowered = compile_program(source, soc)
            baked = _baked(lowered, static) if static is not None else None
            files = emit(lowered, form, baked=baked)
            if out is not None:
                write_folder(out, files, force=force)
                _print("".join(f"{out / name}\n" for name in files), json_out)
            else:
                _print(files[find(form).kernel.format(lowered.program.name)], json_out)
    except TileError as error:
        _report(error.findings, program, source, json_out)
        _verdict(program, soc, error.findings, json_out)
        return 1
    _verdict(program, soc, [], json_out)
    return 0


def _print(text: str, json_out: str | None) -> None:
    if json_out != "-":
        say(text, line=False)


def _baked(lowered: Lowered, static: str) -> Baked:
    """The tiling for the shapes and attributes that `--static` names."""
    from npuforge.lower.formats.baked import bake  # noqa: PLC0415
    from npuforge.tile.expr import Type  # noqa: PLC0415

    host = lowered.program.host
    tensors = {tensor.name for tensor in host.inputs}
    types = {attribute.name: attribute.type for attribute in host.attributes}
    shapes: dict[str, tuple[int, ...]] = {}
    attributes: dict[str, Number] = {}
    for word in static.split():
        name, _, value = word.partition("=")
        try:
            if name in tensors:
                shapes[name] = tuple(int(extent) for extent in re.split("[x,]", value) if extent)
            elif name in types and types[name] is Type.BOOL:
                attributes[name] = {"true": True, "false": False}[value.lower()]
            elif name in types:
                attributes[name] = int(value) if types[name] is Type.INT else float(value)
            else:
                known = ", ".join([*tensors, *types])
                raise UsageError(f"--static: no input or attribute {name!r}; there are {known}")
        except (ValueError, KeyError):
            raise UsageError(f"--static: {word!r} is not NAME=128x1024 or NAME=VALUE") from None
    if any(extent < 0 for shape in shapes.values() for extent in shape):
        raise UsageError("--static: extents are not negative")
    return bake(lowered, shapes, attributes)


def _report(findings: list[Finding], program: Path, source: bytes, json_out: str | None) -> None:
    """One line for each finding; on a terminal with colours and the source line."""
    from rich.markup import escape  # noqa: PLC0415 (rich is slow to import)

    from npuforge.cli.console import SafeConsole  # noqa: PLC0415

    if json_out == "-":
        return
    out = SafeConsole(stderr=True)
    if not out.is_terminal:
        for finding in findings:
            say(finding.line_text(str(program)), err=True)
        return
    lines = source.decode("utf-8", errors="replace").splitlines()
    for finding in findings:
        span = finding.span
        place = escape(f"{program}:{span.line}:{span.column}:")
        out.print(f"[bold]{place}[/] [red]{finding.rule}[/] {escape(finding.message)}")
        if span.line <= len(lines) and lines[span.line - 1].strip():
            text = lines[span.line - 1].rstrip()
            last = span.end_column if span.end_line == span.line else len(text) + 1
            marks = " " * (span.column - 1) + "^" * max(1, last - span.column)
            out.print(f"[dim]{span.line:5} |[/] {escape(text)}")
            out.print(f"{'':5} [dim]|[/] [red]{marks}[/]")
        out.print(f"    [green]fix:[/] {escape(finding.fix)}")


def _verdict(program: Path, soc: str, findings: list[Finding], json_out: str | None) -> None:
    from npuforge.verdict import Verdict, Violation  # noqa: PLC0415

    if json_out is None:
        return
    violations = [
        Violation(found.rule, "error", str(program), found.span.line, found.message, found.fix)
        for found in findings
    ]
    verdict = Verdict(program.stem, soc=soc, compiled=not findings, violations=violations)
    write_json(verdict.to_json(), json_out)
