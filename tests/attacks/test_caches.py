# SPDX-License-Identifier: Apache-2.0
"""Damage to the build cache: what was built there is built again, or one line says why not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.toolchain.miniature import write_tree

from npuforge.errors import ToolchainError
from npuforge.twin.cache import Cache
from npuforge.twin.compilers import find_compiler
from npuforge.twin.toolchain import Toolchain

_KERNEL = '#include "kernel_operator.h"\nextern "C" int kernel(int x) { return rt_add(x, 40); }\n'
_AT_ONCE = 16


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a miniature of our C++ tree and a kernel."""
    folder = tmp_path_factory.mktemp("project")
    write_tree(folder / "cpp")
    (folder / "k").mkdir()
    (folder / "k" / "k.cpp").write_text(_KERNEL)
    return folder


@pytest.fixture(scope="module")
def warm(project: Path) -> Path:
    """A cache in which the kernel was built."""
    _works(project / "cache", project)
    return project / "cache"


@pytest.fixture
def cache(warm: Path, tmp_path: Path) -> Path:
    """A copy of the warm cache; the objects in it are found there, too."""
    shutil.copytree(warm, tmp_path / "cache", symlinks=True)
    _works(tmp_path / "cache", warm.parent)
    return tmp_path / "cache"


def _build(root: Path, project: Path) -> Path:
    """The kernel's library, built or found; `ToolchainError` where the cache is of no use."""
    tools = Toolchain(find_compiler(), Cache(root), project / "cpp")
    built = tools.compile([project / "k" / "k.cpp"], kind="kernel", name="k")
    assert built.path is not None, built.log
    runner = subprocess.run([tools.runtime() / "npuforge-runner"], capture_output=True, check=True)
    assert runner.stdout == b"42\n"
    return built.path


def _works(root: Path, project: Path) -> None:
    """Build the kernel and call it, in a process that may crash."""
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).kernel(2))"
    done = subprocess.run(
        [sys.executable, "-c", code, _build(root, project)], capture_output=True, check=True
    )
    assert done.stdout == b"42\n"


def _files(cache: Path, *names: str) -> list[Path]:
    found = [path for name in names for path in cache.glob(f"entries/*/*/*/{name}")]
    assert found
    return found


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 3, len(data), max(1, len(data) // 64)):
        data[place] ^= 0x55
    path.write_bytes(data)


def _replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _replace_by_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def _swap_entries(cache: Path) -> None:
    """Exchange two built objects with their lists, as a careless copy would."""
    first, second, *_ = sorted(path.parent for path in _files(cache, "unit.o"))
    spare = cache / "spare"
    first.rename(spare)
    second.rename(first.parent / second.name)
    spare.rename(second.parent / first.name)


def _each(damage: Callable[[Path], object], *names: str) -> Callable[[Path], None]:
    def apply(cache: Path) -> None:
        for path in _files(cache, *names):
            damage(path)

    return apply


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _flip_objects(cache: Path) -> None:
    """Flip bits of objects, and remove what was linked of them."""
    _each(_flip, "unit.o")(cache)
    _each(lambda path: shutil.rmtree(path.parent), "*.so")(cache)


def _flip_precompiled(cache: Path) -> None:
    """Flip bits of the precompiled header, and have it used."""
    _each(_flip, "first.h.*ch")(cache)
    _flip_objects(cache)


def _entries_are_files(cache: Path) -> None:
    for path in cache.glob("entries/*/*/*"):
        shutil.rmtree(path)
        path.write_text("")


_DAMAGES: dict[str, Callable[[Path], None]] = {
    "kernel's bits flipped": _each(_flip, "k.so"),
    "runtime's bits flipped": _each(_flip, "lib*.so"),
    "objects' bits flipped": _flip_objects,
    "precompiled header's bits flipped": _flip_precompiled,
    "libraries truncated": _each(_truncate, "*.so"),
    "libraries empty": _each(lambda path: path.write_bytes(b""), "*.so"),
    "libraries deleted": _each(Path.unlink, "*.so"),
    "runner deleted": _each(Path.unlink, "npuforge-runner"),
    "lists deleted": _each(Path.unlink, "*.json"),
    "lists truncated": _each(_truncate, "*.json"),
    "lists of nothing": _each(lambda path: path.write_text("{}"), "*.json"),
    "libraries are links": _each(_replace_by_link, "*.so"),
    "libraries are pipes": _each(_replace_by_pipe, "*.so"),
    "lists are pipes": _each(_replace_by_pipe, "*.json"),
    "others may write libraries": _each(lambda path: path.chmod(0o777), "*.so"),
    "entries exchanged": _swap_entries,
    "entries are files": _entries_are_files,
    "entries gone": lambda cache: shutil.rmtree(cache / "entries"),
}


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES)
def test_damage_is_built_again(damage: Callable[[Path], None], cache: Path, project: Path) -> None:
    damage(cache)
    _works(cache, project)
    _works(cache, project)


