# SPDX-License-Identifier: Apache-2.0
"""What to compute: a PyTorch module as a graph of ATen operations with shapes and types."""
