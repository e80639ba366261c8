# SPDX-License-Identifier: Apache-2.0
"""The settings of the embedded model, as a run of a benchmark keeps them, and its strategy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from npuforge.generate.lm.strategy import LmStrategy


class EmbeddedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The file of the model, and the settings of its sampling."""

    model: str
    samples: int = 4
    threads: int = 1
    temperature: float = 0.6


@contextmanager
def lm_writer(settings: EmbeddedSettings, attempt: int = 0) -> Iterator[LmStrategy]:
    """Open the model and yield its strategy; attempts at one task differ by their seeds."""
    from npuforge.generate.lm.engine.engine import LlamaEngine  # noqa: PLC0415
    from npuforge.generate.lm.engine.model import find  # noqa: PLC0415
    from npuforge.generate.lm.engine.sampling import Sampling  # noqa: PLC0415
    from npuforge.generate.lm.strategy import LmStrategy  # noqa: PLC0415

    sampling = Sampling(
        count=settings.samples,
        temperature=settings.temperature,
        seed=attempt * settings.samples,
    )
    with LlamaEngine(find(Path(settings.model)), settings.threads) as engine:
        yield LmStrategy(engine, sampling)
