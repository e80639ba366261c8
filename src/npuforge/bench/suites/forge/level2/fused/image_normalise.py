# SPDX-License-Identifier: Apache-2.0
"""Camera bytes (height, width, colour) to normalised planes of float16."""

import torch
from torch import Tensor, nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = nn.Buffer(torch.tensor([0.485, 0.456, 0.406]))
        self.deviation = nn.Buffer(torch.tensor([0.229, 0.224, 0.225]))

    def forward(self, image: Tensor) -> Tensor:
        scaled = (image.to(torch.float32) / 255 - self.mean) / self.deviation
        return scaled.permute(0, 3, 1, 2).contiguous().to(torch.float16)


def get_inputs() -> list[Tensor]:
    return [torch.randint(0, 256, (4, 223, 301, 3), dtype=torch.uint8)]


def get_init_inputs() -> list[object]:
    return []
