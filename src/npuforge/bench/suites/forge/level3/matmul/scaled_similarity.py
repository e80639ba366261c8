# SPDX-License-Identifier: Apache-2.0
"""Cosine similarities of images and texts, scaled by a learnt temperature, in float16."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Model(nn.Module):
    def forward(self, image: Tensor, text: Tensor, log_scale: Tensor) -> Tensor:
        a = functional.normalize(image.float(), dim=-1)
        b = functional.normalize(text.float(), dim=-1)
        return (log_scale.exp() * a @ b.T).to(image.dtype)


SHAPES: list[tuple[int, int, int]] = [(200, 300, 512), (128, 128, 256), (1, 3, 5), (37, 41, 131)]


def _inputs(images: int, texts: int, width: int) -> list[Tensor]:
    return [
        torch.randn(images, width, dtype=torch.float16) * 3,
        torch.randn(texts, width, dtype=torch.float16) * 3,
        torch.rand(1) * 2 + 1,
    ]


def get_inputs() -> list[Tensor]:
    return _inputs(*SHAPES[0])


def get_input_groups() -> list[list[Tensor]]:
    return [_inputs(*shape) for shape in SHAPES]


def get_init_inputs() -> list[object]:
    return []
