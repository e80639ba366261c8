# SPDX-License-Identifier: Apache-2.0
"""`npuforge train`: a tokenizer, then supervised, preference and reward training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from npuforge.cli.isolation import isolation_option
from npuforge.cli.output import console, json_option, write_json
from npuforge.fileformat import TRAINING_RUN

if TYPE_CHECKING:
    from npuforge.train.runs import Request, Run

Command = TypeVar("Command", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path, dir_okay=False)
_TWIN = "npuforge.train.judge:TwinJudge"
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group()
def train() -> None:
    """Train a model that writes kernels.

    Start several GPUs with `accelerate launch -m npuforge.cli train ...`.
    """


def _run_options(command: Command) -> Command:
    for option in reversed(
        (
            click.argument("data", nargs=-1, required=True, type=_FILE),
            click.option(
                "--model",
                required=True,
                metavar="MODEL",
                help="A folder, a .gguf file, or a configuration to begin from nothing.",
            ),
            click.option("--tokenizer", type=_FOLDER, help="Where the model brings none."),
            click.option("--out", required=True, type=_FOLDER, help="The run's folder."),
            click.option(
                "--recipe",
                "recipe_name",
                default="paper",
                show_default=True,
                metavar="NAME|FILE",
                help="Hyper-parameters: paper, embedded, or a TOML file.",
            ),
            click.option(
                "--set",
                "changes",
                multiple=True,
                metavar="KEY=VALUE",
                help="Another value of the recipe.",
            ),
            click.option("--lora", is_flag=True, help="Train an adapter, not the whole model."),
            click.option("--resume", is_flag=True, help="Go on from the last checkpoint."),
            click.option(
                "--limit",
                "limit_s",
                type=click.FloatRange(min=0, min_open=True),
                metavar="SECONDS",
                help="Stop with a checkpoint after so long.",
            ),
            json_option,
        )
    ):
        command = option(command)
    return command


@train.command()
@click.argument("data", nargs=-1, required=True, type=_FILE)
@click.option("--vocab", type=click.IntRange(min=1), default=2048, show_default=True, help="Size.")
@click.option("--out", required=True, type=_FOLDER, help="The tokenizer's folder.")
@json_option
def tokenizer(data: tuple[Path, ...], vocab: int, out: Path, json_out: str | None) -> int:
    """Fit a tokenizer to the messages of DATA (JSON lines)."""
    import msgspec  # noqa: PLC0415

    from npuforge.train.tokenizer import fit  # noqa: PLC0415

    found = fit(data, vocab, out)
    if json_out is not None:
        write_json(msgspec.json.encode(found).decode(), json_out)
    if json_out != "-":
        console(json_out).print(
            f"{out}: {found['vocabulary']} tokens, {found['bytes_per_token']} bytes a token"
        )
    return 0


@train.command()
@_run_options
@click.option("--eval", "held_out", multiple=True, type=_FILE, help="Records held out.")
def sft(
    recipe_name: str,
    changes: tuple[str, ...],
    held_out: tuple[Path, ...],
    json_out: str | None,
    **fields: Any,
) -> int:
    """Train on the conversations of DATA (JSON lines with `messages`)."""
    from npuforge.train.recipe import Sft, load  # noqa: PLC0415
    from npuforge.train.sft import train as train_sft  # noqa: PLC0415

    recipe = load(Sft, recipe_name, changes)
    return _report(train_sft(_request(fields), recipe, held_out), fields["out"], json_out)


@train.command()
@_run_options
def dpo(recipe_name: str, changes: tuple[str, ...], json_out: str | None, **fields: Any) -> int:
    """Train on the pairs of DATA (JSON lines with `prompt`, `chosen`, `rejected`)."""
    from npuforge.train.dpo import train as train_dpo  # noqa: PLC0415
    from npuforge.train.recipe import Dpo, load  # noqa: PLC0415

    recipe = load(Dpo, recipe_name, changes)
    return _report(train_dpo(_request(fields), recipe), fields["out"], json_out)


@train.command()
@_run_options
@click.option("--samples", type=click.IntRange(min=2), help="Answers to each prompt.")
@click.option("--judges", type=click.IntRange(min=1), default=2, show_default=True, help="At once.")
@click.option(
    "--judge",
    default=_TWIN,
    show_default=True,
    metavar="MODULE:CLASS",
    help="Who judges the answers.",
)
@isolation_option
def grpo(
    recipe_name: str,
    changes: tuple[str, ...],
    samples: int | None,
    judges: int,
    judge: str,
    json_out: str | None,
    **fields: Any,
) -> int:
    """Train on the tasks of DATA (JSON lines with `prompt`, `task`), whose answers are judged."""
    from npuforge.train.grpo import train as train_grpo  # noqa: PLC0415
    from npuforge.train.recipe import Grpo, load  # noqa: PLC0415

    if samples is not None:
        changes = (*changes, f"samples={samples}")
    run = train_grpo(_request(fields), load(Grpo, recipe_name, changes), judges, judge)
    return _report(run, fields["out"], json_out)


def _request(fields: dict[str, Any]) -> Request:
    from npuforge.train.runs import Request  # noqa: PLC0415

    return Request(**{**fields, "data": list(fields["data"])})


def _report(run: Run, out: Path, json_out: str | None) -> int:
    from npuforge.train.runs import main_process  # noqa: PLC0415

    if main_process():
        if json_out is not None:
            write_json(TRAINING_RUN.encode(run).decode(), json_out)
        if json_out != "-":
            loss = run.final.get("train_loss", float("nan"))
            console(json_out).print(
                f"{out}: {run.status} after {run.steps} steps and {run.seconds:.0f} s,"
                f" mean loss {loss:.4g}"
            )
            if run.status == "interrupted":
                console(json_out).print("go on with --resume")
    return 0 if run.status == "finished" else 130


@train.command()
@click.argument("model")
@click.argument("out", type=_FOLDER)
@click.option("--tokenizer", required=True, type=_FOLDER, help="The vocabulary it gets.")
@click.option(
    "--layers",
    type=click.IntRange(min=2),
    help="How many it has then; as many as before without it.",
)
def graft(model: str, out: Path, tokenizer: Path, layers: int | None) -> int:
    """Put MODEL on a tokenizer of kernels, with fewer or more layers: the folder OUT, to train."""
    from npuforge.train import graft as grafting  # noqa: PLC0415 (--help needs none of this)

    made = grafting.graft(model, tokenizer, layers, out)
    console(None).print(
        f"{out}: {made.parameters / 1e6:.1f} million parameters, {len(made.layers)} layers,"
        f" {made.known} tokens that it knew"
    )
    return 0


@train.command()
@click.argument("folder", type=_FOLDER)
@click.argument("out", type=_FILE)
@click.option(
    "--weights",
    type=click.Choice(("q8_0", "f16")),
    default="q8_0",
    show_default=True,
    help="Eight bits a weight, or sixteen.",
)
def export(folder: Path, out: Path, weights: str) -> int:
    """Make FOLDER, a trained Llama, the file OUT (GGUF) that `generate --strategy lm` runs."""
    from npuforge.train import export as exporting  # noqa: PLC0415 (--help needs none of this)

    exporting.export(folder, out, "f16" if weights == "f16" else "q8_0")
    console(None).print(f"{out}: {out.stat().st_size / 2**20:.1f} MiB")
    return 0
