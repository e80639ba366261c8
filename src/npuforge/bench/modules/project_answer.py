# SPDX-License-Identifier: Apache-2.0
"""An answer without Python: an operator project, or a kernel with a launch file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats import inspect_cpp
from npuforge.bench.modules import calling
from npuforge.bench.modules.answer import Built, Ran
from npuforge.bench.modules.calling import Call
from npuforge.bench.modules.reference import References
from npuforge.dtypes import HostTensor
from npuforge.errors import NpuforgeError, UsageError
from npuforge.twin import launch_file
from npuforge.twin.execute import Mode, RunResult, execute
from npuforge.twin.kernel import lint_violations
from npuforge.twin.launch import TensorArgument
from npuforge.twin.sources.direct import SUFFIXES, has_main
from npuforge.twin.sources.kernel_file import KernelFile
from npuforge.twin.sources.operator import OperatorSource, wanted_outputs
from npuforge.untrusted.inputs import is_plain_file
from npuforge.verdict import Diagnostic, Violation

_LAUNCH_FILES = (".toml", ".yaml", ".yml")
_PROJECT = ("op_host", "op_kernel")


def is_project(folder: Path) -> bool:
    """Whether a folder holds an answer of this form."""
    return any((folder / name).is_dir() for name in _PROJECT) or bool(_with(folder, SUFFIXES))


@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """`form` knows how it is called."""

    root: Path
    form: _Form
    takes_state: bool = True

    @staticmethod
    def open(folder: Path, *, soc: str) -> ProjectAnswer:
        """`UsageError` where nothing says how it is called."""
        if any((folder / name).is_dir() for name in _PROJECT):
            return ProjectAnswer(folder, _Operator(OperatorSource.open(folder, soc=soc)))
        sources, launches = _with(folder, SUFFIXES), _with(folder, _LAUNCH_FILES)
        if any(has_main(source) for source in sources):
            raise UsageError("a program with a main of its own takes no inputs from a task")
        if len(sources) != 1 or len(launches) != 1:
            raise UsageError(
                "nothing says how it is called: give an operator project (op_host, op_kernel), "
                "or one kernel source with one launch file (.toml, .yaml)"
            )
        cases = launch_file.load(launches[0])
        return ProjectAnswer(folder, _Kernel(KernelFile(sources[0]), cases, soc))

    def build(self) -> Built:
        return self.form.build()

    def run(self, references: References, mode: Mode) -> Ran:
        ran = Ran()
        for place in range(len(references.checks)):
            if references.number(place) is None:
                continue
            ran.given.append([])
            wanted = references.outputs(place)
            try:
                launched = self.form.launch(references.call(place), wanted, mode)
                names = self.form.outputs
            except NpuforgeError as error:
                ran.error = ran.error or str(error)
                continue
            _keep(ran, launched)
            unwritten = [name for name in names if launched.unwritten.get(name)]
            if launched.error is None and mode != "time":
                ran.given[-1] = [launched.tensors[name] for name in names]
                if unwritten:
                    count = launched.unwritten[unwritten[0]]
                    ran.error = ran.error or f"{count} elements of {unwritten[0]} are never written"
            if mode == "time":
                break
        return ran

    def cheats(self, ran: Ran, references: References) -> list[Cheat]:  # noqa: ARG002 (its text alone)
        return inspect_cpp(self.root)

    def timed_otherwise(self, checked: Ran, timed: Ran) -> list[Cheat]:  # noqa: ARG002
        """Nothing of it runs outside of the operator."""
        return []

    def lint(self) -> list[Violation]:
        return lint_violations(self.form.kernels, self.root)

    def kernel_diagnostics(self) -> list[Diagnostic]:
        return self.form.diagnostics()


def _with(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in suffixes and is_plain_file(path, within=folder)
    )


def _keep(ran: Ran, launched: RunResult) -> None:
    ran.error = ran.error or launched.error
    ran.isolation = launched.isolation or ran.isolation
    seen = ran.seen
    seen.calls += launched.error is None
    seen.violations += [v for v in launched.violations if v not in seen.violations]
    seen.advice += [a for a in launched.advice if a not in seen.advice]
    seen.races += [r for r in launched.races if r not in seen.races]
    if launched.timing is not None:
        seen.timings.append(launched.timing)


class _Form(Protocol):
    @property
    def kernels(self) -> Sequence[Path]: ...

    @property
    def outputs(self) -> list[str]:
        """Of the last launch, by the launch's names."""
        ...

    def build(self) -> Built: ...

    def diagnostics(self) -> list[Diagnostic]: ...

    def launch(self, call: Call, wanted: Sequence[HostTensor], mode: Mode) -> RunResult: ...


