# SPDX-License-Identifier: Apache-2.0
"""The command that makes a run again, and a run's name in a few words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec

from npuforge.bench.settings import REFERENCE, Settings

_OPTIONS = {"limit_s": "--limit"}  # the others are called like the setting
_PLACES = ("path", "limit_s")  # where and how long, which does not name a run


def command(settings: Settings, *, public: bool = False) -> str:
    """As typed, defaults left out. `public` names no folder of this machine."""
    words = ["npuforge", "bench", settings.suite]
    for name, value in _chosen(settings):
        text = _public(name, value) if public else _text(value)
        words += [_OPTIONS.get(name, f"--{name}"), text]
    return shlex.join(words)


def title(settings: Settings) -> str:
    """`multikernelbench, shapes v0`."""
    parts = [
        f"{name} {_public(name, value)}" for name, value in _chosen(settings) if name not in _PLACES
    ]
    return ", ".join([settings.suite, *parts])


def _chosen(settings: Settings) -> Iterator[tuple[str, object]]:
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if field.name != "suite" and value != field.default:
            yield field.name, value


def _public(name: str, value: object) -> str:
    if name == "path":
        return "CHECKOUT"
    return "ANSWERS" if name == "answers" and value != REFERENCE else _text(value)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
