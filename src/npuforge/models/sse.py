# SPDX-License-Identifier: Apache-2.0
"""Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from npuforge.models.errors import AgainError

_MOST_DATA = 1 << 20  # letters of one event
_MOST_EVENTS = 250_000  # of one answer: more than any model has tokens


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is "message" where the server gives none."""

    name: str
    data: str


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Yield events out of lines without their ends.

    An event that is not closed by an empty line is lost, as the standard has it.
    """
    name, data, size, count = "message", list[str](), 0, 0
    for line in lines:
        if not line:
            count += 1
            if count > _MOST_EVENTS:
                raise AgainError(f"the answer has more than {_MOST_EVENTS} events")
            if data:
                yield Event(name, "\n".join(data))
            name, data, size = "message", [], 0
            continue
        size += 1 + len(line)
        if size > _MOST_DATA:
            raise AgainError(f"the answer has an event of more than {_MOST_DATA} letters")
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
