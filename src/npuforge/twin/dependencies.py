# SPDX-License-Identifier: Apache-2.0
"""What a compilation read, as far as the compiler tells: a make rule, and what no rule names.

A build is used again while all that it read is as it was. So a name that cannot be understood, and
an assembler's files, which no rule names, must be known as such.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from npuforge.errors import UsageError
from npuforge.untrusted.inputs import is_plain_file, read_input

_LIMIT = 16 << 20
# Names end at white space before which the backslashes are an even number.
_NAME = re.compile(r"(?:\\[ \t#:\\]|\$\$|[^\s\\]|\\(?=[^ \t#:\\]))+")
_ESCAPE = re.compile(r"(\\*)\\([ \t])|\\([#:])|\$(\$)")
_ASSEMBLY = re.compile(rb"\b(?:asm|__asm|__asm__)\b|incbin|#\s*embed")
_READS = re.compile(rb"incbin|#\s*embed")  # in libraries, whose assembly is a few instructions


def dependencies(rule: Path, made: Path) -> list[Path] | None:
    """Return the files of a make rule but those in `made`; None if a name leads to no file."""
    text = rule.read_text("utf-8", errors="surrogateescape").replace("\\\n", " ")
    _, _, names = text.partition(": ")
    paths = [Path(os.path.abspath(made / _plain(name))) for name in _NAME.findall(names)]
    if not all(is_plain_file(path) for path in paths):
        return None
    return [path for path in paths if not path.is_relative_to(made)]


def has_assembly(files: Iterable[Path], ours: Path, opened: Sequence[Path] = ()) -> bool:
    """Tell whether a project's file holds assembly, which reads files by `.incbin`.

    In `opened`, libraries that the user named, only the directives themselves count. The keyword
    made by pasting tokens is not seen.
    """
    for path in files:
        if path.is_relative_to(ours) or path.is_relative_to("/usr"):
            continue
        library = any(path.is_relative_to(folder) for folder in opened)
        try:
            if (_READS if library else _ASSEMBLY).search(read_input(path, _LIMIT)):
                return True
        except UsageError:
            return True
    return False


def _plain(name: str) -> str:
    """Undo the escapes of gcc and clang: a blank's doubles the backslashes before it."""
    return _ESCAPE.sub(
        lambda found: (found[1] or "")[::2] + (found[2] or found[3] or found[4] or ""), name
    )
