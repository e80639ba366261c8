# SPDX-License-Identifier: Apache-2.0
"""Buffers of a kernel so far: how large they are, and which part of them was filled."""

from __future__ import annotations

import itertools
import re


def room(buffer: str, body: str, dtype: str = r"\w+") -> str | None:
    """The shape of a buffer of a type in a kernel's body."""
    form = rf"^ +{buffer} = tl\.alloc_ub\((.*?), dtype=tl\.{dtype}(?:, buffers=1)?\)$"
    found = re.search(form, body, re.MULTILINE)
    return found[1] if found is not None else None


def mask_room(buffer: str, body: str) -> str | None:
    """The shape of a mask in a kernel's body."""
    found = re.search(rf"^ +{buffer} = tl\.alloc_mask\((.*)\)$", body, re.MULTILINE)
    return found[1] if found is not None else None


def filled_part(buffer: str, body: str) -> str | None:
    """The part of a buffer that an instruction of a kernel's body fills, as it is written."""
    form = rf"^ +tl\.(?:load\([^,]*, |\w+\(){buffer}(\[.*?\])"
    found = re.search(form, body, re.MULTILINE)
    return found[1] if found is not None else None


def free_name(body: str) -> str:
    """A name for a buffer that a kernel does not have."""
    numbers = (f"t{number}" for number in itertools.count())
    return next(name for name in numbers if f" {name} = " not in body)