@dataclass(slots=True)
class _Operator:
    """Host code decides how the kernel is launched."""

    source: OperatorSource
    launched: RunResult | None = None

    @property
    def kernels(self) -> Sequence[Path]:
        return self.source.project.kernel_sources

    @property
    def outputs(self) -> list[str]:
        known = {parameter.name for parameter in self.source.operator.outputs}
        tensors = self.launched.tensors if self.launched is not None else {}
        return [name for name in tensors if name.partition("[")[0] in known]

    def build(self) -> Built:
        return self.source.build_host()

    def diagnostics(self) -> list[Diagnostic]:
        return self.source.kernel_diagnostics()

    def launch(self, call: Call, wanted: Sequence[HostTensor], mode: Mode) -> RunResult:
        operator = self.source.operator
        names = [parameter.name for parameter in operator.inputs]
        optional = [parameter.name for parameter in operator.inputs if parameter.optional]
        self.launched = self.source.launch(
            calling.inputs(call, names, optional),
            calling.attributes(call, operator.attrs),
            wanted_outputs(operator, [(t.shape, t.dtype.name) for t in wanted]),
            mode=mode,
        )
        return self.launched


@dataclass(slots=True)
class _Kernel:
    """A launch file has a case for each set of shapes; the tensors are the task's."""

    source: KernelFile
    cases: Sequence[launch_file.Case]
    soc: str
    outputs: list[str]

    def __init__(self, source: KernelFile, cases: Sequence[launch_file.Case], soc: str) -> None:
        if any(case.launch is None for case in cases):
            raise UsageError(f"the launch file of {source.name} is for an operator, not a kernel")
        self.source, self.cases, self.soc, self.outputs = source, cases, soc, []

    @property
    def kernels(self) -> Sequence[Path]:
        return [self.source.path]

    def build(self) -> Built:
        return self.source.build(self.cases[0].entry, self.cases[0].defines)

    def diagnostics(self) -> list[Diagnostic]:
        built = [self.source.build(case.entry, case.defines) for case in self.cases]
        return [diagnostic for one in built if not one.ok for diagnostic in one.diagnostics]

    def launch(self, call: Call, wanted: Sequence[HostTensor], mode: Mode) -> RunResult:
        for case in self.cases:
            assert case.launch is not None
            given = calling.inputs(call, [tensor.name for tensor in case.launch.inputs])
            if not _fits(case.launch.inputs, [given[t.name] for t in case.launch.inputs]):
                continue
            if not _fits(case.launch.outputs, wanted):
                continue
            arguments = tuple(
                replace(argument, data=given[argument.name])
                if isinstance(argument, TensorArgument) and argument.role != "out"
                else argument
                for argument in case.launch.arguments
            )
            self.outputs = [tensor.name for tensor in case.launch.outputs]
            build = self.source.build(case.entry, case.defines)
            if not build.ok:
                return RunResult(error="the kernel does not compile")
            launch = replace(case.launch, arguments=arguments)
            return execute(build, launch, mode=mode, soc=self.soc)
        shapes = ", ".join(
            str(list(value.shape))
            for value in call.forward.values()
            if isinstance(value, HostTensor)
        )
        raise UsageError(f"its launch file has no case for tensors of {shapes}")


def _fits(asked: Sequence[TensorArgument], given: Sequence[object]) -> bool:
    return len(asked) == len(given) and all(
        isinstance(value, HostTensor)
        and (one.shape, one.dtype.name) == (value.shape, value.dtype.name)
        for one, value in zip(asked, given, strict=True)
    )
