# SPDX-License-Identifier: Apache-2.0
"""Run a built kernel: one process in the sandbox per run, files in and out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from npuforge import dtypes
from npuforge.dtypes import AnyArray, HostTensor
from npuforge.errors import UsageError
from npuforge.files import write_whole
from npuforge.printable import one_line
from npuforge.sandbox import Completed, Limits, Sandbox
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.scratch import scratch_folder
from npuforge.soc.data import Soc, constants_text, load_soc
from npuforge.twin import session_result
from npuforge.twin.kernel import KernelBuild
from npuforge.twin.launch import (
    AbsentArgument,
    AliasArgument,
    Launch,
    ListArgument,
    ScalarArgument,
    ShapeArgument,
    TensorArgument,
    TilingArgument,
    WorkspaceArgument,
)
from npuforge.twin.recipes import RUNNER
from npuforge.twin.timing.report import TimingReport, build_report
from npuforge.twin.toolchain import Toolchain
from npuforge.verdict import Advice, Race, Violation

if TYPE_CHECKING:
    import torch

Mode = Literal["run", "check", "time", "timed"]
MODES: tuple[Mode, ...] = ("run", "check", "time", "timed")

_LIBRARY = "kernel.so"
LIBRARY_NAME = f"./{_LIBRARY}"  # short, without spaces, the same on every machine
TRACE_FILE = "trace.json"
_SEEDS = (1, 2)
_MOST_TRACE = 1 << 30
_MOST_TENSOR = 1 << 34


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one launch did.

    `outputs` holds arrays in NumPy's storage form (`uint16` bits for bfloat16); `tensors` the same
    with their element types. `unwritten` counts the elements of each output the kernel never wrote.
    `timing_note` says why a time was taken with data although without was asked for.
    """

    outputs: dict[str, AnyArray] = field(default_factory=dict)
    tensors: dict[str, HostTensor] = field(default_factory=dict)
    unwritten: dict[str, int] = field(default_factory=dict)
    findings: list[Violation | Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    timing: TimingReport | None = None
    timing_note: str | None = None
    printed: str = ""
    error: str | None = None
    isolation: str = ""
    seconds: float = 0.0

    @property
    def violations(self) -> list[Violation]:
        return [finding for finding in self.findings if isinstance(finding, Violation)]

    @property
    def advice(self) -> list[Advice]:
        return [finding for finding in self.findings if isinstance(finding, Advice)]

    def torch(self, name: str) -> torch.Tensor:
        """One output as a torch tensor."""
        return self.tensors[name].torch()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One process: what it left, and the session's own result."""

    result: RunResult
    raw: session_result.RawResult | None

    @property
    def launch(self) -> session_result.RawLaunch | None:
        return self.raw.launches[-1] if self.raw is not None and self.raw.launches else None


def execute(
    build: KernelBuild,
    launch: Launch,
    *,
    mode: Mode = "check",
    soc: str | Soc = "910b2",
    limits: Limits | None = None,
    auto_sync: bool = True,
    trace: Path | None = None,
    toolchain: Toolchain | None = None,
    sandbox: Sandbox | None = None,
) -> RunResult:
    """Run `build` as `launch` says.

    `run` computes outputs, `check` also looks for broken rules and races, `time` models the time
    without touching tensor data, `timed` with it. Whatever the kernel does ends in the result;
    only a call at fault raises. `trace` (a timeline for Chrome's viewer) goes with the time modes.
    """
    _check_call(build, launch, mode, trace)
    run = _Run(
        build,
        launch,
        soc if isinstance(soc, Soc) else load_soc(soc),
        limits or Limits(),
        auto_sync,
        trace,
        toolchain or Toolchain.find(),
        sandbox or Sandbox.detect(),
    )
    started = time.monotonic()
    result = run.timed_without_data() if mode == "time" else run.once(mode).result
    return replace(result, seconds=time.monotonic() - started)


def _check_call(build: KernelBuild, launch: Launch, mode: Mode, trace: Path | None) -> None:
    if not build.ok:
        raise UsageError(f"kernel {build.entry} did not compile; it cannot run")
    if mode not in MODES:
        raise UsageError(f"unknown mode {mode!r}; known: {', '.join(MODES)}")
    if trace is not None and mode not in ("time", "timed"):
        raise UsageError("a trace is made in the modes time and timed only")
    given = len(launch.arguments)
    if build.parameters and given != len(build.parameters):
        raise UsageError(
            f"{build.entry} takes {len(build.parameters)} arguments "
            f"({', '.join(build.parameters)}), the launch gives {given}"
        )


@dataclass(frozen=True, slots=True)
class _Run:
    build: KernelBuild
    launch: Launch
    soc: Soc
    limits: Limits
    auto_sync: bool
    trace: Path | None
    toolchain: Toolchain
    sandbox: Sandbox

    def timed_without_data(self) -> RunResult:
        """A second run with other fake values tells whether control flow depends on values."""
        first = self.once("time", _SEEDS[0])
        note = None
        if first.result.error is not None or first.launch is None:
            note = "the kernel does not run without data"
        elif first.launch.value_read:
            second = self.once("time", _SEEDS[1])
            if second.launch is None or second.launch.stream_hash != first.launch.stream_hash:
                note = "the kernel's control flow depends on tensor values"
        if note is None:
            return first.result
        timed = self.once("timed").result
        return replace(timed, timing_note=f"timed with data: {note}")

    def once(self, mode: Mode, seed: int = 1) -> _Outcome:
        with scratch_folder("run") as scratch, SharedFolder(scratch) as folder:
            plan = self._plan(folder, mode, seed)
            folder.write("plan.txt", "".join(f"{line}\n" for line in plan).encode())
            assert self.build.library is not None
            runtime = self.toolchain.runtime()
            # A relative name in the plan: paths may contain spaces.
            folder.link(_LIBRARY, self.build.library)
            done = self.sandbox.run(
                [runtime / RUNNER, "plan.txt"],
                scratch=scratch,
                readable=[runtime, self.build.library.parent],
                limits=self.limits,
            )
            return self._collect(folder, done, with_data=mode != "time")

    def _plan(self, folder: SharedFolder, mode: Mode, seed: int) -> list[str]:
        with_data = mode != "time"
        folder.write("constants.txt", constants_text(self.soc).encode())
        lines = [
            f"mode {mode}",
            "constants constants.txt",
            f"result {session_result.RESULT_FILE}",
            f"library {LIBRARY_NAME}",
            f"entry {self.build.symbol}",
            f"blocks {self.launch.blocks}",
            f"key {self.launch.key}",
            f"auto_sync {int(self.auto_sync)}",
            f"seed {seed}",
        ]
        if self.trace is not None:
            lines.append(f"trace {TRACE_FILE}")
        for number, tensor in enumerate(self.launch.tensors()):
            file = "-"
            if with_data and tensor.nbytes:
                file = _tensor_file(number)
                folder.write(file, _content(tensor))
            lines.append(f"buffer {tensor.name} {tensor.nbytes} {tensor.role} {file}")
        by_name = {argument.name: argument for argument in reversed(self.launch.arguments)}
        for number, given in enumerate(self.launch.arguments):
            argument = by_name[given.target] if isinstance(given, AliasArgument) else given
            if isinstance(argument, TensorArgument):
                lines.append(f"pointer {argument.name}")
            elif isinstance(argument, ListArgument):
                lines.append(" ".join(["list", *map(_named_shape, argument.tensors)]))
            elif isinstance(argument, AbsentArgument):
                lines.append("null")
            elif isinstance(argument, ScalarArgument):
                lines.append(f"scalar {argument.raw.hex()}")
            elif isinstance(argument, WorkspaceArgument):
                name = f"{argument.name}#{number}"
                lines += [f"buffer {name} {argument.nbytes} workspace -", f"pointer {name}"]
            elif isinstance(argument, ShapeArgument):
                name = f"{argument.name}#{number}"
                lines += [f"buffer {name} {argument.nbytes} shapes -", f"pointer {name}"]
            elif isinstance(argument, TilingArgument):
                name = f"{argument.name}#{number}"
                folder.write(f"{number}.tiling", argument.raw)
                lines.append(f"buffer {name} {len(argument.raw)} tiling {number}.tiling")
                lines.append(f"pointer {name}")
        return lines

    def _collect(self, folder: SharedFolder, done: Completed, *, with_data: bool) -> _Outcome:
        raw = session_result.load(folder)
        error = failure(done, raw, self.limits)
        objects = {LIBRARY_NAME: self.build.library} if self.build.library else {}
        found = session_result.explain(raw.findings if raw else [], objects, self.build.root)
        tensors: dict[str, HostTensor] = {}
        unwritten: dict[str, int] = {}
        if with_data:
            for number, tensor in enumerate(self.launch.tensors()):
                if tensor.role != "in":
                    octets = _read_output(folder, number, tensor)
                    if octets is None:
                        error = error or f"the kernel's process damaged output {tensor.name}"
                        continue
                    tensors[tensor.name] = HostTensor.from_bytes(octets, tensor.shape, tensor.dtype)
                    if tensor.role == "out":
                        unwritten[tensor.name] = dtypes.unwritten(octets, tensor.dtype)
        result = RunResult(
            outputs={name: tensor.data for name, tensor in tensors.items()},
            tensors=tensors,
            unwritten=unwritten,
            findings=[*found.violations, *found.advice],
            races=found.races,
            timing=self._timing(raw) if error is None else None,
            printed=done.stdout.decode(errors="replace"),
            error=error,
            isolation=self.sandbox.name,
        )
        if self.trace is not None and error is None:
            keep_trace(folder, self.trace)
        return _Outcome(result, raw)

    def _timing(self, raw: session_result.RawResult | None) -> TimingReport | None:
        summary = raw.launches[-1].summary if raw is not None and raw.launches else None
        return build_report(summary, self.soc) if summary is not None else None


def keep_trace(folder: SharedFolder, target: Path) -> None:
    """Put the timeline that the process left where the user wants it; there may be none."""
    try:
        content = folder.find(TRACE_FILE, _MOST_TRACE)
        if content is not None:
            write_whole(target, content)
    except HostileFileError:
        return
    except OSError as problem:
        raise UsageError(f"cannot write {target}: {problem.strerror}") from None


def failure(done: Completed, raw: session_result.RawResult | None, limits: Limits) -> str | None:
    """Why a run has no result, in words; None for one that ended as it should."""
    if done.killed_by is not None:
        return _killed(done.killed_by, limits)
    if raw is None:
        said = _last_line(done.stderr)
        return said or f"the program ended with status {done.returncode} and left no result"
    if raw.error:
        return raw.error
    for launch in raw.launches:
        if launch.error:
            return launch.error
    if done.returncode != 0:
        said = _last_line(done.stderr)
        return f"the program ended with status {done.returncode}" + (f": {said}" if said else "")
    return None


def _killed(reason: str, limits: Limits) -> str:
    bounds = {
        "wall time": f"{limits.wall_s:g} s",
        "cpu time": f"{limits.cpu_s:g} s",
        "memory": f"{limits.memory_bytes / 2**30:g} GiB",
        "processes": str(limits.processes),
        "output": f"{limits.output_bytes / 2**20:g} MiB",
        "file size": f"{limits.file_bytes / 2**30:g} GiB",
        "disk": f"{limits.disk_bytes / 2**30:g} GiB",
        "files": str(limits.files),
        "threads": str(limits.threads),
    }
    if reason in bounds:
        return f"stopped: over the {reason} limit of {bounds[reason]}"
    return f"ended by {reason}"


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()
    return one_line(lines[-1].removeprefix(f"{RUNNER}: ")) if lines else ""


def _named_shape(tensor: TensorArgument) -> str:
    return f"{tensor.name}:{'x'.join(map(str, tensor.shape or (1,)))}"


def _tensor_file(number: int) -> str:
    return f"{number}.bin"


def _content(tensor: TensorArgument) -> bytes:
    if not 0 <= tensor.nbytes <= _MOST_TENSOR:  # host code may have inferred its shape
        raise UsageError(f"{tensor.name} has {tensor.nbytes} bytes; at most {_MOST_TENSOR} are run")
    if tensor.data is not None:
        return tensor.data.to_bytes()
    return bytes([dtypes.poison(tensor.dtype)]) * tensor.nbytes


def _read_output(folder: SharedFolder, number: int, tensor: TensorArgument) -> AnyArray | None:
    if tensor.nbytes == 0:
        return np.zeros(0, np.uint8)
    try:
        return folder.array(_tensor_file(number), tensor.nbytes, size=tensor.nbytes)
    except HostileFileError:
        return None
