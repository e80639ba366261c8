# SPDX-License-Identifier: Apache-2.0
"""Operator calls of binding code: which tensors count as filled before the call."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from npuforge.twin.host import Operator, Parameter
from npuforge.twin.torchbind.calls import bind


def _parameter(name: str) -> Parameter:
    return Parameter(name, "required", ("DT_FLOAT",), ("ND",))


def test_outputs_somebody_filled_keep_their_values(tmp_path: Path) -> None:
    outputs = (_parameter("y"), _parameter("z"))
    operator = Operator("Op", "op", (_parameter("x"),), outputs, (), {}, True, True, True)
    values = np.arange(4, dtype=np.float32)
    arguments = []
    for name, filled in (("x", True), ("y", True), ("z", False)):
        (tmp_path / name).write_bytes(values.tobytes())
        arguments.append(
            {"kind": "tensor", "file": name, "shape": [4], "dtype": "float32", "filled": filled}
        )
    call = bind(operator, arguments, tmp_path)
    assert list(call.initial) == ["y"]
    assert (call.initial["y"].data == values).all()
    assert list(call.outputs) == ["y", "z"]
