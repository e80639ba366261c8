# SPDX-License-Identifier: Apache-2.0
"""A program that launches its own kernels: built with stand-ins for the device runtime, then run.

The program runs in a copy of its folder, so that relative paths (`./input/x.bin`) work and nothing
it writes stays. A command that judges it runs in another copy (`program_folder`).
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import Completed, Limits, Sandbox
from npuforge.sandbox.python import interpreter
from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.scratch import scratch_folder
from npuforge.soc.data import Soc, constants_text, load_soc
from npuforge.twin import session_result
from npuforge.twin.execute import TRACE_FILE, failure, keep_trace
from npuforge.twin.kernel import find_entries, lint_violations, store_text
from npuforge.twin.project_files import SOURCE_LIMIT, ProjectFiles
from npuforge.twin.recipes import CPP_ROOT
from npuforge.twin.rewrite import rewrite_launches, tokens
from npuforge.twin.sources.program_folder import (
    Golden,
    check_command,
    copy_folder,
    show_to_judge,
    show_to_program,
)
from npuforge.twin.timing.report import TimingReport, build_report
from npuforge.twin.toolchain import BuildResult, Toolchain
from npuforge.untrusted.inputs import is_plain_file, read_source
from npuforge.untrusted.names import checked_name, checked_path
from npuforge.untrusted.open_folder import is_shared
from npuforge.verdict import Advice, Race, Violation

SUFFIXES = (".cpp", ".cc", ".cxx", ".asc")
_LAUNCH_WORDS = {"ICPU_RUN_KF", "ACLRT_LAUNCH_KERNEL"}
_GENERATED = re.compile(r'#\s*include\s*["<]aclrtlaunch_(\w+)\.h[">]')
_LIMITS = Limits(processes=8)
_SETUP_LIMITS = Limits(cpu_s=300, wall_s=300, processes=64)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """What one run of the program did; `launches` are its kernels' names in order."""

    status: int
    printed: str
    launches: list[str] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    timings: list[TimingReport] = field(default_factory=list)
    correct: bool | None = None
    error: str | None = None


