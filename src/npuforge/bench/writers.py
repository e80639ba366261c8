# SPDX-License-Identifier: Apache-2.0
"""Who writes the answer of an attempt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from npuforge.bench.settings import ModelSettings, Settings
from npuforge.generate import strategies
from npuforge.generate.lm.settings import lm_writer
from npuforge.generate.writer import Writer
from npuforge.generate.written.advice import Knowledge
from npuforge.generate.written.loop import Search
from npuforge.generate.written.roles import roles_of
from npuforge.generate.written.strategy import Asked, writer_for
from npuforge.models import Client, Endpoint

EXCHANGES = "exchanges.jsonl"


@dataclass(frozen=True, slots=True)
class Pen:
    """A writer, and the client it asks, where it asks one."""

    writer: Writer
    client: Client | None = None

    @property
    def tokens(self) -> int | None:
        """What has been spent so far."""
        return self.client.ledger.usage.total if self.client is not None else None

    @property
    def files(self) -> dict[str, str]:
        """What it leaves beside the answer."""
        return {"exchanges": EXCHANGES} if self.client is not None else {}


@contextmanager
def pen(settings: Settings, sample: int, place: Path) -> Iterator[Pen]:
    """For one attempt, whose exchanges are kept in `place`. The key comes from this process's
    environment or configuration, never from a run's settings."""
    if settings.embedded is not None:
        with lm_writer(settings.embedded, sample) as writer:
            yield Pen(writer)
        return
    if settings.model is None:
        yield Pen(strategies.writer(settings.strategy))
        return
    model = settings.model
    wanted = asked(settings.strategy, model, sample)
    with Client(Endpoint.find(model.endpoint), record=place / EXCHANGES) as client:
        if model.knowledge == "off":
            yield Pen(writer_for(wanted, client), client)
            return
        store = Path(model.store) if model.store is not None else None
        with Knowledge.opened(store, model.knowledge, model.learn) as knowledge:
            yield Pen(writer_for(wanted, client, knowledge), client)


def asked(strategy: str, model: ModelSettings, sample: int) -> Asked:
    """The strategy; samples differ by their seeds."""
    search = Search(
        rounds=model.rounds,
        candidates=model.candidates,
        beam=model.beam,
        patience=model.patience,
        enough=model.enough,
        kind=model.search,
        seed=sample * model.candidates,
    )
    return Asked(
        strategy,
        language=model.language,
        search=search,
        roles=roles_of(model.roles),
        prompts=Path(model.prompts) if model.prompts is not None else None,
    )
