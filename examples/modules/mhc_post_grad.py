# SPDX-License-Identifier: Apache-2.0
"""mHC_post_grad: the gradients of mHC_post (mhc_post.py, same convention) for all four inputs.

    grad_x[i]        = sum over j of h_res[i, j] * gy[j]
    grad_h_res[i, j] = sum over the width of x[i] * gy[j]
    grad_h_out       = sum over j of h_post[j] * gy[j]
    grad_h_post[j]   = sum over the width of h_out * gy[j]

Two of them stream over the width, two are sums along it; all read gy, so one kernel that keeps a
token's gy at hand reads it once.
"""

import torch

TOKENS, STREAMS, WIDTH = 2048, 4, 2560


class Model(torch.nn.Module):
    def forward(
        self,
        gy: torch.Tensor,
        x: torch.Tensor,
        h_res: torch.Tensor,
        h_out: torch.Tensor,
        h_post: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        grad, streams, out = gy.float(), x.float(), h_out.float()
        grad_x = (h_res[:, :, :, None] * grad[:, None, :, :]).sum(dim=2)
        columns = [(streams * grad[:, j, None, :]).sum(dim=-1) for j in range(STREAMS)]
        grad_h_res = torch.stack(columns, dim=2)
        grad_h_out = (h_post[:, :, None] * grad).sum(dim=1)
        grad_h_post = (out[:, None, :] * grad).sum(dim=-1)
        return grad_x.to(x.dtype), grad_h_res, grad_h_out.to(h_out.dtype), grad_h_post


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(TOKENS, STREAMS, WIDTH, dtype=torch.bfloat16),
        torch.randn(TOKENS, STREAMS, WIDTH, dtype=torch.bfloat16),
        torch.rand(TOKENS, STREAMS, STREAMS),
        torch.randn(TOKENS, WIDTH, dtype=torch.bfloat16),
        torch.rand(TOKENS, STREAMS),
    ]


def get_init_inputs() -> list[object]:
    return []