@dataclass(slots=True)
class DirectProgram:
    """`main` has the program's main function; `others` launch kernels for it or are part of them.

    `defines` are preprocessor names that the program's own build would set, `include_dirs` folders
    outside of its own that its sources may include from, `golden` patterns of files for the judge
    alone.
    """

    main: Path
    others: tuple[Path, ...] = ()
    defines: Mapping[str, str | None] = field(default_factory=dict)
    include_dirs: Sequence[Path] = ()
    golden: Sequence[str] = ()
    toolchain: Toolchain | None = None
    sandbox: Sandbox | None = None

    @staticmethod
    def open(
        path: Path, *, include_dirs: Sequence[Path] = (), golden: Sequence[str] = ()
    ) -> DirectProgram:
        """The program at `path`: its main source, or a folder with exactly one."""
        start = Path(os.path.realpath(path))
        if start.is_dir():
            found = [source for source in _sources(start) if has_main(source)]
            if len(found) != 1:
                names = ", ".join(source.name for source in found) or "none"
                raise UsageError(f"{start} should have one source with main and launches: {names}")
            start = found[0]
        sources = _sources(start.parent)
        others = [
            source
            for source in sources
            if source != start
            and not has_main(source)
            and (launches_kernels(source) or _is_device_unit(source, sources))
        ]
        folders = tuple(Path(os.path.abspath(folder)) for folder in include_dirs)
        return DirectProgram(start, tuple(others), include_dirs=folders, golden=tuple(golden))

    @property
    def name(self) -> str:
        return self.main.stem

    @property
    def root(self) -> Path:
        return self.main.parent

    @property
    def files(self) -> ProjectFiles:
        """The files that the sources may include."""
        return ProjectFiles.of(self.root, opened=self.include_dirs, closed=self.golden)

    def lint(self) -> list[Violation]:
        """Broken rules the sources' text shows."""
        return lint_violations(
            [self.main, *self.others],
            self.root,
            include_dirs=self.include_dirs,
            files=self.files,
        )

    def build(self) -> BuildResult:
        """Compile the rewritten sources; messages name the originals and their lines."""
        tools = self.toolchain or Toolchain.find()
        generated = self._launch_headers(tools)
        units = [self._unit(source, tools) for source in (self.main, *self.others)]
        return tools.compile(
            units,
            kind="direct",
            name=re.sub(r"[^\w.+-]", "_", self.name),
            include_dirs=[*generated, self.root, *self.include_dirs, CPP_ROOT / "host"],
            defines=self.defines,
            prelude='#include "npu/direct.h"\n',
            root=self.root,
            files=ProjectFiles.of(
                self.root, opened=[*generated, *self.include_dirs], closed=self.golden
            ),
            sandbox=self.sandbox,
        )

    def run(
        self,
        build: BuildResult,
        *,
        mode: Literal["run", "check", "timed"] = "check",
        soc: str | Soc = "910b2",
        setup: str | None = None,
        verify: str | None = None,
        arguments: Sequence[str] = (),
        limits: Limits | None = None,
        auto_sync: bool = True,
        trace: Path | None = None,
    ) -> ProgramRun:
        """Run the program once, in a copy of its folder.

        `setup` is a command run there before; `verify` one run after it whose exit status says
        whether the results are right. It runs in a copy that the program has not touched, with the
        files that the program made; the program gets neither reference data nor scripts.
        """
        if build.path is None:
            raise UsageError(f"{self.name} did not compile; it cannot run")
        chip = soc if isinstance(soc, Soc) else load_soc(soc)
        tools, sandbox = self.toolchain or Toolchain.find(), self.sandbox or Sandbox.detect()
        bounds = limits or _LIMITS
        with scratch_folder("direct") as folder, scratch_folder("judge") as judges:
            scratch = Path(os.path.realpath(folder))
            work = scratch / "work"
            golden = None
            if verify is not None:
                golden = Golden(tuple(self.golden))
                check_command(verify, self.root, golden)
            made = self._made(judges, setup, sandbox)
            show_to_program(made, work, golden)
            with SharedFolder(scratch) as shared:
                shared.write("constants.txt", constants_text(chip).encode())
                done = sandbox.run(
                    [build.path, *arguments],
                    scratch=scratch,
                    readable=[tools.runtime(), build.path.parent],
                    limits=bounds,
                    cwd=work,
                    env={
                        "NPUFORGE_MODE": mode,
                        "NPUFORGE_CONSTANTS": str(scratch / "constants.txt"),
                        "NPUFORGE_RESULT": str(scratch / session_result.RESULT_FILE),
                        "NPUFORGE_TRACE": str(scratch / TRACE_FILE) if trace else "",
                        "NPUFORGE_AUTO_SYNC": str(int(auto_sync)),
                    },
                )
                outcome = self._collect(shared, done, build.path, chip, bounds, trace)
            if verify is None or golden is None or outcome.error is not None:
                return outcome
            place = Path(os.path.realpath(judges)) / "judged"
            changed = show_to_judge(made, work, place, golden)
            judged = _shell(verify, place, place, sandbox)
            said = (judged.stdout + judged.stderr).decode(errors="replace")
            if changed:
                said += f"changed by the program, judged as before: {', '.join(changed[:10])}\n"
            return replace(outcome, correct=judged.returncode == 0, printed=outcome.printed + said)

    def _made(self, judges: Path, setup: str | None, sandbox: Sandbox) -> Path:
        """Copy the program's folder and run the set-up command in the copy."""
        made = Path(os.path.realpath(judges)) / "made"
        if is_shared(self.root):
            raise UsageError(
                f"{self.root} is no program's own; put the program in a folder of its own"
            )
        copy_folder(self.root, made)
        if setup is not None:
            prepared = _shell(setup, made, made, sandbox)
            if prepared.returncode != 0:
                raise UsageError(f"the set-up command failed: {_reason(prepared)}")
        return made

    def _collect(
        self,
        folder: SharedFolder,
        done: Completed,
        program: Path,
        chip: Soc,
        limits: Limits,
        trace: Path | None,
    ) -> ProgramRun:
        raw = session_result.load(folder)
        found = session_result.explain(
            raw.findings if raw else [], {str(program): program}, self.root
        )
        launches = raw.launches if raw is not None else []
        summaries = [one.summary for one in launches]
        error = failure(done, raw, limits)
        if error is None and not launches:
            error = "the program launched no kernel"
        if trace is not None and error is None:
            keep_trace(folder, trace)
        said = done.stdout + done.stderr
        return ProgramRun(
            status=done.returncode,
            printed=said.decode(errors="replace"),
            launches=[launch.name for launch in launches],
            violations=found.violations,
            advice=found.advice,
            races=found.races,
            timings=[build_report(one, chip) for one in summaries if one is not None],
            error=error,
        )

    def _text(self, source: Path) -> str:
        return self.files.read(source).decode("utf-8", errors="replace")

    def _unit(self, source: Path, tools: Toolchain) -> Path:
        text = self._text(source)
        shown = checked_path(source.relative_to(self.root))
        rewritten = rewrite_launches(text, shown)
        stored = f'#line 1 "{shown}"\n{rewritten}'
        return store_text(stored, tools, f"{source.stem}.cpp")

    def _launch_headers(self, tools: Toolchain) -> list[Path]:
        """`aclrtlaunch_NAME.h` as the vendor's build generates it, for every one included.

        The header includes the kernel's source: its parameters' types are then simply known.
        """
        folders: list[Path] = []
        text = "".join(self._text(source) for source in (self.main, *self.others))
        for kernel in dict.fromkeys(_GENERATED.findall(text)):
            checked_name("identifier", kernel, "the included launcher's kernel")
            source = self._kernel_source(kernel)
            shown = checked_path(source.relative_to(self.root))
            header = (
                f'#pragma once\n#include "{shown}"\n#include "acl/acl.h"\n'
                "#ifndef ACLRT_LAUNCH_KERNEL\n"
                "#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel\n#endif\n"
                f"template <typename... A>\nuint32_t aclrtlaunch_{kernel}"
                "(uint32_t blocks, aclrtStream, A... arguments) {\n"
                f'    return npuforge::direct::call_untyped(&{kernel}, "{kernel}", '
                "{blocks}, arguments...);\n}\n"
            )
            folders.append(store_text(header, tools, f"aclrtlaunch_{kernel}.h").parent)
        return folders

    def _kernel_source(self, kernel: str) -> Path:
        for source in _sources(self.root):
            if source != self.main and kernel in {
                entry.name for entry in find_entries(source, self.include_dirs, self.files)
            }:
                return source
        raise UsageError(f"no source in {self.root} defines the kernel {kernel}")