def test_damage_is_noticed_by_a_process_that_used_it(cache: Path, project: Path) -> None:
    tools = Toolchain(find_compiler(), Cache(cache), project / "cpp")
    _flip(tools.runtime() / "npuforge-runner")
    done = subprocess.run([tools.runtime() / "npuforge-runner"], capture_output=True, check=True)
    assert done.stdout == b"42\n"


def test_a_text_is_what_it_was(tmp_path: Path) -> None:
    store = Cache(tmp_path / "cache")
    path = store.text("units", "a.cpp", "int a;\n")
    for damage in (_flip, _truncate, _replace_by_link, _replace_by_pipe, Path.unlink):
        damage(path)
        assert store.text("units", "a.cpp", "int a;\n").read_text() == "int a;\n"
        assert not path.is_symlink()


def _is_file(cache: Path) -> None:
    shutil.rmtree(cache)
    cache.write_text("no folder")


def _is_dangling(cache: Path) -> None:
    shutil.rmtree(cache)
    cache.symlink_to(cache.parent / "nowhere")


def _locks_are(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def apply(cache: Path) -> None:
        shutil.rmtree(cache / "entries")
        for path in (cache / "locks").iterdir():
            path.unlink()
        (cache / "locks").rmdir()
        make(cache / "locks")

    return apply


_REFUSED: dict[str, Callable[[Path], object]] = {
    "a file": _is_file,
    "a dangling link": _is_dangling,
    "writable by others": lambda cache: cache.chmod(0o777),
    "locks are a file": _locks_are(lambda path: path.write_text("")),
    "locks are a pipe": _locks_are(os.mkfifo),
}


@pytest.mark.parametrize("damage", _REFUSED.values(), ids=_REFUSED)
def test_an_unusable_cache_is_one_line(
    damage: Callable[[Path], object], cache: Path, project: Path
) -> None:
    damage(cache)
    with pytest.raises(ToolchainError, match=str(cache)):
        _build(cache, project)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_is_no_verdict(project: Path, tmp_path: Path) -> None:
    full = _mounted(tmp_path, "-t", "tmpfs", "-o", "size=300k", "tmpfs")
    with full, pytest.raises(ToolchainError, match="No space left"):
        _build(tmp_path / "cache", project)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_cache_serves_what_it_has(cache: Path, project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "cpp", tmp_path / "other" / "cpp")
    (tmp_path / "other" / "k").mkdir()
    (tmp_path / "other" / "k" / "k.cpp").write_text(f"{_KERNEL}// changed\n")
    with _mounted(cache, "--bind", str(cache)):
        subprocess.run(["mount", "-o", "remount,ro,bind", cache], check=True)
        _works(cache, project)
        with pytest.raises(ToolchainError, match="Read-only file system"):
            _build(cache, tmp_path / "other")


@contextmanager
def _mounted(place: Path, *arguments: str) -> Iterator[None]:
    if subprocess.run(["mount", *arguments, place], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a test mount")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_killed_build_leaves_nothing(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    code = (
        "import os, sys; from pathlib import Path; from npuforge.twin.cache import Cache\n"
        "with Cache(Path(sys.argv[1])).workspace() as made:\n"
        "    (made / 'half').write_text('x'); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(root)], check=False)
    assert len(list((root / "tmp").iterdir())) == 1
    with Cache(root).workspace() as mine:
        Cache(root).find("0" * 40, tmp_path)  # another one sweeps, and spares what is alive
        assert list((root / "tmp").iterdir()) == [mine]


def _build_of(paths: tuple[Path, Path]) -> Path:
    return _build(*paths)


@pytest.mark.parametrize(
    "pool",
    [
        lambda: ThreadPoolExecutor(_AT_ONCE),
        lambda: ProcessPoolExecutor(4, mp_context=get_context("spawn")),
    ],
    ids=["threads", "processes"],
)
def test_all_who_meet_damage_at_once_agree(
    pool: Callable[[], Executor], cache: Path, project: Path
) -> None:
    for path in _files(cache, "*.so", "unit.o"):
        _flip(path)
    with pool() as workers:
        paths = set(workers.map(_build_of, [(cache, project)] * _AT_ONCE))
    assert len(paths) == 1
    assert Cache(cache).intact(paths.pop().parent)
