# SPDX-License-Identifier: Apache-2.0
"""What PyTorch calls an operator of CANN Bench, for those that eager PyTorch has.

Each entry takes `torch.nn.functional`, the tensors and the attributes of a case. Operators that
only the vendor's extension has (fused attention, quantised products) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

Call = Callable[[Any, list[torch.Tensor], Mapping[str, Any]], Any]


def _exp(_: Any, t: list[torch.Tensor], a: Mapping[str, Any]) -> Any:
    scaled = t[0] * a["scale"] + a["shift"]
    return torch.exp(scaled * 2.3 if a["base"] > 0 else scaled)


def _scatter(_: Any, t: list[torch.Tensor], a: Mapping[str, Any]) -> Any:
    if a.get("reduce"):
        raise ValueError("reducing scatters take a path of their own")
    index = t[1].to(torch.int64)
    return torch.scatter(t[0], a["dim"], index, t[2])


def _pads(a: Mapping[str, Any]) -> list[int]:
    return [a["pads"][0], a["pads"][2]]


CALLS: Mapping[str, Call] = {
    "mish": lambda f, t, _: f.mish(t[0]),
    "sigmoid": lambda _, t, __: torch.sigmoid(t[0]),
    "gelu": lambda f, t, a: f.gelu(t[0], approximate=a["approximate"]),
    "exp": _exp,
    "masked_scale": lambda _, t, a: t[0] * t[1].to(t[0].dtype) * a["scale"],
    "maximum": lambda _, t, __: torch.maximum(t[0], t[1]),
    "softmax": lambda _, t, a: torch.softmax(t[0], a["dim"]),
    "cross_entropy_loss": lambda f, t, a: f.cross_entropy(t[0], t[1], reduction=a["reduction"]),
    "group_norm": lambda f, t, a: f.group_norm(t[0], a["num_groups"], t[1], t[2]),
    "gather": lambda _, t, a: torch.gather(t[0], a["dim"], t[1].to(torch.int64)),
    "scatter": _scatter,
    "cummin": lambda _, t, a: torch.cummin(t[0], a["dim"]),
    "arg_max": lambda _, t, a: torch.argmax(t[0], a["dim"]),
    "adaptive_avg_pool_3d": lambda f, t, a: f.adaptive_avg_pool3d(t[0], a["output_size"]),
    "transpose": lambda _, t, a: t[0].permute(a["perm"]).contiguous(),
    "top_k": lambda _, t, a: torch.topk(t[0], a["k"], a["dim"], a["largest"]),
    "resize_bilinear": lambda f, t, a: f.interpolate(
        t[0], a["output_size"], mode="bilinear", align_corners=a["align_corners"]
    ),
    "grid_sampler_3d": lambda f, t, a: f.grid_sample(
        t[0], t[1], a["interpolation_mode"], a["padding_mode"], a["align_corners"]
    ),
    "conv_2d": lambda f, t, a: f.conv2d(
        t[0], t[1], t[2] if len(t) > 2 else None, a["strides"], _pads(a), a["dilations"]
    ),
}
