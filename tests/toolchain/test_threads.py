# SPDX-License-Identifier: Apache-2.0
"""Threads of one process that build the same kernel while the cache is cold."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from npuforge.twin.cache import Cache
from npuforge.twin.kernel import Kernel, KernelBuild, store_text
from npuforge.twin.toolchain import Toolchain

_AT_ONCE = 16
_KERNEL = '#include "kernel_operator.h"\nextern "C" __global__ void none{number}(int* y) {{}}\n'


@pytest.fixture
def cold(toolchain: Toolchain, tmp_path: Path) -> Toolchain:
    return Toolchain(toolchain.compiler, Cache(tmp_path / "cache"), toolchain.cpp_root)


@pytest.fixture
def _eager_switches() -> Iterator[None]:
    """Have threads take turns as often as they would on many cores."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_eager_switches")
def test_all_threads_get_the_same_build(cold: Toolchain) -> None:
    texts = [_KERNEL.format(number=number) for number in range(4)]
    barrier = Barrier(_AT_ONCE)

    def build(_: int) -> list[KernelBuild]:
        barrier.wait()
        return [Kernel.build(text, defines=["__global__="], toolchain=cold) for text in texts]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        every = list(pool.map(build, range(_AT_ONCE)))
    for same in zip(*every, strict=True):
        assert same[0].library is not None, same[0].log
        assert {build.library for build in same} == {same[0].library}


@pytest.mark.usefixtures("_eager_switches")
def test_all_threads_store_the_same_sources(cold: Toolchain) -> None:
    barrier = Barrier(_AT_ONCE)
    texts = [f"// {number}\n" for number in range(50)]

    def store(_: int) -> list[Path]:
        barrier.wait()
        return [store_text(text, cold) for text in texts]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        paths, *others = pool.map(store, range(_AT_ONCE))
    assert all(other == paths for other in others)
    assert [path.read_text("utf-8") for path in paths] == texts
    assert {path.name for path in paths for path in path.parent.iterdir()} == {"kernel.cpp"}
