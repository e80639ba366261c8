# SPDX-License-Identifier: Apache-2.0
"""What a sandboxed Python program must be able to read, and what it must not see."""

from __future__ import annotations

import sys
from pathlib import Path

# The folder that holds this package: imports list it, the package's own is not enough.
PACKAGE_ROOT = Path(__file__).resolve().parents[2]

# Accelerators of every maker that PyTorch has a build for: references are computed on processors,
# and an interpreter that has begun to use a GPU cannot fork others.
NO_DEVICES = {
    "ASCEND_RT_VISIBLE_DEVICES": "",
    "CUDA_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
    "ROCR_VISIBLE_DEVICES": "",
}


def interpreter() -> list[Path]:
    """Where the interpreter and its packages are."""
    return [Path(sys.prefix), Path(sys.base_prefix)]
