# SPDX-License-Identifier: Apache-2.0
"""The command that makes a run again, and a run's name in a few words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from npuforge.bench.settings import REFERENCE, ModelSettings, Settings
from npuforge.generate.lm.settings import EmbeddedSettings

_OPTIONS = {"limit_s": "--limit"}  # the others are called like the setting
_PLACES = ("path", "limit_s")  # where and how long, which does not name a run


def command(settings: Settings, *, public: bool = False) -> str:
    """As typed, defaults left out. `public` names no folder of this machine."""
    words = ["npuforge", "bench", settings.suite]
    for name, value in _chosen(settings):
        if isinstance(value, EmbeddedSettings):
            words += _embedded(value, public)
        elif isinstance(value, ModelSettings):
            words += _asked(value, public)
        else:
            text = _public(name, value) if public else _text(value)
            words += [_OPTIONS.get(name, f"--{name}"), text]
    return shlex.join(words)


def title(settings: Settings) -> str:
    """`multikernelbench, shapes v0`."""
    parts = [
        f"{name} {_public(name, value)}" for name, value in _chosen(settings) if name not in _PLACES
    ]
    return ", ".join([settings.suite, *parts])


def public_settings(settings: Settings) -> Settings:
    """The settings without folders and addresses of this machine."""
    embedded, model = settings.embedded, settings.model
    if embedded is not None:
        embedded = msgspec.structs.replace(embedded, model=Path(embedded.model).name)
    if model is not None:
        endpoint = {name: said for name, said in model.endpoint.items() if name != "base_url"}
        model = msgspec.structs.replace(model, endpoint=endpoint, store=None, prompts=None)
    answers = settings.answers and _public("answers", settings.answers)
    return msgspec.structs.replace(
        settings, path=None, answers=answers, model=model, embedded=embedded
    )


def _embedded(settings: EmbeddedSettings, public: bool) -> Iterator[str]:
    yield from ("--lm-model", Path(settings.model).name if public else settings.model)
    for name, value in _chosen(settings):
        if name != "model":
            flag = "--temperature" if name == "temperature" else f"--lm-{name}"
            yield from (flag, _text(value))


def _asked(settings: ModelSettings, public: bool) -> Iterator[str]:
    """A model that is asked; where it answers, and with which key, is the machine's to know."""
    for name, said in settings.endpoint.items():
        if said is not None and not (public and name == "base_url"):
            yield from (f"--{name.replace('_', '-')}", _text(said))
    for name, value in _chosen(settings):
        if isinstance(value, bool):
            yield f"--{name}"
        elif name != "endpoint" and not (public and name in {"store", "prompts"}):
            text = ",".join(value) if isinstance(value, tuple) else _text(value)
            yield from (f"--{name}", text)


def _chosen(settings: msgspec.Struct) -> Iterator[tuple[str, object]]:
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if field.name != "suite" and value != field.default:
            yield field.name, value


def _public(name: str, value: object) -> str:
    if isinstance(value, EmbeddedSettings):
        return Path(value.model).name
    if isinstance(value, ModelSettings):
        return str(value.endpoint.get("model"))
    if name == "path":
        return "CHECKOUT"
    return "ANSWERS" if name == "answers" and value != REFERENCE else _text(value)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
