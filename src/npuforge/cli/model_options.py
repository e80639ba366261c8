# SPDX-License-Identifier: Apache-2.0
"""Options of the commands that ask language models."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from npuforge.models import Client, Endpoint

if TYPE_CHECKING:
    from npuforge.bench.settings import ModelSettings
    from npuforge.generate.lm.settings import EmbeddedSettings
    from npuforge.generate.written.advice import Knowledge
    from npuforge.generate.written.strategy import Asked

_F = TypeVar("_F", bound=Callable[..., Any])
_AT_LEAST_ONE = click.IntRange(min=1)

# Fields of `Endpoint`; what is not given comes from the environment or the configuration file.
_ENDPOINT = (
    click.option("--model", metavar="NAME", help="Model to ask; else NPUFORGE_MODEL."),
    click.option(
        "--kind", type=click.Choice(("openai", "anthropic")), help="Protocol of the endpoint."
    ),
    click.option("--base-url", metavar="URL", help="Address of the endpoint."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="Of the model's answers."),
    click.option("--max-tokens", type=_AT_LEAST_ONE, help="Longest answer."),
    click.option("--concurrency", type=_AT_LEAST_ONE, help="Requests at once."),
    click.option("--budget-tokens", type=_AT_LEAST_ONE, help="Tokens to spend at most."),
    click.option("--budget-cost", type=click.FloatRange(min=0), help="Money to spend at most."),
)
_REPLAY = click.option(
    "--replay",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Answer from a recording instead of a model.",
)
_OF_GENERATE = (
    click.option(
        "--interface",
        type=click.Choice(("kernel", "full")),
        default="kernel",
        show_default=True,
        help="What `ascendc` writes: kernels alone, or with their host code.",
    ),
    click.option(
        "--lowering",
        type=click.Choice(("compiler", "model")),
        default="compiler",
        show_default=True,
        help="Who lowers what `tile` writes.",
    ),
    click.option(
        "--from",
        "start",
        type=click.Path(path_type=Path, exists=True),
        metavar="PATH",
        help="What `refine` starts from: tile program, kernel, project; else the planner's.",
    ),
    _REPLAY,
)
_STRATEGY = (
    click.option(
        "--language",
        type=click.Choice(("tile", "ascendc")),
        default="tile",
        show_default=True,
        help="What `refine` makes of the planner's program.",
    ),
    click.option(
        "--roles",
        metavar="NAMES",
        default="",
        help="Who is asked besides the coder: planner, tester, reviewer, profiler, or all.",
    ),
)
_KNOWLEDGE = (
    click.option(
        "--knowledge",
        "mode",
        type=click.Choice(("full", "identifiers", "meaning", "plain", "raw", "off")),
        default="full",
        show_default=True,
        help="What a model is told of what is known: all, by one axis, in words, undistilled.",
    ),
    click.option(
        "--store",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Knowledge base; else your own.",
    ),
    click.option("--learn", is_flag=True, help="Write down what was learned and holds."),
)
_SEARCH = (
    click.option(
        "--search",
        "kind_of_search",
        type=click.Choice(("beam", "evolve")),
        default="beam",
        show_default=True,
        help="Go on from the best, or cross a population.",
    ),
    click.option(
        "--rounds", type=_AT_LEAST_ONE, default=30, show_default=True, help="Times to ask at most."
    ),
    click.option(
        "--candidates", type=_AT_LEAST_ONE, default=1, show_default=True, help="Programs a round."
    ),
    click.option(
        "--beam", type=_AT_LEAST_ONE, default=1, show_default=True, help="Programs to go on from."
    ),
    click.option(
        "--patience",
        type=_AT_LEAST_ONE,
        default=6,
        show_default=True,
        help="Rounds without a gain.",
    ),
)
_ASKING = (
    click.option(
        "--enough",
        type=click.FloatRange(min=0),
        default=0.95,
        show_default=True,
        help="Share of the roofline at which a right program is fast enough.",
    ),
    click.option(
        "--prompts",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Folder with templates of your own.",
    ),
)
_EMBEDDED = (
    click.option(
        "--lm-model",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="What `lm` runs, a GGUF file; else NPUFORGE_LM, or the one that came along.",
    ),
    click.option(
        "--lm-threads",
        type=_AT_LEAST_ONE,
        default=1,
        show_default=True,
        help="Threads of `lm`; more help on an idle machine only.",
    ),
)
_OF_SEARCH = ("rounds", "candidates", "beam", "patience", "enough")
_FIELDS = (
    "model", "kind", "base_url", "temperature", "max_tokens", "concurrency", "budget_tokens",
    "budget_cost",
)  # fmt: skip


def model_options(command: _F) -> _F:
    """What every command that has models write programs has; it takes them as keywords."""
    for option in reversed((*_ENDPOINT, *_STRATEGY, *_KNOWLEDGE, *_SEARCH, *_ASKING, *_EMBEDDED)):
        command = option(command)
    return command


def drawn_option(flag: str) -> Callable[[_F], _F]:
    """How many programs `lm` draws; the word differs, as a benchmark has samples of its own."""
    said = "Programs that `lm` draws."
    return click.option(
        flag, "lm_samples", type=_AT_LEAST_ONE, default=4, show_default=True, help=said
    )


def asking_options(command: _F) -> _F:
    """Those of commands that ask, but do not search for programs."""
    for option in reversed((*_ENDPOINT, *_ASKING, _REPLAY)):
        command = option(command)
    return command


def generate_options(command: _F) -> _F:
    """What `generate` has besides."""
    for option in reversed(_OF_GENERATE):
        command = option(command)
    return command


def open_client(asked: dict[str, Any], record: Path) -> Client:
    """The client that the options speak of; every exchange goes to `record`."""
    if asked["replay"] is not None:
        return Client.replaying(asked["replay"])
    endpoint = Endpoint.find({name: asked[name] for name in _FIELDS})
    return Client(endpoint, record=record)


def asked_for(strategy: str, asked: dict[str, Any]) -> Asked:
    """The strategy that the options speak of."""
    from npuforge.generate.written.loop import Search  # noqa: PLC0415 (--help needs none of this)
    from npuforge.generate.written.roles import roles_of  # noqa: PLC0415
    from npuforge.generate.written.strategy import Asked  # noqa: PLC0415

    search = Search(**{name: asked[name] for name in _OF_SEARCH}, kind=asked["kind_of_search"])
    return Asked(
        strategy,
        asked["interface"],
        asked["lowering"],
        asked["language"],
        asked["start"],
        search,
        roles_of(_names(asked["roles"])),
        asked["prompts"],
    )


def open_knowledge(asked: dict[str, Any]) -> AbstractContextManager[Knowledge | None]:
    """The knowledge base that the options speak of."""
    from npuforge.generate.written.advice import Knowledge  # noqa: PLC0415

    if asked["mode"] == "off":
        return nullcontext()
    return Knowledge.opened(asked["store"], asked["mode"], asked["learn"])


def embedded_settings(asked: dict[str, Any]) -> EmbeddedSettings:
    """The embedded model that the options speak of; `UsageError` where it cannot be run."""
    from npuforge.generate.lm.engine.engine import library  # noqa: PLC0415
    from npuforge.generate.lm.engine.model import find  # noqa: PLC0415
    from npuforge.generate.lm.settings import EmbeddedSettings  # noqa: PLC0415

    library()
    model = find(asked["lm_model"])
    said = {"temperature": asked["temperature"]} if asked["temperature"] is not None else {}
    return EmbeddedSettings(
        model=str(model.path.resolve()),
        samples=asked["lm_samples"],
        threads=asked["lm_threads"],
        **said,
    )


def model_settings(asked: dict[str, Any]) -> ModelSettings:
    """The same for a benchmark's run, whose processes read the key themselves."""
    from npuforge.bench.settings import ModelSettings  # noqa: PLC0415
    from npuforge.generate.written.roles import roles_of  # noqa: PLC0415

    said = {name: asked[name] for name in _FIELDS if asked[name] is not None}
    endpoint = Endpoint.find(said)
    roles_of(_names(asked["roles"]))
    return ModelSettings(
        endpoint={**said, "model": endpoint.model},
        **{name: asked[name] for name in _OF_SEARCH},
        search=asked["kind_of_search"],
        language=asked["language"],
        roles=tuple(_names(asked["roles"])),
        prompts=str(asked["prompts"].resolve()) if asked["prompts"] is not None else None,
        knowledge=asked["mode"],
        store=str(asked["store"].resolve()) if asked["store"] is not None else None,
        learn=asked["learn"],
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
