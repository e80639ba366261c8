# SPDX-License-Identifier: Apache-2.0
"""One program two ways: the interpreter against the emitted kernel on the twin, in check mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from npuforge.dtypes import HostTensor
from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.tile.interpret import interpret

# Relative error that the order of additions and the hardware's functions may leave.
_TOLERANCES = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2}


class Differential:
    """A program, built once."""

    def __init__(self, text: str) -> None:
        self.lowered = lower(text)
        self.twin = TwinProgram(self.lowered)
        assert self.twin.build.ok, (self.twin.build.diagnostics[:3], self.twin.source)
        assert not self.twin.build.violations

    def agree(
        self, inputs: Mapping[str, Any], attributes: Mapping[str, Any] | None = None
    ) -> dict[str, HostTensor]:
        """Run both; no broken rule, no race, everything written, equal results."""
        wanted = interpret(self.lowered.program, inputs, attributes or {})
        result = self.twin.launch(inputs, attributes or {}, mode="check")
        assert result.error is None, result.error
        assert not result.violations, result.violations[0]
        assert not result.races, result.races[0]
        assert not any(result.unwritten.values()), result.unwritten
        for name, tensor in wanted.items():
            _compare(name, result.tensors[name], tensor)
        return wanted


def _compare(name: str, found: HostTensor, wanted: HostTensor) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape, name
    tolerance = _TOLERANCES.get(wanted.dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(found.data, wanted.data, err_msg=name)
        return
    a, b = found.values().astype(np.float64), wanted.values().astype(np.float64)
    finite = b[np.isfinite(b)]
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, err_msg=name)
