# SPDX-License-Identifier: Apache-2.0
"""The command that makes a run again."""

from __future__ import annotations

import shlex

import msgspec

from npuforge.bench.settings import Settings

_OPTIONS = {"limit_s": "--limit"}  # the others are called like the setting


def command(settings: Settings, *, path: str | None = None) -> str:
    """As typed; settings at their defaults are left out. `path` stands in for the checkout."""
    words = ["npuforge", "bench", settings.suite]
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if field.name == "suite" or value == field.default:
            continue
        if field.name == "path" and path is not None:
            value = path
        words += [_OPTIONS.get(field.name, f"--{field.name}"), _text(value)]
    return shlex.join(words)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
