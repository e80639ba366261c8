# SPDX-License-Identifier: Apache-2.0
"""PyTorch models that call operators through C++ bindings, run on CPU tensors and the twin."""
