# SPDX-License-Identifier: Apache-2.0
"""Operator calls of binding code: which tensors count as filled before the call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from npuforge.sandbox.shared_folder import SharedFolder
from npuforge.twin.host import Operator, Parameter
from npuforge.twin.torchbind.calls import bind, read_inputs
from npuforge.twin.torchbind.requests import parse_request


def _parameter(name: str) -> Parameter:
    return Parameter(name, "required", ("DT_FLOAT",), ("ND",))


def test_outputs_somebody_filled_keep_their_values(tmp_path: Path) -> None:
    outputs = (_parameter("y"), _parameter("z"))
    operator = Operator("Op", "op", (_parameter("x"),), outputs, (), {}, True, True, True)
    values = np.arange(4, dtype=np.float32)
    line: dict[str, Any] = {"api": "aclnnOp", "arguments": []}
    for place, filled in enumerate((True, True, False)):
        (tmp_path / f"in{place}.bin").write_bytes(values.tobytes())
        line["arguments"].append(
            {"kind": "tensor", "shape": [4], "dtype": "float32", "filled": filled}
        )
    request = parse_request(json.dumps(line).encode())
    with SharedFolder(tmp_path) as folder:
        call = bind(operator, request.arguments, read_inputs(request, folder))
    assert list(call.initial) == ["y"]
    assert (call.initial["y"].data == values).all()
    assert list(call.outputs) == ["y", "z"]
