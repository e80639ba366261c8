# SPDX-License-Identifier: Apache-2.0
"""The protocols that endpoints speak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from npuforge.models.exchange import Request, Stop, Usage
from npuforge.models.secret import Secret
from npuforge.models.sse import Event


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply as it arrives; fields that say nothing are empty."""

    text: str = ""
    thinking: str = ""
    stop: Stop | None = None
    usage: Usage | None = None
    model: str = ""


class Wire(Protocol):
    """One protocol."""

    def url(self, base: str) -> str:
        """Where requests go."""
        ...

    def headers(self, key: Secret | None) -> dict[str, str]: ...

    def body(self, request: Request) -> dict[str, Any]: ...

    def pieces(self, stream: Iterable[Event]) -> Iterator[Piece]:
        """What events say; `ModelError` where one is a complaint."""
        ...

    def complaint(self, content: Mapping[str, Any]) -> str | None:
        """The message in the body of a refusal."""
        ...
