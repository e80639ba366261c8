# SPDX-License-Identifier: Apache-2.0
"""`npuforge evaluate`: how often a model's answers compile and are correct, by level.

Three steps, so that the middle one can run where the GPU is: prompts, sample, score.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from npuforge.errors import UsageError

if TYPE_CHECKING:
    from npuforge.train.evaluate.score import Scored

_FILE = click.Path(path_type=Path, dir_okay=False)
_PATH = click.option("--path", type=click.Path(path_type=Path), help="The suite's checkout.")


@click.group()
def evaluate() -> None:
    """CR and ER at k of a model, on operators it was not trained on."""


@evaluate.command()
@click.argument("suite")
@_PATH
@click.option("--out", type=_FILE, required=True, help="Prompts, one a line.")
def prompts(suite: str, path: Path | None, out: Path) -> None:
    """Capture the tasks of SUITE and write what a model is asked."""
    from npuforge.train.evaluate.problems import problems  # noqa: PLC0415 (imports torch)
    from npuforge.train.evaluate.prompts import prompts as asked  # noqa: PLC0415

    with out.open("wb") as file:
        for prompt in asked(problems(suite, path)):
            file.write(msgspec.json.encode(prompt) + b"\n")
            file.flush()
            click.echo(f"{prompt.name}: {prompt.problem or prompt.structure}")


@evaluate.command()
@click.argument("model")
@click.argument("asked", type=_FILE, nargs=-1, required=True)
@click.option("--out", type=_FILE, required=True, help="Answers, one task a line.")
@click.option("--samples", type=click.IntRange(1), default=10, show_default=True)
@click.option("--temperature", type=float, default=0.6, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
def sample(
    model: str, asked: tuple[Path, ...], out: Path, samples: int, temperature: float, seed: int
) -> None:
    """Have MODEL answer the prompts of ASKED."""
    from npuforge.train.evaluate.prompts import Prompt  # noqa: PLC0415
    from npuforge.train.evaluate.sample import Sampling, read_lines  # noqa: PLC0415
    from npuforge.train.evaluate.sample import sample as draw  # noqa: PLC0415

    known = [prompt for file in asked for prompt in read_lines(file, Prompt)]
    how = Sampling(samples=samples, temperature=temperature, seed=seed)
    tokens = 0
    with out.open("wb") as file:
        for number, answers in enumerate(draw(model, known, how), 1):
            file.write(msgspec.json.encode(answers) + b"\n")
            tokens += answers.tokens
            click.echo(f"{number} {answers.name}: {answers.tokens} tokens, {answers.cut} cut off")
    click.echo(f"{tokens} tokens: {out}")


@evaluate.command()
@click.argument("suite")
@click.argument("answered", type=_FILE)
@_PATH
@click.option("--out", type=_FILE, required=True, help="Counts, one task a line; resumed.")
@click.option("--levels", default="1,2,3", show_default=True)
def score(suite: str, answered: Path, path: Path | None, out: Path, levels: str) -> None:
    """Judge the answers of ANSWERED to the tasks of SUITE on the twin."""
    from npuforge.train.evaluate.problems import problems  # noqa: PLC0415
    from npuforge.train.evaluate.sample import Answers, read_lines  # noqa: PLC0415
    from npuforge.train.evaluate.score import Scored  # noqa: PLC0415
    from npuforge.train.evaluate.score import score as judge  # noqa: PLC0415

    wanted = {int(level) for level in levels.split(",")}
    answers = {one.name: one for one in read_lines(answered, Answers) if one.suite == suite}
    if not answers:
        raise UsageError(f"{answered} has no answers to {suite}")
    found = {one.name: one for one in read_lines(out, Scored)} if out.exists() else {}
    with out.open("ab") as file:
        for problem in problems(suite, path):
            if problem.task.level not in wanted or problem.name in found:
                continue
            if problem.name not in answers:
                continue
            scored = judge(problem, answers[problem.name])
            found[problem.name] = scored
            file.write(msgspec.json.encode(scored) + b"\n")
            file.flush()
            click.echo(_line(scored))
    _table(list(found.values()))


def _line(scored: Scored) -> str:
    counted = f"{scored.compiled} compiled, {scored.correct} correct of {scored.samples}"
    first = max(scored.problems, key=scored.problems.__getitem__, default="")
    return f"{scored.name}: {scored.failure or counted} {first[:100]}"


def _table(scored: list[Scored]) -> None:
    from npuforge.train.evaluate.score import at_k, by_level  # noqa: PLC0415

    click.echo("level tasks  k  CR            ER")
    for level, own in [*by_level(scored).items(), (None, scored)]:
        for k in (1, 10):
            rates = [at_k(own, k, kind) for kind in ("compiled", "correct")]
            if rates[0].value is None:
                continue
            shown = "  ".join(
                f"{100 * (rate.value or 0):5.1f} [{100 * (rate.low or 0):.0f}-"
                f"{100 * (rate.high or 0):.0f}]"
                for rate in rates
            )
            click.echo(f"{level or 'all':>5} {len(own):5} {k:2}  {shown}")
