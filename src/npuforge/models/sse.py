# SPDX-License-Identifier: Apache-2.0
"""Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is "message" where the server gives none."""

    name: str
    data: str


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Events out of lines without their ends; one that is not closed by an empty line is lost, as
    the standard has it."""
    name, data = "message", list[str]()
    for line in lines:
        if not line:
            if data:
                yield Event(name, "\n".join(data))
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
