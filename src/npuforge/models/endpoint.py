# SPDX-License-Identifier: Apache-2.0
"""Where and how to ask: flags win over the environment, the environment over a file.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from npuforge.errors import UsageError
from npuforge.models.secret import Secret

Kind = Literal["openai", "anthropic"]
FILE = "npuforge.toml"
_BASES: dict[Kind, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
# What the environment says, by what it is for; the first that is set counts.
_NAME, _KIND, _BASE, _KEY = (f"NPUFORGE_MODEL{end}" for end in ("", "_KIND", "_BASE_URL", "_KEY"))
_EMBEDDINGS = "NPUFORGE_EMBEDDINGS"
_PROVIDERS: dict[Kind, tuple[str, str]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a million tokens."""

    prompt: float
    completion: float


class _Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    retries: int | None = None


class _Embeddings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str | None = None
    base_url: str | None = None
    key: str | None = None
    key_env: str | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: _Model = _Model()
    embeddings: _Embeddings = _Embeddings()
    prices: dict[str, Price] = {}


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model at an address. `timeout_s` is how long nothing may arrive, not how long it may take:
    a model that thinks for minutes streams all the while."""

    model: str
    kind: Kind = "openai"
    base_url: str = _BASES["openai"]
    key: Secret | None = None
    temperature: float = 0.2
    max_tokens: int = 16_384
    concurrency: int = 4
    requests_per_minute: float | None = None
    budget_tokens: int | None = None
    budget_cost: float | None = None
    price: Price | None = None
    timeout_s: float = 300.0
    retries: int = 5

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError(f"no address of an endpoint: {self.base_url}")
        if self.concurrency < 1 or self.max_tokens < 1 or self.retries < 0:
            raise UsageError("concurrency and tokens are at least 1, retries at least 0")
        if self.budget_cost is not None and self.price is None:
            raise UsageError(f"a budget in money needs prices: [prices.{self.model!r}] in {FILE}")

    @staticmethod
    def find(
        flags: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> Endpoint:
        """What is configured; `UsageError` says what is missing. `flags` that are None say nothing;
        `file` is taken instead of the ones that are looked for."""
        given = {name: value for name, value in (flags or {}).items() if value is not None}
        around = os.environ if environment is None else environment
        held = _read(file or _found(around))
        model = given.pop("model", None) or around.get(_NAME) or held.model.name
        if not model:
            raise UsageError(
                f"no model is named: --model, {_NAME}, or name under [model] in {FILE}"
            )
        kind = given.pop("kind", None) or around.get(_KIND) or held.model.kind
        kind = _kind(kind, around)
        key_variable, base_variable = _PROVIDERS[kind]
        base = (
            given.pop("base_url", None)
            or around.get(_BASE)
            or held.model.base_url
            or around.get(base_variable)
            or _BASES[kind]
        )
        key = (
            around.get(_KEY)
            or (around.get(held.model.key_env) if held.model.key_env else held.model.key)
            or around.get(key_variable)
        )
        own = {"name", "kind", "base_url", "key", "key_env"}
        rest = {
            name: value
            for name in _Model.__struct_fields__
            if name not in own and (value := getattr(held.model, name)) is not None
        }
        return Endpoint(
            model=model,
            kind=kind,
            base_url=base,
            key=Secret(key) if key else None,
            price=held.prices.get(model),
            **{**rest, **given},
        )


def embeddings_name(
    environment: Mapping[str, str] | None = None, file: Path | None = None
) -> str | None:
    """Which model of embeddings is asked for: by the environment, else by the file."""
    around = os.environ if environment is None else environment
    return around.get(_EMBEDDINGS) or _read(file or _found(around)).embeddings.name


def embeddings_endpoint(
    name: str, environment: Mapping[str, str] | None = None, file: Path | None = None
) -> Endpoint:
    """Where the model `name` is asked for embeddings; its key and address stand under
    [embeddings] in the file, or are OpenAI's."""
    around = os.environ if environment is None else environment
    held = _read(file or _found(around)).embeddings
    key_variable, base_variable = _PROVIDERS["openai"]
    base = (
        around.get(f"{_EMBEDDINGS}_BASE_URL")
        or held.base_url
        or around.get(base_variable)
        or _BASES["openai"]
    )
    key = (
        around.get(f"{_EMBEDDINGS}_KEY")
        or (around.get(held.key_env) if held.key_env else held.key)
        or around.get(key_variable)
    )
    return Endpoint(model=name, base_url=base, key=Secret(key) if key else None)


def _kind(said: str | None, around: Mapping[str, str]) -> Kind:
    """As it is said; else Anthropic's where only its key is there."""
    if said is None:
        only = "ANTHROPIC_API_KEY" in around and "OPENAI_API_KEY" not in around
        return "anthropic" if only and _BASE not in around else "openai"
    for known in _BASES:
        if said == known:
            return known
    raise UsageError(f"no kind of endpoint {said!r}; kinds: {', '.join(_BASES)}")


def _found(around: Mapping[str, str]) -> Path | None:
    folder = around.get("XDG_CONFIG_HOME") or (
        os.path.join(around["HOME"], ".config") if "HOME" in around else None
    )
    places = [Path(FILE)]
    if folder is not None:
        places.append(Path(folder) / "npuforge" / FILE)
    return next((place for place in places if place.is_file()), None)


def _read(file: Path | None) -> _File:
    if file is None:
        return _File()
    try:
        return msgspec.toml.decode(file.read_bytes(), type=_File)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{file}: {error}") from None
