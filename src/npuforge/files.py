# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all, however many processes and threads write the same one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Yield a path of its own beside `path`; what is written there becomes `path` at the end.

    If the block raises, `path` stays as it was. The name is drawn anew for each call: a process
    identifier would be shared by threads, and by containers with one folder.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write the file in one step, as UTF-8 if `content` is text."""
    with replacement(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
