# SPDX-License-Identifier: Apache-2.0
"""`npuforge knowledge`: what kernels taught, searched, added, distilled, taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from npuforge.cli.isolation import isolation_option
from npuforge.cli.model_options import asking_options, open_client
from npuforge.cli.output import console, json_option, say, write_json, write_text
from npuforge.errors import UsageError

if TYPE_CHECKING:
    from npuforge.knowledge.distill import Step
    from npuforge.knowledge.entry import Entry
    from npuforge.knowledge.retrieve import Axes, Form
    from npuforge.knowledge.situation import Situation
    from npuforge.knowledge.store import State, Store
    from npuforge.language import Language

Command = TypeVar("Command", bound=Callable[..., Any])
_FILES = click.Path(path_type=Path, exists=True)
_STATES = click.Choice(("active", "unverified", "broken", "purged", "superseded"))


def _store_option(command: Command) -> Command:
    return click.option(
        "--store",
        "path",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Store to use; else NPUFORGE_KNOWLEDGE, else your own.",
    )(command)


@click.group()
def knowledge() -> None:
    """Entries of knowledge about kernels, each with programs that ran on the twin."""


@knowledge.command()
@click.argument("words", nargs=-1, required=True)
@_store_option
@click.option(
    "--language",
    type=click.Choice(("ascendc", "tile")),
    default="ascendc",
    show_default=True,
    help="Of the programs.",
)
@click.option("--operator", "operators", multiple=True, help="What the operator is made of.")
@click.option("--dtype", "dtypes", multiple=True, help="An element type of its tensors.")
@click.option("--soc", default="", help="The chip.")
@click.option("--fact", "facts", multiple=True, metavar="NAME=NUMBER", help="Such as row=4096.")
@click.option("--exclude", multiple=True, metavar="ID", help="An entry that did not help.")
@click.option("--top", type=click.IntRange(min=1), default=6, show_default=True, help="How many.")
@click.option(
    "--axes",
    type=click.Choice(("both", "identifiers", "meaning")),
    default="both",
    show_default=True,
    help="What to rank by.",
)
@click.option(
    "--form",
    type=click.Choice(("entry", "plain")),
    default="entry",
    show_default=True,
    help="With the programs, or only what is said.",
)
@json_option
def search(
    words: Sequence[str],
    path: Path | None,
    language: Language,
    operators: Sequence[str],
    dtypes: Sequence[str],
    soc: str,
    facts: Sequence[str],
    exclude: Sequence[str],
    top: int,
    axes: Axes,
    form: Form,
    json_out: str | None,
) -> None:
    """Entries for WORDS: names of calls and rules, an error message, a description."""
    from npuforge.cli.knowledge_show import as_json, served  # noqa: PLC0415 (--help needs none)
    from npuforge.knowledge.embed import choose  # noqa: PLC0415
    from npuforge.knowledge.index import Index  # noqa: PLC0415
    from npuforge.knowledge.query import Query  # noqa: PLC0415
    from npuforge.knowledge.retrieve import retrieve  # noqa: PLC0415

    situation = _situation(language, operators, dtypes, soc, facts)
    text = " ".join(words)
    with _opened(path) as store:
        query = Query(text, text, situation, frozenset(exclude))
        found = retrieve(Index(store, choose()), query, top, axes)
    if json_out is not None:
        write_json(as_json([served(one, form) for one in found]), json_out)
    if json_out == "-":
        return
    out = console(json_out)
    for one in found:
        ranks = f"names {one.name_rank or '-'}, meaning {one.meaning_rank or '-'}"
        out.print(f"[bold]{one.entry.id}[/bold]  {one.score:.4f} ({ranks})", end="\n\n")
        out.print(one.shown(form), markup=False, end="\n\n")
    if not found:
        out.print("nothing is known about that")


@knowledge.command()
@click.argument("entry_id", metavar="ID")
@_store_option
@click.option("--history", is_flag=True, help="Also every change, and what came of its uses.")
@json_option
def show(entry_id: str, path: Path | None, history: bool, json_out: str | None) -> None:
    """One entry as it is written in files."""
    from npuforge.cli.knowledge_show import as_json, changes, held_entry  # noqa: PLC0415
    from npuforge.knowledge.outcomes import record_of  # noqa: PLC0415
    from npuforge.knowledge.text import dump  # noqa: PLC0415

    with _opened(path) as store:
        held = store.get(entry_id)
        log, record = store.changes(entry=entry_id), record_of(store, entry_id)
    if json_out is not None:
        write_json(as_json(held_entry(held, log, record)), json_out)
    if json_out == "-":
        return
    out = console(json_out)
    if held.state != "active":
        out.print(f"# {held.state}", markup=False)
    out.print(dump(held.entry), markup=False, end="")
    if history:
        out.print(changes(log), markup=False, end="")
        for use in record.uses:
            line = f"use: {use.effect} on {use.task} ({use.cause_before} -> {use.cause_after})"
            out.print(line, markup=False)


@knowledge.command()
@click.argument("files", nargs=-1, required=True, type=_FILES)
@_store_option
@isolation_option
def add(files: Sequence[Path], path: Path | None) -> None:
    """Run the entries in FILES on the twin and take them in; one that is not so ends it."""
    from npuforge.knowledge.store import Put  # noqa: PLC0415
    from npuforge.knowledge.text import read  # noqa: PLC0415
    from npuforge.knowledge.verify import verified  # noqa: PLC0415

    found = [read(file) for file in files]
    with _opened(path) as store:
        for entry in found:
            proven = verified(entry)
            batch = store.change("add", "by hand", [Put(proven)])
            assert proven.evidence is not None
            said = f"{entry.id}: {_measured(proven)}"
            say(said if batch is not None else f"{said} (it was there already)")


@knowledge.command(name="import")
@click.argument("paths", nargs=-1, required=True, type=_FILES)
@_store_option
@click.option("--later", is_flag=True, help="Do not run them now: kept, but not served.")
@isolation_option
def import_(paths: Sequence[Path], path: Path | None, later: bool) -> int:
    """Take in entries from files and folders; the ones that are not so are named and left out."""
    from npuforge.knowledge.store import Put  # noqa: PLC0415
    from npuforge.knowledge.text import read  # noqa: PLC0415
    from npuforge.knowledge.verify import RefusedError, verified  # noqa: PLC0415

    files = [
        file for one in paths for file in (sorted(one.glob("*.md")) if one.is_dir() else [one])
    ]
    if not files:
        raise UsageError("there is no entry (*.md) in the folder")
    found = [read(file) for file in files]
    taken = refused = 0
    with _opened(path) as store:
        for entry in found:
            try:
                put = Put(entry, "unverified") if later else Put(verified(entry))
            except RefusedError as error:
                say(str(error), err=True)
                refused += 1
                continue
            store.change("import", "from a file", [put])
            taken += 1
    kept = "kept for later" if later else "taken in"
    say(f"{taken} {kept}, {refused} refused")
    return 1 if refused else 0


@knowledge.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@_store_option
@click.option("--state", type=_STATES, default="active", show_default=True, help="Which ones.")
def export(folder: Path, path: Path | None, state: State) -> None:
    """Write entries to FOLDER, a file each."""
    from npuforge.knowledge.text import dump  # noqa: PLC0415

    with _opened(path) as store:
        found = store.entries(state)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error.strerror}") from None
    for held in found:
        write_text(dump(held.entry), str(folder / f"{held.entry.id}.md"))
    say(f"{len(found)} entries written to {folder}")


@knowledge.command()
@_store_option
@click.option(
    "--step",
    "steps",
    multiple=True,
    type=click.Choice(("broken", "misapplied", "flawed", "idle", "conflict", "redundant")),
    help="Only these steps; else all.",
)
@click.option("--all", "everything", is_flag=True, help="Run every entry again on the twin.")
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be done.")
@click.option("--ask", is_flag=True, help="Ask a model where rules cannot decide.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("knowledge.exchanges.jsonl"),
    show_default=True,
    help="Where exchanges with the model are kept.",
)
@asking_options
@isolation_option
@json_option
def distill(
    path: Path | None,
    steps: Sequence[Step],
    everything: bool,
    dry: bool,
    ask: bool,
    record: Path,
    json_out: str | None,
    **asked: Any,
) -> None:
    """Judge entries by their effect: purge, bound, settle, merge. Every change can be undone."""
    from npuforge.cli.knowledge_show import as_json, decision_of  # noqa: PLC0415
    from npuforge.knowledge import distill as steps_of  # noqa: PLC0415
    from npuforge.knowledge.distill.judge import Judge  # noqa: PLC0415
    from npuforge.knowledge.embed import choose  # noqa: PLC0415
    from npuforge.knowledge.index import Index  # noqa: PLC0415

    out = console(json_out)
    with ExitStack() as held:
        judge = None
        if ask or asked["replay"] is not None:
            client = held.enter_context(open_client(asked, record))
            judge = Judge(client, asked["prompts"])
        store = held.enter_context(_opened(path))
        bench = steps_of.Bench(store, Index(store, choose()), judge)
        taken = []
        for one in steps_of.distill(bench, steps or steps_of.STEPS, dry=dry, everything=everything):
            taken.append(one)
            if json_out != "-":
                line = f"{one.kind}: {one.action} {', '.join(one.entries)}: {one.why}"
                out.print(line, markup=False)
    if json_out is not None:
        write_json(as_json([decision_of(one) for one in taken]), json_out)
    if json_out != "-" and not taken:
        out.print("nothing to change")


@knowledge.command()
@_store_option
@json_option
def stats(path: Path | None, json_out: str | None) -> None:
    """What is in the store, and what came of it."""
    from npuforge.cli.knowledge_show import as_json, figures, figures_table  # noqa: PLC0415
    from npuforge.knowledge.embed import choose  # noqa: PLC0415

    with _opened(path) as store:
        found = figures(store, choose().name)
    if json_out is not None:
        write_json(as_json(found), json_out)
    if json_out != "-":
        console(json_out).print(figures_table(found))


@knowledge.command()
@click.argument("number", type=int, required=False)
@_store_option
@click.option("--list", "listed", is_flag=True, help="Only list the last changes.")
def undo(number: int | None, path: Path | None, listed: bool) -> None:
    """Take back change NUMBER, or the last one."""
    from npuforge.cli.knowledge_show import changes  # noqa: PLC0415

    with _opened(path) as store:
        if listed:
            say(changes(store.changes(last=30)), line=False)
            return
        undone = store.undo(number)
    say(f"taken back: {undone[0].action} of {', '.join(one.entry for one in undone)}")


@knowledge.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@_store_option
@isolation_option
def verify(ids: Sequence[str], path: Path | None) -> int:
    """Run entries again: the named ones, or all that are active, broken or not yet run."""
    from npuforge.knowledge.store import Put  # noqa: PLC0415
    from npuforge.knowledge.verify import RefusedError, verified  # noqa: PLC0415

    states: tuple[State, ...] = ("active", "broken", "unverified")
    failed = 0
    with _opened(path) as store:
        found = [store.get(name) for name in ids] or [
            held for state in states for held in store.entries(state)
        ]
        for held in found:
            if held.state not in states:
                raise UsageError(f"{held.entry.id} is {held.state}: undo that first")
            try:
                proven = verified(held.entry)
            except RefusedError as error:
                say(str(error), err=True)
                store.change("broken", str(error), [Put(held.entry, "broken")])
                failed += 1
                continue
            store.change("verify", "it ran again", [Put(proven)])
            say(f"{held.entry.id}: {_measured(proven)}")
    return 1 if failed else 0


@contextmanager
def _opened(path: Path | None) -> Iterator[Store]:
    from npuforge.knowledge.shipped import open_store  # noqa: PLC0415

    with open_store(path) as store:
        yield store


def _situation(
    language: Language,
    operators: Sequence[str],
    dtypes: Sequence[str],
    soc: str,
    facts: Sequence[str],
) -> Situation:
    from npuforge.dtypes import find  # noqa: PLC0415
    from npuforge.knowledge.situation import Situation  # noqa: PLC0415
    from npuforge.knowledge.words import words  # noqa: PLC0415
    from npuforge.soc.data import load_soc  # noqa: PLC0415

    known = words()
    for operator in operators:
        if operator not in known.operators:
            raise UsageError(f"no operator {operator!r}; there are {', '.join(known.operators)}")
    numbers = {}
    for fact in facts:
        name, _, value = fact.partition("=")
        if name not in known.facts or not value.isdigit():
            raise UsageError(f"no fact {fact!r}; one is NAME=NUMBER of {', '.join(known.facts)}")
        numbers[name] = int(value)
    return Situation(
        language=language,
        operators=tuple(operators),
        dtypes=tuple(find(dtype).name for dtype in dtypes),
        soc=load_soc(soc).soc if soc else "",
        facts=numbers,
    )


def _measured(entry: Entry) -> str:
    evidence = entry.evidence
    assert evidence is not None
    before = f"before, {evidence.before}; " if evidence.before else ""
    ratio = f", {evidence.ratio:g} times as fast" if evidence.ratio is not None else ""
    return f"{before}after, {evidence.after}{ratio}"
