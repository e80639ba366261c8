# SPDX-License-Identifier: Apache-2.0
"""Kernels the driver's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.twin.kernel import Kernel, KernelBuild

KERNELS = Path(__file__).with_name("kernels")


@pytest.fixture(scope="session")
def kernels() -> Path:
    return KERNELS


@pytest.fixture(scope="session")
def add() -> KernelBuild:
    build = Kernel.build(KERNELS / "add.cpp")
    assert build.ok, build.log
    return build
