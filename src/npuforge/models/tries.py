# SPDX-License-Identifier: Apache-2.0
"""A request tried again while there is hope: what is worth another try, and how long to wait."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec

from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import ModelError

if TYPE_CHECKING:
    import httpx

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_MOST_COMPLAINT = 300

Result = TypeVar("Result")


class AgainError(Exception):
    """The next try may do; `after_s` is how long the server wants to be left alone."""

    def __init__(self, why: str, after_s: float | None = None) -> None:
        super().__init__(why)
        self.after_s = after_s


def tried(once: Callable[[], Result], endpoint: Endpoint, sleep: Callable[[float], None]) -> Result:
    """What `once` returns; `ModelError` after the last try."""
    pause = _FIRST_PAUSE_S
    tries = 1 + endpoint.retries
    for number in range(tries):
        try:
            return once()
        except AgainError as error:
            if number + 1 == tries:
                raise ModelError(f"{where(endpoint)}: {error} ({tries} tries)") from None
            asked = error.after_s
            sleep(min(asked if asked is not None else pause, _LONGEST_PAUSE_S))
            pause *= 2 * random.uniform(0.75, 1.25)
    raise AssertionError


def where(endpoint: Endpoint) -> str:
    """How an endpoint is called in messages."""
    return f"{endpoint.model} at {endpoint.base_url}"


def lost(endpoint: Endpoint, error: httpx.HTTPError) -> AgainError:
    """What a failure of the network becomes."""
    import httpx  # noqa: PLC0415 (only those who ask models pay for it)

    if isinstance(error, httpx.TimeoutException):
        return AgainError(f"no word for {endpoint.timeout_s:g} s")
    return AgainError(clean(endpoint, str(error) or type(error).__name__))


def refused(
    endpoint: Endpoint,
    response: httpx.Response,
    complaint: Callable[[dict[str, object]], str | None],
) -> None:
    """Raise what a response other than 200 means; `complaint` finds the server's words in it."""
    try:
        said = complaint(msgspec.json.decode(response.content, type=dict))
    except msgspec.DecodeError:
        said = None
    words = clean(endpoint, said or response.reason_phrase)[:_MOST_COMPLAINT]
    told = f"HTTP {response.status_code}, {words}"
    if response.status_code in _AGAIN:
        raise AgainError(told, _seconds(response.headers.get("retry-after")))
    raise ModelError(f"{where(endpoint)}: {told}")


def clean(endpoint: Endpoint, text: str) -> str:
    """Without the key: servers quote it."""
    return endpoint.key.hidden_in(text) if endpoint.key is not None else text


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:  # a date: our own pause does
        return None
