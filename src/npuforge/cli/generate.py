# SPDX-License-Identifier: Apache-2.0
"""`npuforge generate`: a PyTorch module to a proven operator."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from npuforge.cli.isolation import isolation_option
from npuforge.cli.lower import FORMAT_NAMES
from npuforge.cli.model_options import (
    asked_for,
    drawn_option,
    embedded_settings,
    generate_options,
    model_options,
    open_client,
    open_knowledge,
)
from npuforge.cli.output import console, force_option, json_option, say, write_json


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--strategy",
    type=click.Choice(("planner", "tile", "ascendc", "refine", "lm")),
    default="planner",
    show_default=True,
    help="Who writes the program.",
)
@click.option(
    "--target",
    type=click.Choice(("twin",)),
    default="twin",
    show_default=True,
    expose_value=False,
    help="Where it is proven and timed.",
)
@click.option("--soc", default="910b2", show_default=True, help="Chip to generate for.")
@click.option(
    "--format",
    "form",
    type=click.Choice([name for name in FORMAT_NAMES if name != "npukb-kernel"]),
    default="msopgen",
    show_default=True,
    help="Form of the operator.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write; else NAME_op beside you."
)
@force_option
@click.option(
    "--tune",
    "tune_s",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=8.0,
    show_default=True,
    help="How long to try variants.",
)
@click.option("--quiet", is_flag=True, help="No progress.")
@generate_options
@model_options
@drawn_option("--samples")
@isolation_option
@json_option
def generate(
    file: Path,
    strategy: str,
    soc: str,
    form: str,
    out: Path | None,
    force: bool,
    tune_s: float,
    quiet: bool,
    json_out: str | None,
    **asked: Any,
) -> int:
    """Generate an operator from FILE and prove it.

    FILE is a Python file with Model, get_inputs and get_init_inputs, or a description in TOML.
    With `tile`, `ascendc` and `refine` a language model writes; its exchanges are recorded beside
    the result. `lm` is a small model on this machine.
    """
    from npuforge.cli.progress import Progress, summary  # noqa: PLC0415 (--help needs none of this)
    from npuforge.generate.api import generate as run  # noqa: PLC0415
    from npuforge.generate.interrupts import STATUS, Interrupts  # noqa: PLC0415
    from npuforge.spec.session import operator_name  # noqa: PLC0415

    place = out or Path(f"{operator_name(file.stem)}_op")
    with ExitStack() as held:
        interrupts = held.enter_context(Interrupts())
        writer: Any = strategy
        if strategy == "lm":
            from npuforge.generate.lm.settings import lm_writer  # noqa: PLC0415

            writer = held.enter_context(lm_writer(embedded_settings(asked)))
        elif strategy != "planner":
            from npuforge.generate.written.strategy import writer_for  # noqa: PLC0415

            wanted = asked_for(strategy, asked)
            record = place.with_name(f"{place.name}.exchanges.jsonl")
            client = held.enter_context(open_client(asked, record))
            writer = writer_for(wanted, client, held.enter_context(open_knowledge(asked)))
        outcome = run(
            file,
            soc=soc,
            form=form,
            strategy=writer,
            tune_s=tune_s,
            out=place,
            force=force,
            observer=held.enter_context(Progress(quiet=quiet)),
            interrupts=interrupts,
        )
        if json_out is not None:
            write_json(outcome.verdict.to_json(), json_out)
        if json_out != "-":
            summary(outcome, place, console(json_out))
        if interrupts.asked:
            say(f"npuforge: interrupted; the best program so far is in {place}", err=True)
    return STATUS if interrupts.asked else outcome.verdict.exit_status
