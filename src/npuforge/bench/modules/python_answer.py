# SPDX-License-Identifier: Apache-2.0
"""An answer that is a PyTorch module with kernels, in one of MultiKernelBench's formats."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.bench.attempt import Cheat
from npuforge.bench.modules import cheating
from npuforge.bench.modules.answer import Ran
from npuforge.bench.modules.reference import References
from npuforge.twin.execute import Mode
from npuforge.twin.model_verify import run_candidate
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.toolchain import BuildResult
from npuforge.verdict import Diagnostic, Violation


@dataclass(frozen=True, slots=True)
class PythonAnswer:
    """`seed` is what the suite seeds before the model is made."""

    source: ModelAnswer
    soc: str
    seed: int
    takes_state: bool = False

    def build(self) -> BuildResult:
        return self.source.build()

    def run(self, references: References, mode: Mode) -> Ran:
        done, seen, given = run_candidate(
            self.source, references.folder, mode, self.soc, seed=self.seed
        )
        return Ran(given, seen, done.error, done.isolation, done)

    def cheats(self, ran: Ran, references: References) -> list[Cheat]:
        assert ran.done is not None
        return cheating.in_python(self.source, ran.done, ran.seen, references)

    def timed_otherwise(self, checked: Ran, timed: Ran) -> list[Cheat]:
        assert checked.done is not None
        assert timed.done is not None
        return cheating.timed_otherwise(checked.done, timed.done)

    def lint(self) -> list[Violation]:
        return self.source.lint()

    def kernel_diagnostics(self) -> list[Diagnostic]:
        return self.source.kernel_diagnostics()
