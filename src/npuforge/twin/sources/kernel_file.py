# SPDX-License-Identifier: Apache-2.0
"""A kernel source alone: the launch comes from the case, tiling bytes included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.twin.kernel import Kernel, KernelBuild
from npuforge.twin.launch_file import Case
from npuforge.twin.project_files import ProjectFiles
from npuforge.twin.sources.subject import Prepared


@dataclass(slots=True)
class KernelFile:
    """`path` with the kernel `entry` (or the only one there is)."""

    path: Path
    entry: str | None = None
    include_dirs: Sequence[Path] = ()
    sandbox: Sandbox | None = None
    _builds: dict[tuple[str | None, tuple[str, ...]], KernelBuild] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def root(self) -> Path:
        return self.path.parent

    @property
    def files(self) -> ProjectFiles:
        """The files that the source may include."""
        return ProjectFiles.of(self.root, opened=self.include_dirs)

    def prepare(self, case: Case) -> Prepared:
        if case.launch is None:
            raise UsageError(
                f"{self.path.name} is a kernel source: its launch file gives 'blocks' and "
                "'argument', not an operator's inputs"
            )
        build = self.build(self.entry or case.entry, case.defines)
        if not build.ok:
            return Prepared(build=build, diagnostics=build.diagnostics)
        inputs = [(t.name, t.data) for t in case.launch.inputs if t.data is not None]
        return Prepared(build=build, launch=case.launch, inputs=inputs)

    def build(self, entry: str | None = None, defines: tuple[str, ...] = ()) -> KernelBuild:
        """The build for these settings, made once."""
        key = (entry, defines)
        if key not in self._builds:
            self._builds[key] = Kernel.build(
                self.path,
                entry=entry,
                defines=defines,
                include_dirs=self.include_dirs,
                files=self.files,
                sandbox=self.sandbox,
            )
        return self._builds[key]
