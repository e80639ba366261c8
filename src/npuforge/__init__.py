# SPDX-License-Identifier: Apache-2.0
"""AscendC kernels written, run, checked and timed without an NPU."""

__version__ = "0.1.0"
