# SPDX-License-Identifier: Apache-2.0
"""Build one kernel source: find its entry, lint it, compile it with a door for the runner."""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.twin.cache import digest
from npuforge.twin.lint import lint
from npuforge.twin.lint.finding import Finding
from npuforge.twin.lint.model import Function
from npuforge.twin.lint.model import build as build_model
from npuforge.twin.lint.source import read
from npuforge.twin.project_files import ProjectFiles
from npuforge.twin.recipes import CPP_ROOT
from npuforge.twin.rewrite import drop_launchers
from npuforge.twin.toolchain import Toolchain
from npuforge.untrusted.inputs import is_plain_file
from npuforge.untrusted.names import checked_name, checked_path
from npuforge.verdict import Diagnostic, Violation

_LONGEST = 100  # of a symbol that stands for an instance of a template

Defines = Mapping[str, str | None] | Sequence[str]


@dataclass(frozen=True, slots=True)
class KernelBuild:
    """A kernel ready to run (`ok`), or why it is not.

    `root` is the folder that file names in reports are relative to. `parameters` are the names of
    the entry's parameters as the source spells them.
    """

    entry: str
    source: Path
    root: Path
    library: Path | None
    diagnostics: list[Diagnostic]
    violations: list[Violation]
    parameters: tuple[str, ...] = ()
    log: str = ""
    seconds: float = 0.0
    cached: bool = False

    @property
    def ok(self) -> bool:
        return self.library is not None

    @property
    def symbol(self) -> str:
        """The name behind `npuforge_entry_`."""
        return symbol_of(self.entry)


@dataclass(frozen=True, slots=True)
class Entry:
    """A `__global__` function of a source."""

    name: str
    parameters: tuple[str, ...]
    template: bool
    line: int


class Kernel:
    """Namespace of `build`, kept as the name callers know."""

    @staticmethod
    def build(
        source: Path | str,
        *,
        entry: str | None = None,
        defines: Defines = (),
        prelude: str | None = None,
        include_dirs: Sequence[Path] = (),
        root: Path | None = None,
        files: ProjectFiles | None = None,
        toolchain: Toolchain | None = None,
        sandbox: Sandbox | None = None,
    ) -> KernelBuild:
        """Lint and compile `source`: a path, or the source's text.

        The source may include `files`: by default the sources below `root` and what lies in
        `include_dirs`.

        `entry` is needed when the source has several `__global__` functions or when the kernel is a
        template (`name<float, 3>`). `root` defaults to the source's folder.
        """
        started = time.monotonic()
        tools = toolchain or Toolchain.find()
        path = store_text(source, tools) if isinstance(source, str) else Path(source)
        path = Path(os.path.abspath(path))
        if not is_plain_file(path):
            raise UsageError(f"no such kernel source: {path}")
        project = Path(os.path.abspath(root)) if root is not None else path.parent
        folders = [Path(os.path.abspath(folder)) for folder in include_dirs]
        files = files or ProjectFiles.of(project, opened=folders)
        text = files.read(path)
        found = find_entries(path, folders, files)
        chosen = choose_entry(found, entry, path)
        result = tools.compile(
            [_unit(path, text, project, chosen.name, tools)],
            kind="kernel",
            name=symbol_of(chosen.name),
            include_dirs=[path.parent, project, *folders, *_host_folders(text)],
            defines=_defines(defines),
            prelude=prelude,
            root=project,
            files=files,
            about=digest(text),
            sandbox=sandbox,
        )
        units = str(tools.cache.root)
        return KernelBuild(
            entry=chosen.name,
            source=path,
            root=project,
            library=result.path,
            diagnostics=[d for d in result.diagnostics if not (d.file or "").startswith(units)],
            violations=lint_violations(
                [path],
                project,
                entry=chosen.name.partition("<")[0],
                include_dirs=folders,
                files=files,
            ),
            parameters=chosen.parameters,
            log=result.log,
            seconds=time.monotonic() - started,
            cached=result.cached,
        )


def store_text(text: str, tools: Toolchain, name: str = "kernel.cpp") -> Path:
    """A file with this content, at a place that depends on nothing else (so builds are found)."""
    return tools.cache.text(f"sources/{digest(text)}", name, text)


def lint_violations(
    sources: Sequence[Path],
    root: Path,
    *,
    entry: str | None = None,
    include_dirs: Sequence[Path] = (),
    files: ProjectFiles | None = None,
) -> list[Violation]:
    """What the lint finds, with file names relative to `root`."""
    files = files or ProjectFiles.of(root, opened=include_dirs)
    found = lint(sources, entry=entry, include_roots=include_dirs, files=files)
    return [_violation(finding, root) for finding in found]


