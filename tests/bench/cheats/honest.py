# SPDX-License-Identifier: Apache-2.0
"""Honest models that do what a careful author may need to."""

from __future__ import annotations

import re

from tests.bench.cheats.subject import DIRECT_BINDING, HEAD

# What bindings of a tensor's memory layout need: views, shapes, buffers, parameters.
CAREFUL = (
    HEAD
    + """
import math
from typing import Optional

def rounded(n, to=8):
    return (n + to - 1) // to * to

class ModelNew(nn.Module):
    def __init__(self, features: int = 256, eps: float = 1e-5):
        super(ModelNew, self).__init__()
        self.linear = nn.Linear(features, 1)
        self.weight = nn.Parameter(torch.ones(features) * 2)
        self.register_buffer("kept", torch.arange(4))
        self.eps = eps

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        if mask is not None:
            raise ValueError("no mask")
        rows, columns = x.shape[0], x.size(1)
        total = rounded(rows * columns) * math.prod([1, 1])
        assert total == x.numel() and x.dtype == torch.float32
        dims = sorted([1, 0])
        flat = x.contiguous().view(-1)
        y = ops.scale(flat.reshape(rows, -1))
        return y.transpose(*dims).t().to(x.dtype).view(rows, columns).contiguous()
"""
)
# As MultiKernelBench's own examples of direct launches begin.
PREPARED = """
import sys
from pathlib import Path
import torch
import torch.nn as nn

_BUILD = Path(__file__).resolve().parent / "kernel" / "build"
if _BUILD.is_dir() and str(_BUILD) not in sys.path:
    sys.path.insert(0, str(_BUILD))

import custom_ops_lib as _ops

class ModelNew(nn.Module):
    def forward(self, x):
        return _ops.scale(x)
"""
HONEST_DIRECT_BINDING = re.sub(
    r"torch::Tensor by_host.*?\n}\n", "", DIRECT_BINDING, flags=re.DOTALL
)
HONEST_DIRECT_BINDING = HONEST_DIRECT_BINDING.replace('m.def("by_host", &by_host);', "")
# A preallocated output that the kernel fills anew in each call is no cache; `scale` makes its own,
# so the copy into it stands for the kernel's write.
BUFFERED = (
    HEAD
    + """
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.room = torch.empty(16, 256)

    def forward(self, x):
        self.room.copy_(ops.scale(x))
        return self.room
"""
)
