# SPDX-License-Identifier: Apache-2.0
"""Build files and helpers of the emitted projects, as text with `@NAME@` for what varies."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"@(\w+)@")
_LICENCE = re.compile(r"\A(#!.*\n)?(?:#|//) SPDX-License-Identifier: .*\n")


@cache
def _text(name: str) -> str:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return _LICENCE.sub(lambda match: match[1] or "", text)


def fill(name: str, **values: str) -> str:
    """The text of a template; the licence line of this project is not part of what it emits."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], _text(name))
