# SPDX-License-Identifier: Apache-2.0
"""The Python way in: a module, a function, or a file, to an outcome and perhaps a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npuforge.errors import UsageError
from npuforge.generate import folder, strategies
from npuforge.generate.events import Observer, silent
from npuforge.generate.interrupts import Interrupts
from npuforge.generate.live import LiveModule, source_text
from npuforge.generate.outcome import Outcome
from npuforge.generate.pipeline import (
    DEFAULT_TUNE_S,
    Settings,
    from_file,
    from_process,
)
from npuforge.generate.writer import Planner, Writer
from npuforge.result_folder import check_free
from npuforge.spec.session import operator_name

if TYPE_CHECKING:
    import torch


def generate(
    module: torch.nn.Module | Callable[..., Any] | Path,
    inputs: Sequence[Any] | None = None,
    *,
    name: str | None = None,
    soc: str = "910b2",
    form: str = "msopgen",
    strategy: str | Planner | Writer = "planner",
    tune_s: float = DEFAULT_TUNE_S,
    out: Path | None = None,
    force: bool = False,
    observer: Observer = silent,
    interrupts: Interrupts | None = None,
) -> Outcome:
    """A proven operator for a module.

    A path names a file in the KernelBench form or a description (TOML); it is run in the sandbox. A
    module or a function comes with example `inputs` and runs in this process. `out` is the folder
    to write, where one is wanted; `force` replaces an earlier result there that was changed.
    `strategy` names who writes the program, or is a function from a graph and a chip to a plan, or
    a writer that talks to a model. `interrupts` hears the signals that end a search early.
    """
    writer = strategies.writer(strategy)
    settings = Settings(soc, form, tune_s, interrupts or Interrupts())
    if out is not None:
        check_free(out, force=force)
    if isinstance(module, Path):
        refused = strategies.REFUSED.get(writer.name, frozenset())
        outcome = from_file(module, writer, settings, observer, refused)
    elif inputs is None:
        raise UsageError("a module or function needs example inputs")
    else:
        called = name or getattr(module, "__name__", None) or type(module).__name__
        with LiveModule(module, inputs, operator_name(called)) as live:
            outcome = from_process(live, source_text(module), writer, settings, observer)
    if out is not None:
        folder.write(outcome, out, force=force)
    return outcome
