# SPDX-License-Identifier: Apache-2.0
"""What strategies talk to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from npuforge.errors import UsageError
from npuforge.models.cassette import Exchange, Recorder, Replay, read
from npuforge.models.endpoint import Endpoint
from npuforge.models.exchange import Message, Reply, Request, Usage
from npuforge.models.ledger import Ledger
from npuforge.models.transport import Transport, Watch, unwatched


class Client:
    """`with Client(endpoint, record=FILE) as client:`; any number of threads may ask.

    With `replay` nothing goes over a network: replies come from a recording, and tokens and budget
    count as they did.
    """

    def __init__(
        self, endpoint: Endpoint, *, record: Path | None = None, replay: Path | None = None
    ) -> None:
        self.endpoint = endpoint
        self.ledger = Ledger(endpoint)
        hide = endpoint.key.hidden_in if endpoint.key is not None else str
        self._recorder = Recorder(record, hide) if record is not None else None
        self._transport = Transport(endpoint) if replay is None else None
        self._replay = Replay(read(replay)) if replay is not None else None

    @staticmethod
    def replaying(recording: Path, record: Path | None = None) -> Client:
        """Asks a recording with the settings it was made with."""
        held = read(recording)
        if not held:
            raise UsageError(f"{recording} holds no exchange")
        first = held[0].request
        endpoint = Endpoint(
            model=first.model, temperature=first.temperature, max_tokens=first.max_tokens
        )
        return Client(endpoint, record=record, replay=recording)

    def stop(self) -> None:
        """End what is being asked, at once; who asks from now on gets a `ModelError`."""
        if self._transport is not None:
            self._transport.stop()

    @property
    def replayed(self) -> list[dict[str, str]] | None:
        """The notes of a recording that answers; None where a model does."""
        return self._replay.notes if self._replay is not None else None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._transport is not None:
            self._transport.close()
        if self._recorder is not None:
            self._recorder.close()

    def ask(
        self,
        messages: Sequence[Message],
        *,
        purpose: str = "",
        seed: int | None = None,
        temperature: float | None = None,
        watch: Watch = unwatched,
        notes: Mapping[str, str] | None = None,
    ) -> Reply:
        """The reply. `BudgetError` where nothing may be spent any more, `ModelError` where there is
        none to be had. `purpose` and `notes` are kept with the exchange."""
        self.ledger.check()
        request = Request(
            messages=list(messages),
            model=self.endpoint.model,
            temperature=self.endpoint.temperature if temperature is None else temperature,
            max_tokens=self.endpoint.max_tokens,
            seed=seed,
        )
        if self._replay is not None:
            reply, lost = self._replay.ask(request), Usage()
        else:
            assert self._transport is not None
            reply, lost = self._transport.ask(request, watch)
        self.ledger.add(reply.usage + lost)
        if self._recorder is not None:
            self._recorder.add(
                Exchange(request=request, reply=reply, purpose=purpose, notes=dict(notes or {}))
            )
        return reply