def total(timings: Sequence[TimingReport]) -> dict[str, Any]:
    """Verdict fields of all launches: times add up, the longest launch explains them."""
    if not timings:
        return {}
    longest = max(timings, key=lambda report: report.time_us)
    pipes: dict[str, float] = {}
    for report in timings:
        for name, times in report.pipes.items():
            pipes[name] = round(pipes.get(name, 0.0) + times.busy_us, 3)
    whole = sum(report.time_us for report in timings)
    return {**longest.verdict_fields(), "time_us": round(whole, 3), "pipes": pipes}


def has_main(source: Path) -> bool:
    """Whether the source defines `main` and launches kernels."""
    found = tokens(_content(source))
    main = any(
        token.text == "main" and following.text == "("
        for token, following in itertools.pairwise(found)
    )
    return main and (_launches(found) or _calls_launcher(source))


def launches_kernels(source: Path) -> bool:
    """Whether a launch stands in the source."""
    return _launches(tokens(_content(source)))


def _is_device_unit(source: Path, sources: Sequence[Path]) -> bool:
    """A source of its own for the device compiler: functions that other sources only declare."""
    included = re.compile(rf'#\s*include\s*"(?:[^"]*/)?{re.escape(source.name)}"')
    return source.suffix == ".asc" and not any(
        included.search(_content(other)) for other in sources
    )


def _launches(found: Sequence[Any]) -> bool:
    return any(token.text == "<<<" or token.text in _LAUNCH_WORDS for token in found)


def _calls_launcher(source: Path) -> bool:
    """A main that uses the device runtime and leaves launching to another file."""
    return re.search(r'#\s*include\s*["<]acl/acl', _content(source)) is not None


def _content(source: Path) -> str:
    return read_source(source, SOURCE_LIMIT)


def _sources(folder: Path) -> list[Path]:
    """Sources in a folder; a link that leads out of it is not among them."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in SUFFIXES and is_plain_file(path, within=folder)
    )


def _shell(command: str, scratch: Path, work: Path, sandbox: Sandbox) -> Completed:
    """Run a command of the user's with this interpreter's packages in reach."""
    folder = Path(sys.executable).parent
    return sandbox.run(
        ["sh", "-c", command],
        scratch=scratch,
        readable=interpreter(),
        limits=_SETUP_LIMITS,
        cwd=work,
        env={"PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    )


def _reason(done: Completed) -> str:
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return done.killed_by or (one_line(lines[-1]) if lines else f"status {done.returncode}")
