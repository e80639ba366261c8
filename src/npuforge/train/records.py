# SPDX-License-Identifier: Apache-2.0
"""The records that training reads: JSON lines of one form, each checked, faults named by line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from npuforge.errors import UsageError
from npuforge.fileformat import RECORD, number_of
from npuforge.untrusted.inputs import is_plain_file

_THOUGHTS = re.compile(r"^<think>\n.*?^</think>\n", re.DOTALL | re.MULTILINE)
_NO_THOUGHTS = "<think>\n</think>\n"


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Chat(msgspec.Struct, frozen=True):
    """A conversation to learn from; other keys of the record say where it comes from."""

    messages: list[Message]


def without_reasoning(chat: Chat) -> Chat:
    """Answers whose thoughts are left out; the tags stay, to divide thoughts from programs."""
    return Chat([msgspec.structs.replace(one, content=_unthought(one)) for one in chat.messages])


def _unthought(message: Message) -> str:
    return (
        _THOUGHTS.sub(_NO_THOUGHTS, message.content)
        if message.role == "assistant"
        else message.content
    )


class Preference(msgspec.Struct, frozen=True):
    """Two answers to one prompt, of which the first is better."""

    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]


class TaskRecord(msgspec.Struct, frozen=True):
    """A prompt and what a judge needs to judge its answers; the judge alone reads `task`."""

    prompt: list[Message]
    task: dict[str, Any]


Record = TypeVar("Record", Chat, Preference, TaskRecord)
Line = TypeVar("Line")


def read(paths: Sequence[Path], form: type[Record]) -> list[Record]:
    """All records of the files, in order."""
    records = read_lines(paths, form, _NAMES[form], _complete)
    if not records:
        raise UsageError(f"no records in {', '.join(map(str, paths))}")
    return records


def read_lines(
    paths: Sequence[Path],
    form: type[Line],
    name: str,
    check: Callable[[Line], None] = lambda _: None,
    *,
    grown: bool = False,
) -> list[Line]:
    """Return the records of the files' lines, each a `name` record; `check` raises `ValueError`.

    A last line without an end is left out of files that are `grown`: their writer was killed.
    """
    decoder = msgspec.json.Decoder(form)
    records = []
    for path, number, line in lines(paths):
        if grown and not line.endswith(b"\n"):
            continue
        try:
            RECORD.check(number_of(line), f"{path}:{number}")
            record = decoder.decode(line)
            check(record)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: not a {name} record: {error}") from error
        records.append(record)
    return records


def lines(paths: Sequence[Path]) -> Iterator[tuple[Path, int, bytes]]:
    """Each line that is not blank, with where it stands."""
    for path in paths:
        if path.exists() and not is_plain_file(path):
            raise UsageError(f"cannot read {path}: it is not a plain file")
        try:
            with path.open("rb") as stream:
                for number in count(1):
                    line = stream.readline(_LONGEST + 1)
                    if not line:
                        break
                    if len(line) > _LONGEST:
                        raise UsageError(f"{path}:{number}: the line is too long")
                    if line.strip():
                        yield path, number, line
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error


def digest(paths: Sequence[Path]) -> str:
    """SHA-256 of the files' bytes, one after another."""
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def as_messages(said: Sequence[Mapping[str, str]]) -> list[Message]:
    """Messages as chat templates want them, as records have them."""
    return msgspec.convert(said, list[Message])


def as_dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as chat templates want them."""
    return [{"role": message.role, "content": message.content} for message in messages]


_LONGEST = 64 << 20  # bytes of a line
_NAMES: dict[type, str] = {Chat: "chat", Preference: "preference", TaskRecord: "task"}


def _complete(record: Chat | Preference | TaskRecord) -> None:
    if isinstance(record, Chat):
        if not any(message.role == "assistant" for message in record.messages):
            raise ValueError("no message of the assistant")
        return
    if not record.prompt or record.prompt[-1].role == "assistant":
        raise ValueError("the prompt does not end with a question")
    if isinstance(record, Preference):
        for name, answer in (("chosen", record.chosen), ("rejected", record.rejected)):
            if [message.role for message in answer] != ["assistant"]:
                raise ValueError(f"{name} is not one message of the assistant")
