# SPDX-License-Identifier: Apache-2.0
"""Chat completions as OpenAI, vLLM, SGLang, Ollama, llama.cpp and most providers speak them."""

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
from npuforge.untrusted.documents import decode_json

_DONE = "[DONE]"
_MOST_CHOICES = 16
_DEEPEST_ERROR = 3  # an object around a message that is an object itself
_STOPS: dict[str, Stop] = {"length": "length", "content_filter": "refused"}


class _Delta(msgspec.Struct, frozen=True):
    content: str | None = None
    reasoning_content: str | None = None  # DeepSeek, Qwen, vLLM
    reasoning: str | None = None  # Ollama, OpenRouter
    refusal: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    delta: _Delta | None = None
    message: _Delta | None = None  # from servers that do not stream
    finish_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class _Chunk(msgspec.Struct, frozen=True):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


class OpenAI:
    """See `Wire`."""

    def url(self, base: str) -> str:
        return f"{base.rstrip('/')}/chat/completions"

    def headers(self, key: Secret | None) -> dict[str, str]:
        return {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}

    def body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": m.role, "content": m.text} for m in request.turns],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.seed is not None:
            body["seed"] = request.seed
        return body

    def pieces(self, stream: Iterable[Event]) -> Iterator[Piece]:
        for event in stream:
            if event.data == _DONE:
                return
            yield from _pieces(_decoded(event.data))

    def complaint(self, content: Mapping[str, Any]) -> str | None:
        return said(content.get("error")) or said(content.get("detail"))


def _decoded(text: str) -> _Chunk:
    try:
        return decode_json(text, _Chunk, "the endpoint sends what is no chat completion")
    except UsageError as error:
        raise ModelError(str(error)) from None


def _pieces(chunk: _Chunk) -> Iterator[Piece]:
    if chunk.error is not None:
        raise ModelError(
            f"the endpoint complains: {said(chunk.error) or 'it does not say of what'}"
        )
    if len(chunk.choices) > _MOST_CHOICES:
        raise ModelError(f"the endpoint gives {len(chunk.choices)} answers to one request")
    for choice in chunk.choices[:1]:
        delta = choice.delta or choice.message or _Delta()
        stop = _STOPS.get(choice.finish_reason, "end") if choice.finish_reason else None
        if delta.refusal:
            yield Piece(text=delta.refusal, stop="refused")
        yield Piece(
            text=delta.content or "",
            thinking=delta.reasoning_content or delta.reasoning or "",
            stop=stop,
            model=chunk.model or "",
        )
    if chunk.usage is not None:
        yield Piece(usage=Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens))


def said(error: Any) -> str | None:
    """Return the words of an error object, in the forms that servers have for it."""
    for _ in range(_DEEPEST_ERROR):
        if isinstance(error, dict):
            error = error.get("message")
    return error if isinstance(error, str) and error else None
