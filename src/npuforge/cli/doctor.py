# SPDX-License-Identifier: Apache-2.0
"""`npuforge doctor`: what works on this machine, and how to fix what does not."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from npuforge import __version__
from npuforge.cli.output import console, json_option, write_json
from npuforge.errors import NpuforgeError
from npuforge.keys import keyless
from npuforge.sandbox import Sandbox
from npuforge.sandbox.sandbox import REMEDY
from npuforge.twin.cache import Cache, default_root
from npuforge.twin.compilers import find_compiler

_DEVICE_COMPILERS = ("bisheng", "ccec")
_ENDPOINTS = (("OPENAI_API_KEY", "OPENAI_BASE_URL"), ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"))


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `fix` is None when there is nothing to do."""

    name: str
    ok: bool
    required: bool
    detail: str
    fix: str | None = None


@click.command()
@json_option
def doctor(json_out: str | None) -> int:
    """What works on this machine, and how to fix the rest.

    Exit status 1 means that something that generating, checking and timing needs is missing.
    """
    checks = [check() for check in CHECKS]
    healthy = all(check.ok for check in checks if check.required)
    if json_out is not None:
        report = {"version": __version__, "ok": healthy, "checks": [asdict(c) for c in checks]}
        write_json(json.dumps(report, indent=2), json_out)
    if json_out != "-":
        _show(checks, json_out)
    return 0 if healthy else 1


def _show(checks: list[Check], json_out: str | None) -> None:
    out = console(json_out)
    width = max(len(check.name) for check in checks)
    for check in checks:
        word, colour = ("ok", "green") if check.ok else ("missing", "red")
        if not check.ok and not check.required:
            word, colour = "absent", "yellow"
        out.print(f"[{colour}]{word:8}[/]{check.name:{width}}  ", end="")
        out.print(check.detail, markup=False)
        if check.fix is not None:
            out.print(f"{'':{8 + width}}  {check.fix}", style="dim", markup=False)


def _compiler() -> Check:
    try:
        compiler = find_compiler()
    except NpuforgeError as error:
        found, _, fix = str(error).rpartition(": ")
        return Check("compiler", False, True, found, fix)
    return Check("compiler", True, True, f"{compiler.name} ({' '.join(compiler.command)})")


def _sandbox() -> Check:
    try:
        found = Sandbox.strongest()
    except NpuforgeError as error:
        return Check("sandbox", False, True, str(error), "check that /proc is mounted")
    if not found.protects_files:
        detail = f"{found.name} only: files are not protected, so strangers' code is refused"
        return Check("sandbox", False, True, detail, REMEDY)
    return Check("sandbox", True, True, found.name)


def _torch() -> Check:
    try:
        needed = importlib.metadata.requires("npuforge") or []
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        needed = []
    pinned = next((line for line in needed if _names_torch(line)), "torch")
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return Check("torch", False, True, "not installed", f"pip install {pinned} (or: make demo)")
    _, _, wanted = pinned.partition("==")
    if wanted and version.partition("+")[0] != wanted:
        return Check(
            "torch", True, True, f"{version}, tried with {wanted} only", f"pip install {pinned}"
        )
    return Check("torch", True, True, version)


def _names_torch(requirement: str) -> bool:
    return requirement.partition("==")[0].strip() == "torch"


def _symbols() -> Check:
    for name in ("addr2line", "llvm-symbolizer"):
        found = shutil.which(name)
        if found is not None:
            return Check("symbols", True, True, found)
    return Check("symbols", False, True, "no addr2line", "install binutils (or llvm)")


def _cache() -> Check:
    try:
        cache = Cache(default_root())
        with cache.workspace():
            pass
    except NpuforgeError as error:
        fix = "set NPUFORGE_CACHE to a folder that only you can write"
        return Check("cache", False, True, str(error), fix)
    return Check("cache", True, True, f"{cache.root} ({cache.size() / 1e6:.0f} MB)")


def _cann() -> Check:
    home = os.environ.get("ASCEND_HOME_PATH")
    fix = "source the toolkit's set_env.sh"
    if not home:
        detail = "not set up; only building for a device needs it"
        return Check("CANN", False, False, detail, f"install the CANN toolkit and {fix}")
    if not Path(home).is_dir():
        return Check("CANN", False, False, f"ASCEND_HOME_PATH={home} is no folder", fix)
    compiler = _device_compiler(Path(home))
    if compiler is None:
        detail = f"{home} has neither {' nor '.join(_DEVICE_COMPILERS)}"
        fix = "install the toolkit package; the runtime package alone cannot build kernels"
        return Check("CANN", False, False, detail, fix)
    return Check("CANN", True, False, f"{home}, {compiler}")


def _device_compiler(home: Path) -> Path | None:
    """The compiler for device code, below the toolkit or on the path."""
    folders = [home / "bin", home / "compiler/bin", home / "compiler/ccec_compiler/bin"]
    for name in _DEVICE_COMPILERS:
        for folder in folders:
            if os.access(folder / name, os.X_OK):
                return folder / name
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    return None


def _npu() -> Check:
    program = shutil.which("npu-smi")
    if program is None:
        detail = "no npu-smi; only measuring on a device needs one"
        fix = "nothing to do to use the twin; on a machine with an NPU install its driver"
        return Check("NPU", False, False, detail, fix)
    driver = "check the NPU driver: npu-smi info must list the device"
    try:
        done = subprocess.run(
            [program, "info", "-l"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
            env=keyless(),
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Check("NPU", False, False, f"npu-smi fails: {error}", driver)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if not lines:
        return Check("NPU", False, False, "npu-smi lists no device", driver)
    return Check("NPU", True, False, lines[0])


def _endpoint() -> Check:
    """Whether a model can be asked; neither a key nor anything else of its address is shown."""
    for key, url in _ENDPOINTS:
        if os.environ.get(key) or os.environ.get(url):
            place = _host(os.environ.get(url))
            if os.environ.get(key):
                return Check("model", True, False, f"{place}, {key} set")
            fix = f"set {key} if the endpoint asks for one"
            return Check("model", True, False, f"{place}, {key} not set", fix)
    names = " or ".join(key for key, _ in _ENDPOINTS)
    urls = " or ".join(url for _, url in _ENDPOINTS)
    fix = f"set NPUFORGE_MODEL, {names}, and {urls} for an endpoint of your own"
    return Check("model", False, False, "no endpoint; only generation by models needs one", fix)


def _host(url: str | None) -> str:
    """The host of an address: user names, passwords and queries are nobody's business."""
    if not url:
        return "its default address"
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname or "?")
    except ValueError:
        return "an address that is no URL"


CHECKS: tuple[Callable[[], Check], ...] = (
    _compiler,
    _sandbox,
    _torch,
    _symbols,
    _cache,
    _cann,
    _npu,
    _endpoint,
)
