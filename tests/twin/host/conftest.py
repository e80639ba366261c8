# SPDX-License-Identifier: Apache-2.0
"""Host libraries the tests share, each built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.twin.host import OpDescription, describe
from npuforge.twin.toolchain import Toolchain

SOURCES = Path(__file__).with_name("sources")


def build(name: str) -> Path:
    result = Toolchain.find().compile([SOURCES / f"{name}.cpp"], kind="host", name=name)
    assert result.ok, result.log
    assert result.path is not None
    return result.path


@pytest.fixture(scope="session")
def scale() -> Path:
    return build("scale")


@pytest.fixture(scope="session")
def list_add() -> Path:
    return build("list_add")


@pytest.fixture(scope="session")
def scale_description(scale: Path) -> OpDescription:
    return describe(scale)


@pytest.fixture(scope="session")
def list_description(list_add: Path) -> OpDescription:
    return describe(list_add)


@pytest.fixture(scope="session")
def helpers() -> Path:
    return build("helpers")
