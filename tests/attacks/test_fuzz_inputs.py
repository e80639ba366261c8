# SPDX-License-Identifier: Apache-2.0
"""A small part of `benchmarks/faults/fuzz_inputs.py`: no traceback, no hang, one line."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_DRIVER = Path(__file__).parents[2] / "benchmarks" / "faults" / "fuzz_inputs.py"


@pytest.fixture(scope="module")
def driver() -> ModuleType:
    """Return the long sweep's module."""
    spec = importlib.util.spec_from_file_location("fuzz_inputs", _DRIVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["launch", "answer", "tile", "command"])
def test_malformed_inputs_end_with_one_line(driver: ModuleType, kind: str) -> None:
    assert driver.fuzz(kind, 25) == []
