# SPDX-License-Identifier: Apache-2.0
"""mHC_post: how a manifold-constrained hyper-connection joins a layer's output to its streams.

A token has n residual streams x of width D. The layer has made one output h_out of them, and two
small matrices, computed from the token, say how the streams mix and where the output goes:

    y[j] = sum over i of h_res[i, j] * x[i]  +  h_post[j] * h_out

The first index of h_res is the stream that is read, the second the stream that is written; some
implementations use the transposed convention. Streams and output are bfloat16, the weights and
the arithmetic float32. n is small, so this is written as broadcasts and a sum rather than as a
product of matrices: 4 multiplications for every element are no work for a matrix unit.
"""

import torch

TOKENS, STREAMS, WIDTH = 2048, 4, 2560


class Model(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, h_res: torch.Tensor, h_out: torch.Tensor, h_post: torch.Tensor
    ) -> torch.Tensor:
        mixed = (h_res[:, :, :, None] * x.float()[:, :, None, :]).sum(dim=1)
        y = mixed + h_post[:, :, None] * h_out.float()[:, None, :]
        return y.to(x.dtype)


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(TOKENS, STREAMS, WIDTH, dtype=torch.bfloat16),
        torch.rand(TOKENS, STREAMS, STREAMS),
        torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16),
        torch.rand(TOKENS, STREAMS),
    ]


def get_init_inputs() -> list[object]:
    return []
