# SPDX-License-Identifier: Apache-2.0
"""Configuration files, and who may say what in them.

    the user's own file    anything: addresses, keys, variables that hold keys, budgets, prices
    the current folder's   which model, and how it writes: `name`, `temperature`, `max_tokens`

Whoever wrote the current folder may be a stranger: its file decides neither where requests go nor
which key goes with them. The user's file counts only if nobody else can write it.

    # npuforge.toml
    [model]
    name = "qwen3-coder"
    base_url = "http://localhost:8000/v1"
    temperature = 0.2

    [prices."qwen3-coder"]        # per million tokens, in any one currency
    prompt = 0.5
    completion = 2.0
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from npuforge.errors import UsageError
from npuforge.untrusted.documents import convert, parse_toml
from npuforge.untrusted.inputs import read_input

FILE = "npuforge.toml"
_MOST_BYTES = 1 << 18
_OF_A_FOLDER = {"model": ("name", "temperature", "max_tokens"), "embeddings": ("name",)}

Kind = Literal["openai", "anthropic"]
_T = TypeVar("_T")


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a million tokens."""

    prompt: float
    completion: float


class ModelTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [model]; None where the file is silent."""

    name: str | None = None
    kind: Kind | None = None
    base_url: str | None = None
    key: str | None = None
    key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    concurrency: int | None = None
    requests_per_minute: float | None = None
    budget_tokens: int | None = None
    budget_cost: float | None = None
    timeout_s: float | None = None
    limit_s: float | None = None
    retries: int | None = None


class EmbeddingsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [embeddings]."""

    name: str | None = None
    base_url: str | None = None
    key: str | None = None
    key_env: str | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration file."""

    model: ModelTable = ModelTable()
    embeddings: EmbeddingsTable = EmbeddingsTable()
    prices: dict[str, Price] = {}


def configured(environment: Mapping[str, str], file: Path | None = None) -> Config:
    """Return the user's file, overridden by the folder's; or `file` alone, read as the user's."""
    if file is not None:
        return _own(file)
    place, folder = _own_place(environment), Path(FILE)
    own = place is not None and place.exists()
    config = _own(place) if place is not None and own else Config()
    if not folder.exists() or (place is not None and own and folder.samefile(place)):
        return config
    said = _of_folder(folder)
    return msgspec.structs.replace(
        config,
        model=_over(config.model, said.model),
        embeddings=_over(config.embeddings, said.embeddings),
    )


def _own_place(environment: Mapping[str, str]) -> Path | None:
    home = environment.get("HOME")
    folder = environment.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    return Path(folder) / "npuforge" / FILE if os.path.isabs(folder) else None


def _own(file: Path) -> Config:
    for place in (file.parent, file):
        _check_owner(place)
    config = _parsed(file)
    if config.model.key or config.embeddings.key:
        _check_private(file)
    return config


def _of_folder(file: Path) -> Config:
    table = parse_toml(read_input(file, _MOST_BYTES), file)
    for name, values in table.items():
        for key in values if isinstance(values, dict) else [""]:
            if key not in _OF_A_FOLDER.get(name, ()):
                listed = ", ".join(f"{t}.{k}" for t, keys in _OF_A_FOLDER.items() for k in keys)
                said = f"{name}.{key}".rstrip(".")[:80]
                raise UsageError(
                    f"{file} of the current folder says {said}, which only your own configuration "
                    f"may say; a folder's says {listed}"
                )
    return convert(table, Config, file)


def _parsed(file: Path) -> Config:
    return convert(parse_toml(read_input(file, _MOST_BYTES), file), Config, file)


def _check_owner(place: Path) -> None:
    """Refuse a file or folder that somebody else can change."""
    try:
        status = place.stat()
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror}") from None
    if status.st_uid not in (os.getuid(), 0):
        raise UsageError(f"{place} belongs to somebody else: it is not read as your configuration")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        raise UsageError(f"{place} can be written by others: chmod go-w {place}")


def _check_private(file: Path) -> None:
    """Refuse a file with a key that others can read."""
    if file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        raise UsageError(f"{file} holds a key and can be read by others: chmod 600 {file}")


def _over(own: _T, said: _T) -> _T:
    values: dict[str, Any] = msgspec.structs.asdict(said)  # type: ignore[arg-type]
    return msgspec.structs.replace(  # type: ignore[type-var]
        own, **{name: value for name, value in values.items() if value is not None}
    )
