# SPDX-License-Identifier: Apache-2.0
"""Random but meaningful operators: PyTorch modules by family and seed."""
