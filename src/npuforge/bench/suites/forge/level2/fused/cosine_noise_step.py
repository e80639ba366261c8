# SPDX-License-Identifier: Apache-2.0
"""A deterministic denoising step (DDIM) on the cosine noise schedule, steps by sample."""

import math

import torch
from torch import Tensor, nn

STEPS = 1000


def signal(step: Tensor) -> Tensor:
    """The share of the variance that is signal, at a step of the schedule."""
    angle = (step / STEPS + 0.008) / 1.008 * (math.pi / 2)
    return torch.cos(angle).square().clamp(min=1e-4)[:, None, None, None]


class Model(nn.Module):
    def forward(self, x: Tensor, noise: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        now, then = signal(step.float()), signal(step.float() - 20)
        clean = ((x - (1 - now).sqrt() * noise) / now.sqrt()).clamp(-3, 3)
        return then.sqrt() * clean + (1 - then).sqrt() * noise, clean


def get_inputs() -> list[Tensor]:
    return [
        torch.randn(12, 4, 90, 93),
        torch.randn(12, 4, 90, 93),
        torch.randint(20, STEPS, (12,)),
    ]


def get_init_inputs() -> list[object]:
    return []
