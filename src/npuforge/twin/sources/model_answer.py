# SPDX-License-Identifier: Apache-2.0
"""A PyTorch model that calls AscendC kernels: MultiKernelBench's two answer formats."""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.scratch import new_folder, remove
from npuforge.twin.kernel import lint_violations
from npuforge.twin.rewrite import rewrite_launches
from npuforge.twin.sources.answer_text import ANSWER_LIMIT, DirectAnswer, SixStrings
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.toolchain import BuildResult, Toolchain
from npuforge.twin.torchbind.extension import build_extension
from npuforge.untrusted.inputs import read_source
from npuforge.untrusted.names import is_name
from npuforge.verdict import Diagnostic, Violation

SUFFIXES = (".py", ".txt", ".json")


@dataclass(slots=True, weakref_slot=True)
class ModelAnswer:
    """The answer laid out as files; without `operators` the binding launches kernels itself."""

    name: str
    root: Path
    model: Path
    model_class: str
    module: str  # what the model imports
    binding_sources: tuple[Path, ...]
    operators: dict[str, OperatorSource] = field(default_factory=dict)
    toolchain: Toolchain | None = None
    sandbox: Sandbox | None = None
    _extension: BuildResult | None = None

    @staticmethod
    def open(path: Path, *, soc: str = "910b2") -> ModelAnswer:
        """The answer in a `.py` or `.txt` file (six strings) or a `.json` file (direct launch)."""
        if path.suffix not in SUFFIXES:
            raise UsageError(f"{path.name}: answers end in {', '.join(SUFFIXES)}")
        root = new_folder("answer").resolve()
        try:
            answer = _direct(path, root) if path.suffix == ".json" else _six(path, root, soc)
        except BaseException:
            remove(root)
            raise
        weakref.finalize(answer, remove, root)
        return answer

    @property
    def in_process(self) -> bool:
        """Kernels run in the model's own process."""
        return not self.operators

    def build(self) -> BuildResult:
        """The extension module (and, for six strings, the host library before it)."""
        if self._extension is None:
            for source in self.operators.values():
                host = source.build_host()
                if not host.ok:
                    self._extension = host
                    return host
            self._extension = build_extension(
                self.binding_sources,
                self.module,
                launches=self.in_process,
                include_dirs=_folders(self.root),
                root=self.root,
                toolchain=self.toolchain,
                sandbox=self.sandbox,
            )
        return self._extension

    def lint(self) -> list[Violation]:
        """Broken rules the kernel sources' text shows."""
        kernels = [
            path
            for path in sorted(self.root.rglob("*.cpp"))
            if "__global__" in read_source(path, ANSWER_LIMIT, within=self.root)
        ]
        return lint_violations(kernels, self.root) if kernels else []

    def kernel_diagnostics(self) -> list[Diagnostic]:
        """What the compiler said about kernels built so far (variants are built when called)."""
        return [d for source in self.operators.values() for d in source.kernel_diagnostics()]


def _six(path: Path, root: Path, soc: str) -> ModelAnswer:
    answer = SixStrings.read(path)
    text = answer.strings
    stem = _stem(answer.operator, text["host_operator_src"])
    _write(root / "op_host" / f"{stem}_tiling.h", text["host_tiling_src"])
    _write(root / "op_host" / f"{stem}.cpp", text["host_operator_src"])
    _write(root / "op_kernel" / f"{stem}.cpp", text["kernel_src"])
    binding = _write(root / "csrc" / "op.cpp", text["python_bind_src"])
    model = _write(root / "model.py", text["model_src"])
    operator = OperatorSource.open(root, soc=soc)
    return ModelAnswer(
        path.stem,
        root,
        model,
        "ModelNew",
        "custom_ops_lib",
        (binding,),
        {answer.operator: operator},
    )


def _stem(operator: str, host: str) -> str:
    """What the suite calls the files: it makes the operator's name from theirs, which cannot be
    undone for `pooling_1d`; the header that the host code includes says it."""
    for found in re.findall(r'#include\s+"(\w+)_tiling\.h"', host):
        if str(found).replace("_", "").lower() == operator.lower() and is_name("identifier", found):
            return str(found)
    return _snake(operator)


def _direct(path: Path, root: Path) -> ModelAnswer:
    answer = DirectAnswer.read(path)
    sources = []
    for place, content in answer.sources.items():
        is_unit = place.endswith((".cpp", ".asc", ".cc"))
        rewritten = rewrite_launches(content, place) if is_unit else content
        written = _write(root / place, rewritten)
        if is_unit:
            sources.append(written)
    return ModelAnswer(
        path.stem,
        root,
        root / answer.model_file,
        answer.model_class,
        answer.module,
        tuple(sources),
    )


def _folders(root: Path) -> Sequence[Path]:
    """Answers include their own headers by bare name."""
    return sorted({path.parent for path in root.rglob("*.h*")} | {root})


def _write(path: Path, text: str) -> Path:
    """Write a file of the answer; its name was checked when the answer was read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def _snake(name: str) -> str:
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", parted).lower()
