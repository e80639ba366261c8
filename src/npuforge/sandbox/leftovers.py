# SPDX-License-Identifier: Apache-2.0
"""Open what a sandboxed command left behind, as untrusted as the command itself."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_plain(path: Path, limit: int) -> BinaryIO | None:
    """A plain file of at most `limit` bytes; None for anything else. Links are not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    file = os.fdopen(descriptor, "rb")
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
        file.close()
        return None
    return file
