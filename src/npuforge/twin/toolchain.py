# SPDX-License-Identifier: Apache-2.0
"""Compile sources in the sandbox, through the cache: kernels, host code, programs, our runtime.

A build is: precompiled header and runtime library (once per machine), one object per source, one
link. Each of these is a cache entry of its own. The compiler itself runs in the sandbox, because an
`#include` in an untrusted source reads files and a template can ask for any amount of memory.

The precompiled header is force-included, and the prelude after it: no compiler uses a precompiled
header once it has seen a declaration. What must act on our headers goes into `defines`.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from npuforge.errors import ToolchainError, UsageError
from npuforge.sandbox import Completed, Limits, Sandbox
from npuforge.twin import diagnostics
from npuforge.twin.cache import Cache, default_root, digest, file_digest
from npuforge.twin.compilers import Compiler, find_compiler
from npuforge.twin.dependencies import dependencies, has_assembly
from npuforge.twin.project_files import ProjectFiles
from npuforge.twin.recipes import (
    BUILD_LIMITS,
    CPP_ROOT,
    HOST_PROGRAM,
    HOST_RUNNER,
    RECIPES,
    RUNNER,
    RUNTIME,
    RUNTIME_LIBRARY,
    Kind,
    Recipe,
    family_flags,
    processor,
)
from npuforge.untrusted.inputs import is_plain_file
from npuforge.untrusted.names import checked_define, checked_name
from npuforge.verdict import Diagnostic

Progress = Callable[[str, int, int], None]  # what is being built, steps done, steps in all

_RUNTIME_LIMITS = replace(BUILD_LIMITS, cpu_s=900, wall_s=1200)
_RUNTIME_JOBS = 2
_MOST_OBJECT = 128 << 20
_PRECOMPILED = frozenset({"first.h.gch", "first.h.pch"})  # large, and read by the compiler alone
_SOURCE_SUFFIXES = (".h", ".hpp", ".hh", ".inc", ".cpp", ".cc", ".cxx", ".c", ".asc")
# Without this a compiler opens the files that `#line` names, to print their lines.
_NO_EXCERPTS = {
    "gcc": ("-fno-diagnostics-show-caret",),
    "clang": ("-fno-caret-diagnostics",),
}
_NOT_FOUND = re.compile(
    r"(?P<a>.+): (?:No such file or directory|Permission denied)|'(?P<b>.+)' file not found"
)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What became of a build: `path` is the artefact when `ok`; `log` is what the tools printed."""

    ok: bool
    path: Path | None
    diagnostics: list[Diagnostic]
    log: str
    seconds: float
    cached: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """One cached step: the folder of its entry, or what went wrong."""

    entry: Path | None
    log: str = ""
    cached: bool = False
    stopped: str | None = None


