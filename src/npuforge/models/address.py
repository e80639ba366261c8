# SPDX-License-Identifier: Apache-2.0
"""Addresses of endpoints: which ones are taken, and which of them are the same."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from npuforge.errors import UsageError

_PORTS = {"http": 80, "https": 443}
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Address:
    """A scheme, a host, a port and a path; two are equal where requests would go to one place."""

    scheme: str
    host: str
    port: int
    path: str

    @staticmethod
    def of(text: str) -> Address:
        """Return the address in a text; `UsageError` for what is none, or holds a key itself."""
        shown = text if len(text) < 200 and "@" not in text and "?" not in text else "the text"
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise UsageError(f"no address of an endpoint: {shown}") from None
        plain = text.isascii() and text.isprintable() and " " not in text and len(text) <= _LONGEST
        if parts.scheme not in _PORTS or not parts.hostname or not plain or "\\" in text:
            raise UsageError(f"no address of an endpoint: {shown}")
        if parts.username is not None or parts.query or parts.fragment:
            raise UsageError(
                "an endpoint's address has neither user, query nor fragment; "
                "a key is named by NPUFORGE_MODEL_KEY"
            )
        host = parts.hostname.lower().rstrip(".")
        return Address(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"

    @property
    def is_loopback(self) -> bool:
        """Whether requests stay on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
