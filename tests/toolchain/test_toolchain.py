# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from npuforge.errors import ToolchainError, UsageError
from npuforge.sandbox import MEANS, MIB, Sandbox
from npuforge.twin.cache import Cache
from npuforge.twin.compilers import Compiler, find_compiler
from npuforge.twin.recipes import BUILD_LIMITS, RECIPES
from npuforge.twin.symbolize import symbolize, user_frame
from npuforge.twin.toolchain import BuildResult, Toolchain

KERNEL = (
    '#include "kernel_operator.h"\n'
    '#include "local.h"\n'
    'extern "C" int kernel(int x) { return rt_add(x, LOCAL) + EXTRA; }\n'
)
CONFINED = [
    name
    for name in MEANS
    if name in ("bubblewrap", "landlock+seccomp") and Sandbox.using(name).works()
]


def write(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, text in files.items():
        path = folder / name.replace("_", ".")
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths


def kernel(toolchain: Toolchain, folder: Path, text: str) -> BuildResult:
    sources = write(folder, k_cpp=text)
    return toolchain.compile(sources, kind="kernel", name="k")


def test_runtime_is_built_once(toolchain: Toolchain) -> None:
    steps: list[tuple[str, int, int]] = []
    fresh = replace(toolchain, cache=Cache(toolchain.cache.root.with_name("another")))
    folder = fresh.runtime(lambda *step: steps.append(step))
    done = subprocess.run([folder / "npuforge-runner"], capture_output=True, check=True)
    assert done.stdout == b"42\n"
    assert [step[1] for step in steps] == [1, 2, 3, 4]
    again = Toolchain(fresh.compiler, fresh.cache, fresh.cpp_root)
    before = fresh.cache.size()
    assert again.runtime() == folder
    assert fresh.cache.size() == before


def test_runtime_header_change_rebuilds(toolchain: Toolchain, tmp_path: Path) -> None:
    cpp = tmp_path / "cpp"
    shutil.copytree(toolchain.cpp_root, cpp)
    cache = Cache(tmp_path / "cache")
    first = Toolchain(toolchain.compiler, cache, cpp).runtime()
    (cpp / "runtime" / "more.h").write_text("#define MORE 4\n")
    second = Toolchain(toolchain.compiler, cache, cpp).runtime()
    done = subprocess.run([second / "npuforge-runner"], capture_output=True, check=True)
    assert first != second
    assert done.stdout == b"43\n"


def test_broken_runtime_is_one_line(toolchain: Toolchain, tmp_path: Path) -> None:
    cpp = tmp_path / "cpp"
    shutil.copytree(toolchain.cpp_root, cpp)
    (cpp / "runtime" / "add.cpp").write_text("int rt_add(int a, int b) { return a + ; }\n")
    with pytest.raises(
        ToolchainError, match=r"cannot build add\.cpp .*runtime/add\.cpp:1"
    ) as caught:
        Toolchain(toolchain.compiler, Cache(tmp_path / "cache"), cpp).runtime()
    assert "\n" not in str(caught.value)


def test_kernel_builds_loads_and_is_cached(toolchain: Toolchain, project: Path) -> None:
    sources = write(project, k_cpp=KERNEL, local_h="#define LOCAL 5\n")[:1]

    def build() -> BuildResult:
        return toolchain.compile(
            sources, kind="kernel", name="k", defines={"EXTRA": "P"}, prelude="#define P 100\n"
        )

    first = build()
    assert (first.ok, first.cached, first.diagnostics) == (True, False, [])
    assert first.path is not None
    assert ctypes.CDLL(str(first.path)).kernel(2) == 107
    second = build()
    assert (second.path, second.cached) == (first.path, True)

    write(project, local_h="#define LOCAL 6\n")
    changed = build()
    assert (changed.ok, changed.cached) == (True, False)
    assert ctypes.CDLL(str(changed.path)).kernel(2) == 108
    write(project, local_h="#define LOCAL 5\n")
    assert build().path == first.path


def test_a_copy_of_a_project_hits(toolchain: Toolchain, project: Path) -> None:
    write(project, k_cpp=KERNEL, local_h="#define LOCAL 9\n")
    copy = project.with_name("copy")
    shutil.copytree(project, copy)

    def build(folder: Path) -> BuildResult:
        return toolchain.compile(
            [folder / "k.cpp"], kind="kernel", name="k", defines={"EXTRA": "0"}
        )

    first = build(project)
    assert first.ok
    assert build(copy).path == first.path
    write(copy, local_h="#define LOCAL 10\n")
    assert not build(copy).cached
    assert build(project).cached


@pytest.mark.parametrize("option", ["defines", "prelude", "name"])
def test_what_goes_in_is_in_the_key(toolchain: Toolchain, project: Path, option: str) -> None:
    sources = write(project, k_cpp='extern "C" int kernel() { return 1; }\n')
    plain = toolchain.compile(sources, kind="kernel", name="k")
    values: dict[str, object] = {"defines": {"Z": None}, "prelude": "// other\n", "name": "other"}
    arguments = {"kind": "kernel", "name": "k", option: values[option]}
    other = toolchain.compile(sources, **arguments)  # type: ignore[arg-type]
    assert other.ok
    assert other.path != plain.path


def test_host_and_direct(toolchain: Toolchain, project: Path) -> None:
    host = write(
        project, h_cpp='#include "host_pch.h"\nextern "C" int f() { return host_value(); }'
    )
    built = toolchain.compile(host, kind="host", name="h")
    assert ctypes.CDLL(str(built.path)).f() == 11
    parts = write(
        project,
        main_asc='#include "kernel_operator.h"\nint other();\n'
        "int main() { return rt_add(other(), 2); }\n",
        other_cpp="int other() { return 5; }\n",
    )
    program = toolchain.compile(parts, kind="direct", name="prog")
    assert program.path is not None
    assert subprocess.run([program.path], check=False).returncode == 7


def test_include_dirs(toolchain: Toolchain, project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere, far_h="#define FAR 4\n")
    sources = write(project, k_cpp='#include "far.h"\nextern "C" int kernel() { return FAR; }')
    assert not toolchain.compile(sources, kind="kernel", name="k").ok
    built = toolchain.compile(sources, kind="kernel", name="k", include_dirs=[elsewhere])
    assert ctypes.CDLL(str(built.path)).kernel() == 4


def test_first_error_with_its_place(toolchain: Toolchain, project: Path) -> None:
    result = kernel(toolchain, project, "int a;\nint f() { return b; }\nint g() { return c; }\n")
    assert not result.ok
    assert result.path is None
    assert (result.diagnostics[0].file, result.diagnostics[0].line) == ("k.cpp", 2)
    assert "b" in result.diagnostics[0].message
    assert not any(entry.line == 3 for entry in result.diagnostics)


def test_error_in_our_header_leads_to_the_user(toolchain: Toolchain, project: Path) -> None:
    text = '#include "kernel_operator.h"\nint f() {\n  return api_only_float<int>(3);\n}\n'
    places = [(entry.file, entry.line) for entry in kernel(toolchain, project, text).diagnostics]
    assert places[0] == ("npuforge/twin/cpp/include/kernel_operator.h", 8)
    assert ("k.cpp", 3) in places


def test_undefined_function_is_a_diagnostic(toolchain: Toolchain, project: Path) -> None:
    text = 'void missing();\nextern "C" void kernel() {\n  missing();\n}\n'
    found = kernel(toolchain, project, text).diagnostics
    assert (found[0].file, found[0].line) == ("k.cpp", 3)
    assert "missing" in found[0].message
    assert len(found) == 1


@pytest.mark.parametrize("name", CONFINED)
def test_secrets_do_not_leak(
    toolchain: Toolchain, project: Path, tmp_path: Path, name: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("token_abc def\n")
    (project / "linked_secret.h").symlink_to(secret)
    for target in (str(secret), "../secret.txt", "linked_secret.h"):
        sources = write(project, k_cpp=f'#include "{target}"\n')
        result = toolchain.compile(
            sources,
            kind="kernel",
            name="k",
            sandbox=Sandbox.using(name),  # type: ignore[arg-type]
        )
        assert not result.ok
        assert "token_abc" not in result.log
        assert result.diagnostics[0].line == 1


def test_template_bomb_is_a_diagnostic(toolchain: Toolchain, project: Path) -> None:
    text = (
        "template <int N, int M> struct Bomb { Bomb<N - 1, 2 * M> a; Bomb<N - 1, 2 * M + 1> b; };\n"
        "template <int M> struct Bomb<0, M> { int x; };\n"
        "Bomb<24, 0> bomb;\n"
    )
    sources = write(project, k_cpp=text)
    limits = replace(BUILD_LIMITS, memory_bytes=140 * MIB, wall_s=20, cpu_s=20)
    result = toolchain.compile(sources, kind="kernel", name="k", limits=limits)
    assert not result.ok
    assert "the compiler was stopped: memory limit" in result.diagnostics[0].message


def test_precompiled_header_is_really_used(toolchain: Toolchain, project: Path) -> None:
    sandbox = Sandbox.detect()
    header = toolchain._precompiled(RECIPES["kernel"], sandbox)
    assert header is not None
    if toolchain.compiler.family == "gcc":
        source = write(project, k_cpp='#include "kernel_operator.h"\nstd::vector<int> v;\n')[0]
        recipe = RECIPES["kernel"]
        command = [*toolchain.compiler.command, *recipe.compile, *toolchain._includes(recipe)]
        command += ["-H", "-fsyntax-only", "-include", str(header), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"! {header}.gch" in done.stderr
        assert "bits/stl_vector.h" not in done.stderr


def test_call_sites_lead_to_the_source(toolchain: Toolchain, project: Path) -> None:
    text = (
        '#include "kernel_operator.h"\n'
        "static inline __attribute__((always_inline)) int inner(int x) {\n"
        "  return api_add(x, 1) + 1;\n"
        "}\n"
        'extern "C" int kernel(int x) {\n'
        "  return inner(x) * 2;\n"
        "}\n"
    )
    built = kernel(toolchain, project, text)
    assert built.path is not None
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "--disassemble=kernel", built.path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    calls = [line for line in listing.splitlines() if "rt_add" in line]
    address = int(calls[0].split(":")[0], 16)
    frames = symbolize(built.path, [address, address, 0])
    assert set(frames) == {address, 0}
    assert frames[address][0].file == str(toolchain.cpp_root / "include" / "kernel_operator.h")
    assert [frame.line for frame in frames[address][1:]] == [3, 6]
    user = user_frame(frames[address], [toolchain.cpp_root])
    assert user is not None
    assert (user.file, user.line) == ("k.cpp", 3)
    assert user_frame(frames[0], []) is None


def test_bad_calls_are_one_line(toolchain: Toolchain, project: Path) -> None:
    with pytest.raises(UsageError, match="no source files"):
        toolchain.compile([], kind="kernel", name="k")
    with pytest.raises(UsageError, match="no such source file"):
        toolchain.compile([project / "none.cpp"], kind="kernel", name="k")
    sources = write(project, k_cpp="int a;")
    with pytest.raises(UsageError, match="is not allowed"):
        toolchain.compile(sources, kind="kernel", name="../k")


def test_named_compiler_is_taken_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = find_compiler()
    monkeypatch.setenv("NPUFORGE_CXX", usual.command[0])
    assert isinstance(find_compiler(), Compiler)
    for bad, reason in (
        ("/no/such/c++", "no such program"),
        ("/bin/false", "exits with 1"),
        ("/bin/true", "version cannot be read"),
    ):
        monkeypatch.setenv("NPUFORGE_CXX", bad)
        with pytest.raises(ToolchainError, match=reason):
            find_compiler()


def test_no_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NPUFORGE_CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ToolchainError, match=r"no usable C\+\+ compiler: install g\+\+ 12"):
        find_compiler()
    old = tmp_path / "g++"
    old.write_text("#!/bin/sh\necho 'g++ (GCC) 9.4.0'\n")
    old.chmod(0o755)
    with pytest.raises(ToolchainError, match=r"9\.4\.0 is too old"):
        find_compiler()