@dataclass(slots=True)
class Toolchain:
    """A compiler, our C++ sources, and the cache of what was built from them."""

    compiler: Compiler
    cache: Cache
    cpp_root: Path = CPP_ROOT
    _runtime: Path | None = None
    _headers: dict[tuple[str, ...], str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @staticmethod
    def find() -> Toolchain:
        """The toolchain of this machine (found once per process)."""
        return _find()

    def runtime(self, progress: Progress | None = None) -> Path:
        """The folder with the runtime library and the runner, built on first use."""
        with self._lock:
            if self._runtime is None or not self.cache.intact(self._runtime):
                self._runtime = self._build_runtime(progress or (lambda *_: None))
            return self._runtime

    def compile(
        self,
        sources: Sequence[Path],
        *,
        kind: Kind,
        name: str,
        include_dirs: Sequence[Path] = (),
        defines: Mapping[str, str | None] | None = None,
        prelude: str | None = None,
        root: Path | None = None,
        files: ProjectFiles | None = None,
        about: str = "",
        sandbox: Sandbox | None = None,
        limits: Limits = BUILD_LIMITS,
    ) -> BuildResult:
        """Build `sources` into one library (kernel, host) or program (direct) called `name`.

        The compiler reads `files` and our runtime, nothing else; they default to the sources of
        `root` and all of `include_dirs`. Callers whose folders depend on what a project holds
        must give `files`.

        What `sources` include is found among the dependencies; where that is the work itself,
        `about` (its digest, say) keeps builds of different works from waiting for each other.

        `root` is the project: paths in diagnostics and debug information are relative to it, and a
        copy of the project elsewhere shares its cache entries. It defaults to the folder that holds
        all sources. Faults of the sources are in the result; only a bad call raises.
        """
        started = time.monotonic()
        sandbox = sandbox or Sandbox.detect()
        sources = [Path(os.path.abspath(source)) for source in sources]
        if not sources:
            raise UsageError("no source files to compile")
        checked_name("word", name, "the build's name")
        if root is None:
            root = Path(os.path.commonpath([source.parent for source in sources]))
        project = Path(os.path.abspath(root))
        files = files or ProjectFiles.of(project, opened=include_dirs)
        for source in sources:
            _check_source(source, self.cache.root, files)
        # What a few bytes of a source expand to stays in the cache.
        limits = replace(limits, file_bytes=min(limits.file_bytes, _MOST_OBJECT))
        recipe = RECIPES[kind]
        runtime = self.runtime() if recipe.with_runtime else None
        flags = [*_NO_EXCERPTS[self.compiler.family]]
        flags += [f"-D{checked_define(key, value)}" for key, value in (defines or {}).items()]
        folders = [Path(os.path.abspath(folder)) for folder in include_dirs]

        def result(step: _Step, path: Path | None, cached: bool) -> BuildResult:
            found = [] if path else self._explain(step, project, files)
            spent = time.monotonic() - started
            return BuildResult(path is not None, path, found, step.log, spent, cached)

        precompiled = self._precompiled(recipe, sandbox)
        objects: list[Path] = []
        all_cached = True
        for source in sources:
            step = self._object(
                source,
                recipe,
                project,
                sandbox,
                limits,
                files=files,
                flags=flags,
                folders=folders,
                prelude=prelude,
                precompiled=precompiled,
                about=about,
            )
            if step.entry is None:
                return result(step, None, False)
            objects.append(step.entry / "unit.o")
            all_cached &= step.cached
        library = [] if runtime is None else _link_runtime(runtime)
        output = name + recipe.suffix
        step = self._link(
            output,
            objects,
            [*recipe.link, *library],
            sandbox,
            limits,
            readable=[runtime] if runtime else [],
        )
        if step.entry is None:
            return result(step, None, False)
        return result(step, step.entry / output, all_cached and step.cached)

    def _portable(self, flags: Sequence[str]) -> list[str]:
        """Flags without the place of this checkout: equal runtimes are built once."""
        return [flag.replace(str(self.cpp_root), ".") for flag in flags]

    def _build_runtime(self, progress: Progress) -> Path:
        sandbox = Sandbox.detect()
        runner = self.cpp_root / "runtime" / "runner.cpp"
        host_runner = self.cpp_root / "host" / "host_runner.cpp"
        units = [path for path in sorted(runner.parent.glob("*.cpp")) if path != runner]
        jobs = [(path, RUNTIME) for path in (*units, runner)]
        if host_runner.is_file():
            jobs.append((host_runner, HOST_PROGRAM))
        total = len(jobs) + 1
        done = 0

        def build(job: tuple[Path, Recipe]) -> Path:
            nonlocal done
            source, recipe = job
            step = self._object(source, recipe, self.cpp_root, sandbox, _RUNTIME_LIMITS)
            done += 1
            progress(source.name, done, total)
            return self._must(step, f"cannot build {source.name}") / "unit.o"

        with ThreadPoolExecutor(_RUNTIME_JOBS) as pool:
            built = dict(zip((job[0] for job in jobs), pool.map(build, jobs), strict=True))
        library = f"lib{RUNTIME_LIBRARY}.so"
        common = ["-ldl", "-pthread"]
        steps: list[tuple[str, list[Path], list[str]]] = [
            (library, [built[path] for path in units], ["-shared", *common]),
            (
                RUNNER,
                [built[runner]],
                ["-rdynamic", "-L.", f"-l{RUNTIME_LIBRARY}", "-Wl,-rpath,$ORIGIN", *common],
            ),
        ]
        if host_runner in built:
            steps.append((HOST_RUNNER, [built[host_runner]], ["-rdynamic", *common]))
        key = self._key("runtime", *(f"{step}" for step in steps))
        entry = self.cache.find(key, self.cpp_root)
        if entry is None:
            with self.cache.lock(key):
                entry = self.cache.find(key, self.cpp_root) or self._linked(key, steps, sandbox)
        progress("runtime", total, total)
        return entry

    def _linked(
        self, key: str, steps: Sequence[tuple[str, list[Path], list[str]]], sandbox: Sandbox
    ) -> Path:
        """Link the runtime's library and programs into one entry."""
        with self.cache.workspace() as made:
            for output, objects, flags in steps:
                command = [*self.compiler.command, "-o", output, *map(str, objects), *flags]
                folders = [path.parent for path in objects]
                done = self._invoke(command, made, folders, sandbox, _RUNTIME_LIMITS)
                _make_executable(made / output)
                self._must(_outcome(done, made), f"cannot link {output}")
            return self.cache.store(key, made, (), self.cpp_root)

    def _precompiled(
        self, recipe: Recipe, sandbox: Sandbox, unread: frozenset[str] = _PRECOMPILED
    ) -> Path | None:
        """Return the precompiled header to name to the compiler; None if there is none that works.

        It is large: its content, where `unread` names it, is looked at only when it is used.
        """
        if recipe.precompiled is None or self.compiler.zig:
            return None
        header = self.cpp_root / recipe.precompiled
        if not header.is_file():
            return None
        clang = self.compiler.family == "clang"
        flags = [*recipe.compile, *family_flags(self.compiler), *self._includes(recipe)]
        key = self._key("header", *flags, self._header_digest(recipe))
        entry = self.cache.find(key, self.cpp_root, unread=unread)
        if entry is None:
            with self.cache.lock(key):
                entry = self.cache.find(key, self.cpp_root)
                if entry is None:
                    entry = self._precompile(key, header, flags, sandbox)
        if (entry / "unusable").exists():
            return None
        return entry / ("first.h.pch" if clang else "first.h")

    def _precompile(self, key: str, header: Path, flags: list[str], sandbox: Sandbox) -> Path:
        """Precompile and try it: an entry with `unusable` says why the compiler would not use it.

        Our header failing to compile is left to the kernel's own build to report. gcc silently
        falls back to the plain header when it dislikes a precompiled one (-Winvalid-pch only warns,
        and -w silences it), so a probe with -H has to show that it was taken: a line that starts
        with "!".
        """
        with self.cache.workspace() as made:
            command = [*self.compiler.command, *flags]
            if self.compiler.family == "clang":
                # From the header itself: clang looks for this very file again at every use.
                command += ["-Xclang", "-fno-pch-timestamp", "-x", "c++-header", str(header)]
                done = self._invoke(
                    [*command, "-o", "first.h.pch"], made, [], sandbox, BUILD_LIMITS
                )
                reason = done.stderr if done.returncode != 0 else b""
            else:
                (made / "first.h").write_text(f'#include "{header}"\n', "utf-8")
                build = [*command, "-x", "c++-header", "first.h", "-o", "first.h.gch"]
                done = self._invoke(build, made, [], sandbox, BUILD_LIMITS)
                probe = [
                    *command,
                    "-DNPUFORGE_PROBE=1",
                    f"-ffile-prefix-map={made}=.",
                    "-Winvalid-pch",
                ]
                probe += ["-H", "-fsyntax-only", "-include", str(made / "first.h")]
                tried = self._invoke(
                    [*probe, "-x", "c++", "/dev/null"], made, [], sandbox, BUILD_LIMITS
                )
                taken = any(line.startswith(b"! ") for line in tried.stderr.splitlines())
                reason = b"" if taken else done.stderr + tried.stderr
            if reason:
                (made / "unusable").write_bytes(reason)
            return self.cache.store(key, made, (), self.cpp_root)

    def _object(
        self,
        source: Path,
        recipe: Recipe,
        project: Path,
        sandbox: Sandbox,
        limits: Limits,
        *,
        files: ProjectFiles | None = None,
        flags: Sequence[str] = (),
        folders: Sequence[Path] = (),
        prelude: str | None = None,
        precompiled: Path | None = None,
        about: str = "",
    ) -> _Step:
        """Compile one source to `unit.o`; without `files` it is one of ours."""
        ours = self._includes(recipe)
        fixed = [*recipe.compile, *family_flags(self.compiler), *flags]
        key = self._key(
            "object",
            *fixed,
            *(
                os.path.relpath(folder, project) if folder.is_relative_to(project) else str(folder)
                for folder in folders
            ),
            "\0".join(self._portable(ours) if project == self.cpp_root else ours),
            self._header_digest(recipe),
            str(source.relative_to(project)) if source.is_relative_to(project) else str(source),
            file_digest(source) or "",
            prelude or "",
            *([about] if about else []),
            *(files.closed if files is not None else ()),
            str(precompiled),
            processor() if "-march=native" in recipe.compile else "",
        )
        entry = self.cache.find(key, project)
        if entry is not None:
            return _Step(entry, cached=True)
        if precompiled is not None and not self.cache.intact(precompiled.parent):
            precompiled = self._precompiled(recipe, sandbox, unread=frozenset())
        with self.cache.lock(key), self.cache.workspace() as made:
            entry = self.cache.find(key, project)
            if entry is not None:
                return _Step(entry, cached=True)
            command = [
                *self.compiler.command,
                *fixed,
                "-c",
                "-o",
                "unit.o",
                "-MMD",
                "-MF",
                "unit.d",
                f"-ffile-prefix-map={project}=.",
                f"-ffile-prefix-map={made}=.",
            ]
            command += ours + [f"-I{folder}" for folder in folders]
            if precompiled is not None:
                pch = self.compiler.family == "clang"
                command += ["-include-pch" if pch else "-include", str(precompiled)]
            if prelude is not None:
                (made / "prelude.h").write_text(prelude, "utf-8")
                command += ["-include", str(made / "prelude.h")]
            readable = [*(files.readable() if files is not None else [project]), source]
            readable += [precompiled.parent] if precompiled else []
            done = self._invoke(
                [*command, "-x", "c++", str(source)], made, readable, sandbox, limits
            )
            outcome = _outcome(done, made)
            if outcome.entry is None:
                return outcome
            needed = dependencies(made / "unit.d", made)
            if needed is None or (
                files is not None and has_assembly(needed, self.cpp_root, files.opened)
            ):
                needed = [made / "unit.d"]  # soon gone: nobody knows what was read
            entry = self.cache.store(key, made, needed, project)
            return _Step(entry, outcome.log)

    def _link(
        self,
        output: str,
        objects: Sequence[Path],
        flags: Sequence[str],
        sandbox: Sandbox,
        limits: Limits,
        *,
        readable: Sequence[Path],
    ) -> _Step:
        key = self._key("link", output, *flags, *map(str, objects))
        entry = self.cache.find(key, self.cpp_root)
        if entry is not None:
            return _Step(entry, cached=True)
        with self.cache.lock(key), self.cache.workspace() as made:
            command = [*self.compiler.command, "-o", output, *map(str, objects), *flags]
            visible = [*readable, *(path.parent for path in objects)]
            outcome = _outcome(self._invoke(command, made, visible, sandbox, limits), made)
            if outcome.entry is None:
                return outcome
            _make_executable(made / output)
            return _Step(self.cache.store(key, made, (), self.cpp_root), outcome.log)

    def _invoke(
        self,
        command: Sequence[str],
        scratch: Path,
        readable: Sequence[Path],
        sandbox: Sandbox,
        limits: Limits,
    ) -> Completed:
        env = {"LC_ALL": "C", "PATH": f"{Path(self.compiler.command[0]).parent}:/usr/bin:/bin"}
        store: list[Path] = []
        if self.compiler.zig:
            # zig builds the C++ library itself, once, and keeps it in a folder of its own.
            store = [self.cache.root / "zig"]
            store[0].mkdir(parents=True, exist_ok=True)
            env |= {"ZIG_GLOBAL_CACHE_DIR": str(store[0]), "ZIG_LOCAL_CACHE_DIR": str(store[0])}
        done = sandbox.run(
            command,
            scratch=scratch,
            readable=[self.cpp_root, *self.compiler.readable, *readable],
            writable=store,
            limits=limits,
            env=env,
        )
        if done.returncode != 0:
            self.cache.check_room()
        return done

    def _includes(self, recipe: Recipe) -> list[str]:
        folders = [self.cpp_root / folder for folder in recipe.folders]
        return [f"-I{folder}" for folder in folders if folder.is_dir()]

    def _header_digest(self, recipe: Recipe) -> str:
        """Digest of every header of ours a source of this recipe could include."""
        if recipe.precompiled is None:
            return ""  # trusted sources: their dependency files say it exactly
        if recipe.folders not in self._headers:
            headers: set[Path] = set()
            for folder in recipe.folders:
                headers |= set((self.cpp_root / folder).glob("**/*.h"))
            parts = [
                f"{path.relative_to(self.cpp_root)} {file_digest(path)}" for path in sorted(headers)
            ]
            self._headers[recipe.folders] = digest(*parts)
        return self._headers[recipe.folders]

    def _key(self, *parts: str) -> str:
        return digest(self.compiler.identity, *parts)

    def _must(self, step: _Step, what: str) -> Path:
        """The entry of a step over our own sources, whose failure is the installation's fault."""
        if step.entry is not None:
            return step.entry
        found = self._explain(step, self.cpp_root)
        first = f"{found[0].file}:{found[0].line}: {found[0].message}" if found else step.log[-300:]
        raise ToolchainError(f"{what} with {self.compiler.name}: {first}")

    def _explain(
        self, step: _Step, project: Path, files: ProjectFiles | None = None
    ) -> list[Diagnostic]:
        if step.stopped is not None:
            message = f"the compiler was stopped: {step.stopped} limit"
            return [Diagnostic(None, None, message), *self._parsed(step.log, project)]
        found = self._parsed(step.log, project)
        if files is not None:
            found = [_refused_include(diagnostic, project, files) for diagnostic in found]
        if not found:
            last = step.log.strip().splitlines()[-1:] or ["the compiler failed without a message"]
            return [Diagnostic(None, None, last[0])]
        return found

    def _parsed(self, log: str, project: Path) -> list[Diagnostic]:
        return diagnostics.parse(log, [(project, ""), (self.cpp_root, "npuforge/twin/cpp")])


@cache
def _find() -> Toolchain:
    return Toolchain(find_compiler(), Cache(default_root()))


def _outcome(done: Completed, made: Path) -> _Step:
    log = done.stderr.decode(errors="replace")
    if done.returncode == 0:
        return _Step(made, log)
    # A signal of the compiler's own (it crashed) comes with a log; a limit is ours to name.
    return _Step(None, log, stopped=done.killed_by)


def _link_runtime(runtime: Path) -> list[str]:
    return [f"-L{runtime}", f"-l{RUNTIME_LIBRARY}", f"-Wl,-rpath,{runtime}"]


def _make_executable(path: Path) -> None:
    """The sandbox lets no one change modes, so the linker could not."""
    if path.is_file():
        path.chmod(0o755)


def _check_source(source: Path, ours: Path, files: ProjectFiles) -> None:
    """Refuse a source that is no file of the project and none that we wrote."""
    if not is_plain_file(source):
        raise UsageError(f"no such source file: {source}")
    if not is_plain_file(source, within=ours):
        files.check(source)


def _refused_include(diagnostic: Diagnostic, project: Path, files: ProjectFiles) -> Diagnostic:
    """Return the diagnostic; where an include was out of reach it says so, and what to do."""
    match = _NOT_FOUND.fullmatch(diagnostic.message)
    if match is None:
        return diagnostic
    folder = project if diagnostic.file is None else (project / diagnostic.file).parent
    reason = files.refusal(match["a"] or match["b"], folder)
    return diagnostic if reason is None else replace(diagnostic, message=reason)
