# SPDX-License-Identifier: Apache-2.0
"""`npuforge evaluate`: how often a model's answers compile and are correct, by level.

Three steps, so that the middle one can run where the GPU is: prompts, sample, score.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from npuforge.cli.isolation import isolation_option
from npuforge.cli.jobs import jobs_option
from npuforge.cli.output import grown_file, new_file, say
from npuforge.cli.values import NumberOrInfinity
from npuforge.errors import UsageError
from npuforge.fileformat import RECORD

if TYPE_CHECKING:
    from npuforge.bench.metrics.estimators import Estimate
    from npuforge.train.evaluate.score import Scored

_FILE = click.Path(path_type=Path, dir_okay=False)
_PATH = click.option("--path", type=click.Path(path_type=Path), help="The suite's checkout.")


class _Numbers(click.ParamType[frozenset[int]]):
    """Whole numbers, commas between them."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[int]:
        try:
            return frozenset(int(one) for one in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers", param, ctx)


@click.group()
def evaluate() -> None:
    """CR and ER at k of a model, on operators it was not trained on."""


@evaluate.command()
@click.argument("suite")
@_PATH
@click.option("--out", type=_FILE, required=True, help="Prompts, one a line; a new file.")
@isolation_option
def prompts(suite: str, path: Path | None, out: Path) -> None:
    """Capture the tasks of SUITE and write what a model is asked.

    Lines `STRUCTURE SUITE NAME` say what training has to avoid.
    """
    from npuforge.train.evaluate.problems import problems  # noqa: PLC0415 (imports torch)
    from npuforge.train.evaluate.prompts import prompts as asked  # noqa: PLC0415

    known = problems(suite, path)
    with new_file(out) as file:
        for prompt in asked(known):
            file.write(RECORD.encode(prompt) + b"\n")
            file.flush()
            if prompt.problem:
                say(f"{prompt.name}: {prompt.problem}", err=True)
            else:
                say(f"{prompt.structure} {suite} {prompt.name}")


@evaluate.command()
@click.argument("model")
@click.argument("asked", type=_FILE, nargs=-1, required=True)
@click.option("--out", type=_FILE, required=True, help="Answers, one task a line; resumed.")
@click.option(
    "--samples", type=click.IntRange(1), default=10, show_default=True, help="Answers a task."
)
@click.option(
    "--temperature",
    type=NumberOrInfinity(0.01),
    default=0.6,
    show_default=True,
    help="Above 0.6 completions differ more, below less; `inf` draws uniformly.",
)
@click.option(
    "--top-p",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    default=0.95,
    show_default=True,
    help="Draw from the likeliest tokens that have this probability together.",
)
@click.option(
    "--most-tokens",
    type=click.IntRange(1),
    default=2048,
    show_default=True,
    help="Where an answer is cut off.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="What is drawn with.")
@click.option(
    "--constrained/--free",
    default=True,
    show_default=True,
    help="Draw under the language's grammar, and have the compiler reject lines that cannot stand.",
)
@jobs_option
def sample(
    model: str,
    asked: tuple[Path, ...],
    out: Path,
    samples: int,
    temperature: float,
    top_p: float,
    most_tokens: int,
    seed: int,
    constrained: bool,
    jobs: int,
) -> None:
    """Have MODEL write completions for the prompts of ASKED, or for the tasks of a dataset.

    MODEL is a folder or a GGUF file, which llama.cpp runs where there is no GPU.
    """
    from npuforge.train.evaluate.answers import Answers, Sampling  # noqa: PLC0415
    from npuforge.train.evaluate.prompts import read_prompts  # noqa: PLC0415
    from npuforge.train.evaluate.sampler import open_sampler  # noqa: PLC0415
    from npuforge.train.records import read_lines  # noqa: PLC0415

    read = read_lines([out], Answers, "sampled", grown=True) if out.exists() else []
    if any(len(one.answers) != samples for one in read):
        raise UsageError(f"{out} has answers of another run: not {samples} to each task")
    known = {(one.suite, one.name) for one in read}
    prompts = [one for one in read_prompts(asked) if not one.problem]
    missing = [one for one in prompts if (one.suite, one.name) not in known]
    how = Sampling(
        samples=samples,
        temperature=temperature,
        top_p=top_p,
        most_tokens=most_tokens,
        seed=seed,
        constrained=constrained,
        jobs=jobs,
    )
    done = list(read)
    sampler = open_sampler(model)
    with grown_file(out) as file:
        for answers in sampler.answers(missing, how):
            file.write(RECORD.encode(answers) + b"\n")
            file.flush()
            done.append(answers)
            said = f"{answers.tokens} tokens, {answers.cut} without an end"
            say(f"{len(done)} {answers.name}: {said}")
    tokens, forced = sum(one.tokens for one in done), sum(one.forced for one in done)
    share = f"{100 * forced / tokens:.1f} %" if tokens else "none"
    say(f"{tokens} tokens, {share} of them forced by the grammar: {out}")


@evaluate.command()
@click.argument("suite")
@click.argument("answered", type=_FILE, nargs=-1, required=True)
@_PATH
@click.option("--out", type=_FILE, required=True, help="Counts, one task a line; resumed.")
@click.option(
    "--levels", type=_Numbers(), default="1,2,3", show_default=True, help="Levels that count."
)
@isolation_option
@jobs_option
def score(
    suite: str,
    answered: tuple[Path, ...],
    path: Path | None,
    out: Path,
    levels: frozenset[int],
    jobs: int,
) -> None:
    """Judge the answers of ANSWERED to the tasks of SUITE on the twin.

    Every file holds another model's answers. They are judged together, which takes less time than
    one after the other, and each is compared with the first, task by task.
    """
    from npuforge.train.evaluate.answers import Answers  # noqa: PLC0415
    from npuforge.train.evaluate.problems import problems  # noqa: PLC0415
    from npuforge.train.evaluate.score import Scored, score_all  # noqa: PLC0415
    from npuforge.train.records import read_lines  # noqa: PLC0415

    models = list(dict.fromkeys(file.stem for file in answered))
    if len(models) < len(answered):
        raise UsageError("two files of one name: models are told apart by it")
    given: dict[str, dict[str, Answers]] = {}
    for file in answered:
        for one in read_lines([file], Answers, "sampled"):
            if one.suite == suite:
                given.setdefault(one.name, {})[file.stem] = one
    if not given:
        raise UsageError(f"no answers to {suite} in {', '.join(map(str, answered))}")
    found = read_lines([out], Scored, "scored", grown=True) if out.exists() else []
    for known in found:
        given.get(known.name, {}).pop(known.by, None)
    asked = [
        (problem, given[problem.name])
        for problem in problems(suite, path)
        if problem.task.level in levels and given.get(problem.name)
    ]
    with grown_file(out) as into:
        for scored in score_all(asked, jobs):
            found.append(scored)
            into.write(RECORD.encode(scored) + b"\n")
            into.flush()
            say(_line(scored))
    _table(found, list(dict.fromkeys([*models, *(one.by for one in found)])))


def _line(scored: Scored) -> str:
    counted = f"{scored.compiled} compiled, {scored.correct} correct of {scored.samples}"
    first = max(scored.problems, key=scored.problems.__getitem__, default="")
    return f"{scored.by} {scored.name}: {scored.failure or counted} {first[:100]}"


def _table(scored: list[Scored], models: list[str]) -> None:
    from npuforge.train.evaluate.score import at_k, by_level, gain  # noqa: PLC0415

    wide = max(map(len, models))
    say(f"{'model':{wide}} level tasks  k  {'CR':17}  {'ER':17}  ER, gained on {models[0]}")
    for level, own in [*by_level(scored).items(), (None, scored)]:
        first = [one for one in own if one.by == models[0]]
        for model in models:
            these = [one for one in own if one.by == model]
            for k in (1, 10):
                rates = [at_k(these, k, kind) for kind in ("compiled", "correct")]
                if rates[0].value is None:
                    continue
                if model != models[0]:
                    rates.append(gain(first, these, k, "correct"))
                shown = "  ".join(f"{_percent(rate):17}" for rate in rates).rstrip()
                say(f"{model:{wide}} {level or 'all':>5} {len(these):5} {k:2}  {shown}")


def _percent(rate: Estimate) -> str:
    if rate.value is None:
        return "-"
    if rate.low is None or rate.high is None:
        return f"{100 * rate.value:5.1f}"
    return f"{100 * rate.value:5.1f} [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