def find_entries(
    source: Path, include_dirs: Sequence[Path] = (), files: ProjectFiles | None = None
) -> list[Entry]:
    """The `__global__` functions the source and its local includes define."""
    try:
        model = build_model(read([source], include_dirs, files), None)
    except RecursionError:
        raise UsageError(f"{source.name} is nested too deeply to be understood") from None
    entries: dict[str, Entry] = {}
    for function in model.functions:
        if "global" in function.marks and function.body is not None:
            entries.setdefault(function.name, _entry(function))
    return list(entries.values())


def choose_entry(found: Sequence[Entry], wanted: str | None, source: Path) -> Entry:
    """The entry to run: the one asked for, or the only one."""
    if wanted is not None:
        checked_name("entry", wanted, "the kernel's name")
        base = wanted.partition("<")[0].strip()
        match = next((entry for entry in found if entry.name == base), None)
        if match is None:
            have = f"it has {_listed(found)}" if found else "it has none"
            raise UsageError(f"{source.name} has no __global__ function {base!r}; {have}")
        if match.template and "<" not in wanted:
            raise UsageError(
                f"kernel {base} is a template; name an instance: --entry '{base}<...>'"
            )
        return Entry(wanted.strip(), match.parameters, match.template, match.line)
    if not found:
        raise UsageError(f"{source.name} has no __global__ function")
    if len(found) > 1:
        raise UsageError(f"{source.name} has several kernels; choose one: {_listed(found)}")
    return choose_entry(found, found[0].name, source)


def symbol_of(entry: str) -> str:
    """An identifier for an entry, which may be an instance of a template."""
    symbol = re.sub(r"\W+", "_", entry).strip("_")
    return symbol if len(symbol) <= _LONGEST else f"{symbol[:_LONGEST]}_{digest(entry)[:16]}"


def _entry(function: Function) -> Entry:
    names = tuple(name for name, _ in function.parameters)
    if len(names) != function.arity[1]:  # some have no name or a form that was not understood
        names = ()
    return Entry(function.name, names, function.template, function.node.start_point[0] + 1)


def _listed(entries: Sequence[Entry]) -> str:
    return ", ".join(entry.name for entry in entries)


def _unit(source: Path, content: bytes, project: Path, entry: str, tools: Toolchain) -> Path:
    """The translation unit: the source, then the runner's door to its kernel.

    Its text names the source relative to the project, so a copy of the project finds its builds.
    """
    inside = source.is_relative_to(project)
    named = checked_path(source.relative_to(project) if inside else source)
    written = content.decode("utf-8", errors="replace")
    text = f'#include "{named}"\n'
    if "<<<" in written:
        # A launch wrapper beside the kernel: only the device compiler knows the syntax.
        text = f'#line 1 "{named}"\n{drop_launchers(written)}\n'
    door = '#include "npu/entry.h"\n'
    if _in_process(entry):
        # On the device nothing else has this name; here the C library does (asinh, select).
        renamed = f"npuforge_kernel_{entry}"
        text = f"#define {entry} {renamed}\n{text}#undef {entry}\n"
        text += f"{door}NPUFORGE_ENTRY_AS({symbol_of(entry)}, {renamed})\n"
    elif "<" in entry:
        text += f"{door}NPUFORGE_ENTRY_AS({symbol_of(entry)}, {entry})\n"
    else:
        text += f"{door}NPUFORGE_ENTRY({entry})\n"
    return tools.cache.text("units", f"{digest(text)}.cpp", text)


def _in_process(name: str) -> bool:
    """Whether a library every process has defines `name`: its headers and the loader know it."""
    return name.isidentifier() and hasattr(ctypes.CDLL(None), name)


def _host_folders(content: bytes) -> list[Path]:
    """Headers of the host code that stands beside a launch."""
    return [CPP_ROOT / "host"] if b"<<<" in content else []


def _defines(given: Defines) -> dict[str, str | None]:
    if isinstance(given, Mapping):
        return dict(given)
    pairs = (word.partition("=") for word in given)
    return {name: value if equals else None for name, equals, value in pairs}


def _violation(finding: Finding, project: Path) -> Violation:
    path = Path(finding.file)
    shown = path.relative_to(project) if path.is_relative_to(project) else path
    severity = "warning" if finding.severity == "advice" else finding.severity
    return Violation(
        rule=finding.rule,
        severity=severity,
        file=str(shown),
        line=finding.line,
        message=finding.message,
        fix=finding.fix,
    )
