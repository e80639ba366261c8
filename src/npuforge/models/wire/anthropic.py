# SPDX-License-Identifier: Apache-2.0
"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.models.errors import ModelError
from npuforge.models.exchange import Request, Stop, Tokens, Usage
from npuforge.models.secret import Secret
from npuforge.models.sse import Event
from npuforge.models.wire import Piece
from npuforge.models.wire.openai import said
from npuforge.untrusted.documents import decode_json

_VERSION = "2023-06-01"
_STOPS: dict[str, Stop] = {"max_tokens": "length", "refusal": "refused"}


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    cache_creation_input_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None

    @property
    def prompt(self) -> int:
        cached = (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        return self.input_tokens + cached


class _Started(msgspec.Struct, frozen=True):
    model: str = ""
    usage: _Usage = _Usage()


class _Delta(msgspec.Struct, frozen=True):
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None


class _Data(msgspec.Struct, frozen=True):
    type: str
    message: _Started | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None


class Anthropic:
    """See `Wire`."""

    def url(self, base: str) -> str:
        root = base.rstrip("/")
        return f"{root}/messages" if root.endswith("/v1") else f"{root}/v1/messages"

    def headers(self, key: Secret | None) -> dict[str, str]:
        version = {"anthropic-version": _VERSION}
        return version if key is None else {**version, "x-api-key": key.reveal()}

    def body(self, request: Request) -> dict[str, Any]:
        turns = [
            {"role": message.role, "content": message.text}
            for message in request.turns
            if message.role != "system"
        ]
        body: dict[str, Any] = {
            "model": request.model,
            "messages": turns,
            "temperature": min(request.temperature, 1.0),
            "max_tokens": request.max_tokens,
            "stream": True,
        }
        system = [message.text for message in request.messages if message.role == "system"]
        if system:
            body["system"] = "\n\n".join(system)
        return body

    def pieces(self, stream: Iterable[Event]) -> Iterator[Piece]:
        prompt = 0
        for event in stream:
            data = _decoded(event.data)
            if data.type == "error":
                raise ModelError(
                    f"the endpoint complains: {said(data.error) or 'it does not say of what'}"
                )
            if data.message is not None:
                prompt = data.message.usage.prompt
                yield Piece(model=data.message.model)
            if data.delta is not None:
                reason = data.delta.stop_reason
                stop = _STOPS.get(reason, "end") if reason else None
                yield Piece(data.delta.text, data.delta.thinking, stop)
            if data.usage is not None:
                yield Piece(usage=Usage(prompt, data.usage.output_tokens))
            if data.type == "message_stop":
                return

    def complaint(self, content: Mapping[str, Any]) -> str | None:
        return said(content.get("error"))


def _decoded(text: str) -> _Data:
    try:
        return decode_json(text, _Data, "the endpoint sends what is no message")
    except UsageError as error:
        raise ModelError(str(error)) from None
