# SPDX-License-Identifier: Apache-2.0
"""What eager PyTorch takes for the mHC examples, however they are written.

    python benchmarks/mhc_eager.py

The examples are written as broadcasts and sums, which a vector kernel fuses but eager PyTorch pays
for in full. The natural way to write them for eager PyTorch is with products of matrices; a fair
comparison is with that.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from npuforge.eager import baseline
from npuforge.spec import capture_worker
from npuforge.spec.graph import EagerOp, Graph

_MODULES = Path(__file__).parents[1] / "examples" / "modules"
# CANN Bench's laboratory, reference operation on an Ascend 910B3, 2048 x 4 x 2560 in bfloat16
_PUBLISHED = {"mhc_post": 313.95, "mhc_post_grad": 610.59}


def post(x: Any, h_res: Any, h_out: Any, h_post: Any) -> Any:
    mixed = h_res.transpose(1, 2) @ x.float()
    return (mixed + h_post[:, :, None] * h_out.float()[:, None, :]).to(x.dtype)


def post_grad(gy: Any, x: Any, h_res: Any, h_out: Any, h_post: Any) -> Any:
    grad = gy.float()
    return (
        (h_res @ grad).to(x.dtype),
        x.float() @ grad.transpose(1, 2),
        (h_post[:, :, None] * grad).sum(dim=1).to(x.dtype),
        (h_out.float()[:, None, :] * grad).sum(dim=-1),
    )


def eager_us(call: Callable[..., Any], inputs: Sequence[Any]) -> float:
    log = capture_worker.Dispatched()
    with torch.no_grad(), log:
        call(*inputs)
    operations = msgspec.convert(log.operations, list[EagerOp])
    found = baseline(Graph("mhc", [], [], [], [], {}, operations))
    assert found is not None
    return found.us


def main() -> None:
    for name, natural in (("mhc_post", post), ("mhc_post_grad", post_grad)):
        spec = importlib.util.spec_from_file_location(name, _MODULES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        model, inputs = capture_worker.example(module, "meta")
        print(
            f"{name:14} eager on 910B2, modelled: {eager_us(model, inputs):7.0f} us as written, "
            f"{eager_us(natural, inputs):5.0f} us with products of matrices; "
            f"published for a 910B3: {_PUBLISHED[name]:.0f} us"
        )


if __name__ == "__main__":
    main()
