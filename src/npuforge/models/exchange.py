# SPDX-License-Identifier: Apache-2.0
"""What is said to a model, and what it says."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec

Role = Literal["system", "user", "assistant"]
# end: the model was done. length: cut off at the limit. refused: it or its provider declined.
Stop = Literal["end", "length", "refused"]
# What a server or a recording counts: no number of it may undo what was spent.
Tokens = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class Message(msgspec.Struct, frozen=True):
    """One turn."""

    role: Role
    text: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a reply depends on; `seed` tells apart requests that are otherwise the same."""

    messages: list[Message]
    model: str
    temperature: float
    max_tokens: int
    seed: int | None = None

    @property
    def turns(self) -> list[Message]:
        """The messages with neighbours of one role joined: some servers refuse two in a row."""
        found: list[Message] = []
        for message in self.messages:
            if found and found[-1].role == message.role:
                found[-1] = Message(message.role, f"{found[-1].text}\n\n{message.text}")
            else:
                found.append(message)
        return found

    @property
    def key(self) -> str:
        """The same for the same content."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class Usage(msgspec.Struct, frozen=True):
    """Tokens; `counted` where the server said so, guessed from lengths otherwise."""

    prompt: Tokens = 0
    completion: Tokens = 0
    counted: bool = True

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.counted and other.counted,
        )


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """`thinking` is what a model says to itself where it shows it; `model` is who answered."""

    text: str
    thinking: str = ""
    stop: Stop = "end"
    usage: Usage = Usage()
    model: str = ""
    seconds: float = 0.0


_LETTERS_A_TOKEN = 3.6  # of code and English together


def guessed(request: Request, said: str) -> Usage:
    """Tokens by length, where a server gives no count."""
    asked = sum(len(message.text) for message in request.messages)
    return Usage(
        round(asked / _LETTERS_A_TOKEN), round(len(said) / _LETTERS_A_TOKEN), counted=False
    )
