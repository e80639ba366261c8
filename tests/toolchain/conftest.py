# SPDX-License-Identifier: Apache-2.0
"""A toolchain over the miniature tree, so that these tests need nothing of the real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.toolchain.miniature import write_tree

from npuforge.twin.cache import Cache
from npuforge.twin.compilers import _examine, find_compiler
from npuforge.twin.toolchain import Toolchain


def _compilers() -> list[str]:
    found = [find_compiler().command[0]]
    for number in range(30, 13, -1):
        clang = shutil.which(f"clang++-{number}")
        if clang is not None:
            found.append(clang)
            break
    return found


@pytest.fixture(scope="session", params=_compilers())
def toolchain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Toolchain:
    base = tmp_path_factory.mktemp("toolchain")
    write_tree(base / "cpp")
    compiler = _examine((request.param,))
    assert not isinstance(compiler, str), compiler
    return Toolchain(compiler, Cache(base / "cache"), base / "cpp")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
