# SPDX-License-Identifier: Apache-2.0
"""A key that does not show."""

from __future__ import annotations

_SHORTEST = 6  # a shorter text is no key, and would be found in every other word


class Secret:
    """Holds a text; neither `str`, `repr`, a format nor a pickle has it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text, for the header that needs it."""
        return self._text

    def hidden_in(self, text: str) -> str:
        """`text` without the secret: servers quote keys in their complaints."""
        if len(self._text) < _SHORTEST:
            return text
        return text.replace(self._text, "***")

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)
