# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.counters`: figures of the repository, kept ones beside them, and places."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click
import msgspec
from rich.console import Console
from tools.counters import ratchet
from tools.counters.figures import Figures, figures, places
from tools.counters.table import comparison, table
from tools.counters.tree import checked_out, sources

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_name("kept.json")
_WIDTH = 140
_KINDS = click.Choice(("docstrings", "patterns", "tile_lines"))


@click.command()
@click.option("--commit", metavar="REVISION", help="Count the files of a commit, not those here.")
@click.option("--deep", is_flag=True, help="Folders below packages, too.")
@click.option("--json", "out", metavar="OUT", help='Write JSON to OUT; "-" is standard output.')
@click.option("--compare", is_flag=True, help="Show what differs from the kept figures.")
@click.option("--places", "kind", type=_KINDS, help="List each place of a kind with its line.")
@click.option("--tighten", is_flag=True, help="Lower the limits that are not reached.")
def counters(
    commit: str | None, deep: bool, out: str | None, compare: bool, kind: str | None, tighten: bool
) -> None:
    """Count lines, words, regular expressions, tile code in literals and imports."""
    console = Console(width=_WIDTH, highlight=False, stderr=out == "-")
    with ExitStack() as held:
        root = ROOT if commit is None else held.enter_context(checked_out(ROOT, commit))
        found = sources(root)
    if kind is not None:
        for rows in getattr(places(found), kind).values():
            for place in rows:
                click.echo(str(place))
        return
    if tighten:
        lowered = ratchet.tightened(places(found), ratchet.limits())
        ratchet.FILE.write_text(ratchet.text(lowered), "utf-8")
        return
    now = figures(found)
    if out is not None:
        command = f"python -m tools.counters --commit {commit}" if commit else ""
        content = {"command": command, **msgspec.to_builtins(now)}
        text = msgspec.json.format(msgspec.json.encode(content)).decode() + "\n"
        click.echo(text, nl=False) if out == "-" else Path(out).write_text(text, "utf-8")
    if compare:
        console.print(comparison(msgspec.json.decode(KEPT.read_bytes(), type=Figures), now))
    elif out != "-":
        console.print(table(now, deep=deep))


if __name__ == "__main__":
    counters()
