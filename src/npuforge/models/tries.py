# SPDX-License-Identifier: Apache-2.0
"""A request tried again while there is hope: what is worth another try, and how long to wait.

Every word of a server passes `shown` on its way into a message: without the key, on one line, cut.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from npuforge.errors import UsageError
from npuforge.models.connection import Response
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import AgainError, ModelError
from npuforge.printable import one_line
from npuforge.untrusted.documents import decode_json

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_MOST_COMPLAINT = 300

Result = TypeVar("Result")


def tried(once: Callable[[], Result], endpoint: Endpoint, sleep: Callable[[float], None]) -> Result:
    """Return what `once` returns; `ModelError` after the last try."""
    pause = _FIRST_PAUSE_S
    tries = 1 + endpoint.retries
    for number in range(1, tries + 1):
        failure: ModelError | AgainError
        try:
            return once()
        except (ModelError, AgainError) as error:
            failure = error
        # Out here nothing holds the words as they came: no context of the new error, no local.
        said = shown(endpoint, str(failure))
        kind, asked = type(failure), getattr(failure, "after_s", None)
        del failure
        if issubclass(kind, ModelError):
            raise kind(said)
        if number == tries:
            raise ModelError(f"{where(endpoint)}: {said} ({tries} tries)")
        sleep(min(asked if asked is not None else pause, _LONGEST_PAUSE_S))
        pause *= 2 * random.uniform(0.75, 1.25)
    raise AssertionError


def where(endpoint: Endpoint) -> str:
    """Return how an endpoint is called in messages."""
    return f"{endpoint.model} at {endpoint.base_url}"


def shown(endpoint: Endpoint, text: str) -> str:
    """Return a server's words as a message may have them."""
    return one_line(hidden(endpoint, text), _MOST_COMPLAINT)


def hidden(endpoint: Endpoint, text: str) -> str:
    """Return the text without the endpoint's key."""
    return endpoint.key.hidden_in(text) if endpoint.key is not None else text


def refused(
    endpoint: Endpoint, response: Response, complaint: Callable[[Mapping[str, Any]], str | None]
) -> None:
    """Raise what a response other than 200 means; `complaint` finds the server's words in it."""
    try:
        said = complaint(decode_json(response.refusal(), dict[str, Any], "the complaint"))
    except UsageError:
        said = None
    told = f"HTTP {response.status}, {said or response.reason}"
    if response.status in _AGAIN:
        raise AgainError(told, _seconds(response.headers.get("retry-after")))
    if 300 <= response.status < 400:
        told += "; redirects are not followed"
    if response.status in (401, 403) and endpoint.key is None:
        told += "; no key was named for this address: NPUFORGE_MODEL_KEY names one"
    raise ModelError(f"{where(endpoint)}: {told}")


def _seconds(text: str | None) -> float | None:
    """Return the seconds in a header; a date gives None, and our own pause does."""
    try:
        seconds = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
