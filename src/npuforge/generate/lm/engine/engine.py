# SPDX-License-Identifier: Apache-2.0
"""A causal model on the CPU: samples from llama.cpp, in this process.

All samples of a prompt are drawn at once: a step for ten reads the weights once. Sample `i` has the
seed `seed + i`. One thread is the default: llama.cpp's threads wait for each other by spinning, so
two threads on a busy machine are slower than one.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.completion import Completion
from npuforge.generate.lm.engine.drawing import draw
from npuforge.generate.lm.engine.model import ModelFile
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling, Watch
from npuforge.scratch import scratch_folder

_BLOCK = 256  # a context is a multiple of so many tokens


class Engine(Protocol):
    """A source of samples; a prompt is given as its tokens."""

    @property
    def model(self) -> ModelFile: ...

    def draw(self, prompt: list[int], sampling: Sampling, watch: Watch) -> Drawn:
        """`watch` is told how many tokens there are so far."""
        ...


def unwatched(tokens: int) -> None:
    """Nobody looks."""


@dataclass(slots=True)
class LlamaEngine:
    """`with LlamaEngine(model) as engine:`; the model is loaded when it is first asked."""

    model: ModelFile
    threads: int = 1
    _server: Any = None
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _room: tuple[int, int] = (0, 0)

    def __enter__(self) -> LlamaEngine:
        library()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server = None
        self._held.close()

    def draw(self, prompt: list[int], sampling: Sampling, watch: Watch = unwatched) -> Drawn:
        room = self.model.context - len(prompt)
        if room <= 0:
            return Drawn((Sample("", 0, False),) * sampling.count, len(prompt), 0.0)
        sampling = replace(sampling, most=min(sampling.most, room))
        vocabulary = self.model.vocabulary()
        grammar = sampling.grammar
        completions = [
            Completion(vocabulary, vocabulary.matcher(grammar) if grammar else None, sampling.check)
            for _ in range(sampling.count)
        ]
        self._serve(sampling.count * (len(prompt) + sampling.most), sampling.count)
        return draw(self._server.handle_completions, prompt, completions, sampling, watch)

    def _serve(self, tokens: int, count: int) -> None:
        """A server with room for so many tokens and samples; one that has it already stays."""
        if self._server is not None and self._room[0] >= tokens and self._room[1] >= count:
            return
        llama = library()
        self._server = None
        place = self._held.enter_context(scratch_folder("lm"))
        wanted = llama.CommonParams()
        wanted.model.path = str(self.model.path)
        # The library insists on listening: on a socket that only this user can reach.
        wanted.hostnames = [str(Path(place) / "llama.sock")]
        wanted.n_ctx = -(-tokens // _BLOCK) * _BLOCK
        wanted.n_parallel = count
        wanted.kv_unified = True
        wanted.cache_ram_mib = 0
        wanted.warmup = False
        wanted.ui = False
        wanted.verbosity = -1
        for side in (wanted.cpuparams, wanted.cpuparams_batch):
            side.n_threads = self.threads
        with _own_signals():
            try:
                self._server = llama.Server(wanted)
            except RuntimeError:
                raise UsageError(f"llama.cpp cannot load {self.model.path}") from None
        self._room = (tokens, count)


def library() -> Any:
    """llama.cpp, where it is installed."""
    try:
        import xllamacpp  # noqa: PLC0415 (optional)
    except ImportError:
        raise UsageError("xllamacpp is not installed: pip install 'npuforge[lm]'") from None
    return xllamacpp


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """The library takes interrupts for itself: they are taken back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
