# SPDX-License-Identifier: Apache-2.0
"""From a PyTorch module to an operator that is proven and timed.

outcome = npuforge.generate.generate(torch.nn.Softmax(dim=-1), [torch.randn(64, 1024)])
print(outcome.verdict.ok, outcome.verdict.time_us)
"""

from npuforge.generate.api import generate

__all__ = ["generate"]
