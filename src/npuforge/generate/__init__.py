# SPDX-License-Identifier: Apache-2.0
"""From a PyTorch module to an operator that is proven and timed."""
