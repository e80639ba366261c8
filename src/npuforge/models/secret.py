# SPDX-License-Identifier: Apache-2.0
"""A key that does not show, and that is hidden wherever somebody else shows it."""

from __future__ import annotations

import base64
import re
from urllib.parse import quote

from npuforge.errors import UsageError

_SHORTEST = 6  # a shorter text is no key, and would be found in every other word
_PART = 8  # letters of a key that are hidden wherever they stand together
_LONGEST = 4096
_HIDDEN = "***"


class Secret:
    """Holds a key; neither `str`, `repr`, a format nor a pickle has it.

    A key is one line of printable ASCII, so that no header is refused with the key in the message.
    """

    __slots__ = ("_parts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        plain = self._text.isascii() and self._text.isprintable() and " " not in self._text
        if not plain or not 0 < len(self._text) <= _LONGEST:
            raise UsageError("a key is one word of printable ASCII characters")
        self._parts = _parts(self._text)

    def reveal(self) -> str:
        """Return the key, for the header that needs it."""
        return self._text

    def hidden_in(self, text: str) -> str:
        """Return `text` without the key: servers quote keys in their complaints.

        Hidden is each run of 8 letters or more that stands in the key, in its base64 (wherever the
        key begins in what was encoded), in its hexadecimal or in its URL-encoded form.
        """
        shown = bytearray(len(text))  # 1 for each letter of the key
        for part in self._parts:
            start = text.find(part)
            while start >= 0:
                shown[start : start + len(part)] = b"\1" * len(part)
                start = text.find(part, start + 1)
        pieces: list[str] = []
        done = 0
        for run in re.finditer(b"\1+", shown):
            pieces += [text[done : run.start()], _HIDDEN]
            done = run.end()
        return "".join([*pieces, text[done:]])

    def __repr__(self) -> str:
        return f"Secret({_HIDDEN})"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def _parts(key: str) -> frozenset[str]:
    """Return all texts that are hidden."""
    if len(key) < _SHORTEST:
        return frozenset()
    if len(key) < _PART:
        return frozenset(_forms(key))
    return frozenset(
        form[start : start + _PART]
        for form in _forms(key)
        for start in range(len(form) - _PART + 1)
    )


def _forms(key: str) -> set[str]:
    """Return the key, and what encodings in common use make of it."""
    octets = key.encode()
    forms = {
        key,
        quote(key, safe=""),
        quote(key, safe="").lower(),
        octets.hex(),
        octets.hex().upper(),
    }
    for shift in range(3):
        # What stands before the key decides the first letters, what stands behind it the last.
        encoded = base64.b64encode(b"\0" * shift + octets)
        first, last = -(-8 * shift // 6), (8 * (shift + len(octets))) // 6
        whole = encoded[first:last].decode()
        forms |= {whole, whole.translate(str.maketrans("+/", "-_"))}
    return {form for form in forms if len(form) >= min(_PART, len(key))}
