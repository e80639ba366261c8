# SPDX-License-Identifier: Apache-2.0
"""What a sandboxed Python program must be able to read."""

from __future__ import annotations

import sys
from pathlib import Path

# The folder that holds this package: imports list it, the package's own is not enough.
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def interpreter() -> list[Path]:
    """Where the interpreter and its packages are."""
    return [Path(sys.prefix), Path(sys.base_prefix)]
