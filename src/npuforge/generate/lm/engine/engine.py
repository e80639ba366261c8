# SPDX-License-Identifier: Apache-2.0
"""A causal model on the CPU: samples from llama.cpp, in this process.

All samples of a question are drawn at once: they share its tokens, and a step for ten costs the
weights' way through memory once. Sample `i` is drawn with the seed `seed + i`, so the same call
gives the same samples. One thread is the default: llama.cpp's threads wait for each other by
spinning, so that two on a busy machine are slower than one.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.course import Course
from npuforge.generate.lm.engine.guided import draw_guided
from npuforge.generate.lm.engine.model import ModelFile
from npuforge.generate.lm.engine.sampling import Drawn, Sample, Sampling, Watch

_BLOCK = 256  # a context is a multiple of so many tokens
_ENDED = "stop"


class Engine(Protocol):
    """Whatever draws samples; a question is text, or the tokens of it."""

    @property
    def model(self) -> ModelFile: ...

    def draw(self, prompt: str | list[int], sampling: Sampling, watch: Watch) -> Drawn:
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

    def draw(self, prompt: str | list[int], sampling: Sampling, watch: Watch = unwatched) -> Drawn:
        started = time.monotonic()
        # A text has at most a token a byte.
        size = len(prompt) if isinstance(prompt, list) else len(prompt.encode())
        if isinstance(prompt, list):
            room = self.model.context - size
            if room <= 0:  # nothing can be said to it
                return Drawn((Sample("", 0, False),) * sampling.count, size, 0.0)
            sampling = replace(sampling, most=min(sampling.most, room))
        words = self.model.words() if sampling.guide is not None else None
        if words is not None and isinstance(prompt, list):
            self._serve(sampling.count * (size + sampling.most), sampling.count)
            courses = [Course(words, sampling.guide) for _ in range(sampling.count)]
            return draw_guided(self._server.handle_completions, prompt, courses, sampling, watch)
        self._serve(size + sampling.count * sampling.most, sampling.count)
        asked = {
            "prompt": prompt,
            "n": sampling.count,
            "max_tokens": sampling.most,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": 0,
            "min_p": 0.0,
            "seed": sampling.seed,
            "stop": list(sampling.stop),
            "stream": True,
            # What an earlier question left behind would change the order of sums, and with it,
            # now and then, a sample.
            "cache_prompt": False,
        }
        if sampling.grammar:
            asked["grammar"] = sampling.grammar
        pieces = _Pieces(sampling.count, watch)
        _interruptible(self._server.handle_completions, asked, pieces)
        if pieces.error is not None:
            raise UsageError(f"{self.model.name}: {pieces.error}")
        return pieces.drawn(time.monotonic() - started)

    def _serve(self, tokens: int, count: int) -> None:
        """A server with room for so many tokens and samples; one that has it already stays."""
        if self._server is not None and self._room[0] >= tokens and self._room[1] >= count:
            return
        llama = library()
        self._server = None
        place = self._held.enter_context(tempfile.TemporaryDirectory(prefix="npuforge-lm-"))
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


@dataclass(slots=True)
class _Pieces:
    """What comes in, token by token; says True when no more is wanted."""

    count: int
    watch: Watch
    error: str | None = None
    unwanted: bool = False
    texts: list[list[str]] = field(init=False)
    tokens: list[int] = field(init=False)
    ended: list[bool] = field(init=False)
    asked: int = 0
    seen: int = 0

    def __post_init__(self) -> None:
        self.texts = [[] for _ in range(self.count)]
        self.tokens = [0] * self.count
        self.ended = [False] * self.count

    def __call__(self, piece: Mapping[str, Any]) -> bool:
        if "error" in piece:
            self.error = str(piece["error"].get("message", piece["error"]))
            return True
        for choice in piece.get("choices", ()):
            place = choice["index"]
            self.texts[place].append(choice["text"])
            if choice["finish_reason"] is not None:
                self.ended[place] = choice["finish_reason"] == _ENDED
                usage = piece.get("usage", {})
                self.tokens[place] = usage.get("completion_tokens", 0)
                self.asked = usage.get("prompt_tokens", 0)
            self.seen += 1
        return self.unwanted

    def drawn(self, seconds: float) -> Drawn:
        every = zip(self.texts, self.tokens, self.ended, strict=True)
        samples = tuple(Sample("".join(text), count, ended) for text, count, ended in every)
        return Drawn(samples, self.asked, seconds)


def _interruptible(handle: Callable[..., Any], asked: Mapping[str, Any], pieces: _Pieces) -> None:
    """The call in a thread of its own: an exception cannot leave it, and an interrupt must."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            handle(dict(asked), pieces)
        except BaseException as error:  # handed over below
            failed.append(error)

    thread = threading.Thread(target=work, name="npuforge-lm", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)
            pieces.watch(pieces.seen)
    except BaseException:
        pieces.unwanted = True
        thread.join()
        raise
    if failed:
        raise failed[0]
