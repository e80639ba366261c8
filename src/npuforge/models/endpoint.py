# SPDX-License-Identifier: Apache-2.0
"""Where and how to ask: flags win over the environment, the environment over a file.

A key belongs to the address that it was named with, and goes to no other:

    NPUFORGE_MODEL_KEY     the address that requests go to, whoever of the user's settings names it
    key, key_env           the address of the same file
    a provider's variable  the provider's address, or that of the provider's other variable

With a key, an address without TLS is taken only on this machine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from npuforge.errors import UsageError
from npuforge.keys import named_as_key
from npuforge.models.address import Address
from npuforge.models.config import FILE, EmbeddingsTable, Kind, ModelTable, Price, configured
from npuforge.models.secret import Secret

__all__ = ["Endpoint", "Kind", "Price", "embeddings_endpoint", "embeddings_name"]

_BASES: dict[Kind, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
# What the environment says, by what it is for.
_MODEL = "NPUFORGE_MODEL"
_EMBEDDINGS = "NPUFORGE_EMBEDDINGS"
_PROVIDERS: dict[Kind, tuple[str, str]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}
_DAY_S = 86_400.0
_OWN = frozenset({"name", "kind", "base_url", "key", "key_env"})


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model at an address. `timeout_s` is how long nothing may arrive, `limit_s` how long a
    request may take: a model that thinks for minutes streams all the while."""

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
    limit_s: float = 1800.0
    retries: int = 5

    def __post_init__(self) -> None:
        address = Address.of(self.base_url)
        if self.key is not None and not address.is_encrypted and not address.is_loopback:
            raise UsageError(f"no key is sent to {self.base_url}, as it has no TLS: use https")
        if not 1 <= self.concurrency <= 1024 or self.max_tokens < 1 or not 0 <= self.retries <= 100:
            raise UsageError(
                "concurrency is 1 to 1024, tokens are at least 1, retries are at most 100"
            )
        if not 0 < self.timeout_s <= _DAY_S or not 0 < self.limit_s <= _DAY_S:
            raise UsageError("a time limit has more than 0 seconds, and at most a day")
        if not 0 <= self.temperature <= 2 or not 0 <= (self.requests_per_minute or 0) < math.inf:
            raise UsageError("a temperature is 0 to 2, requests per minute are a finite number")
        if self.budget_cost is not None and self.price is None:
            raise UsageError(f"a budget in money needs prices: [prices.{self.model!r}] in {FILE}")

    @staticmethod
    def find(
        flags: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> Endpoint:
        """Return what is configured; `UsageError` says what is missing.

        `flags` that are None say nothing; `file` is read instead of the usual ones.
        """
        given = {name: value for name, value in (flags or {}).items() if value is not None}
        around = os.environ if environment is None else environment
        config = configured(around, file)
        table = config.model
        model = given.pop("model", None) or around.get(_MODEL) or table.name
        if not model:
            raise UsageError(
                f"no model is named: --model, {_MODEL}, or name under [model] in {FILE}"
            )
        kind = _kind(given.pop("kind", None) or around.get(f"{_MODEL}_KIND") or table.kind, around)
        said = given.pop("base_url", None) or around.get(f"{_MODEL}_BASE_URL")
        base, key = _place(_MODEL, kind, said, table, around)
        rest = {
            name: value
            for name, value in msgspec.structs.asdict(table).items()
            if name not in _OWN and value is not None
        }
        return Endpoint(
            model=model,
            kind=kind,
            base_url=base,
            key=key,
            price=config.prices.get(model),
            **{**rest, **given},
        )


def embeddings_name(
    environment: Mapping[str, str] | None = None, file: Path | None = None
) -> str | None:
    """Return the model of embeddings that the environment names, or else the file."""
    around = os.environ if environment is None else environment
    return around.get(_EMBEDDINGS) or configured(around, file).embeddings.name


def embeddings_endpoint(
    name: str, environment: Mapping[str, str] | None = None, file: Path | None = None
) -> Endpoint:
    """Return where `name` is asked for embeddings: as [embeddings] in the file says, or OpenAI."""
    around = os.environ if environment is None else environment
    table = configured(around, file).embeddings
    said = around.get(f"{_EMBEDDINGS}_BASE_URL")
    base, key = _place(_EMBEDDINGS, "openai", said, table, around)
    return Endpoint(model=name, base_url=base, key=key)


def _place(
    prefix: str,
    kind: Kind,
    said: str | None,
    table: ModelTable | EmbeddingsTable,
    around: Mapping[str, str],
) -> tuple[str, Secret | None]:
    """Return the address that requests go to, and the key that was named for it."""
    key_variable, base_variable = _PROVIDERS[kind]
    provider = around.get(base_variable) or _BASES[kind]
    of_file = table.base_url or provider
    base = said or of_file
    place = Address.of(base)
    if table.key_env:
        named_as_key(table.key_env)
    text = around.get(f"{prefix}_KEY")
    if not text and place == Address.of(of_file):
        text = around.get(table.key_env) if table.key_env else table.key
    if not text and place == Address.of(provider):
        text = around.get(key_variable)
    return base, Secret(text) if text else None


def _kind(said: str | None, around: Mapping[str, str]) -> Kind:
    """Return the kind that is said; else Anthropic's where only its key is there."""
    if said is None:
        only = "ANTHROPIC_API_KEY" in around and "OPENAI_API_KEY" not in around
        return "anthropic" if only and f"{_MODEL}_BASE_URL" not in around else "openai"
    for known in _BASES:
        if said == known:
            return known
    raise UsageError(f"no kind of endpoint {said!r}; kinds: {', '.join(_BASES)}")
