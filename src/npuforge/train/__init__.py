# SPDX-License-Identifier: Apache-2.0
"""Data, training and evaluation of models that write kernels (docs/design/training.md)."""
