# SPDX-License-Identifier: Apache-2.0
"""`npuforge compare`: what changed between two runs of a benchmark."""

from __future__ import annotations

from pathlib import Path

import click

from npuforge.cli.output import console, json_option, threshold_option, write_json, write_text


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@threshold_option
@click.option("--html", "html_out", metavar="OUT", help="Write a page to OUT.")
@json_option
def compare(a: Path, b: Path, threshold: float, html_out: str | None, json_out: str | None) -> None:
    """What changed from run A to run B: folders of runs, or files that bench wrote with --json
    or --keep.

    Exit status 0 says that both could be read, whatever changed.
    """
    from npuforge.bench.report import compare as comparing  # noqa: PLC0415 (--help needs none)
    from npuforge.bench.report.compare_page import comparison_html  # noqa: PLC0415
    from npuforge.bench.report.compare_table import comparison_table  # noqa: PLC0415
    from npuforge.bench.report.run import read  # noqa: PLC0415

    found = comparing.compare(read(a), read(b), threshold)
    if html_out is not None:
        write_text(comparison_html(found), html_out)
    if json_out is not None:
        write_json(comparing.to_json(found), json_out)
    if json_out != "-":
        console(json_out).print(comparison_table(found))
