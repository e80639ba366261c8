# SPDX-License-Identifier: Apache-2.0
"""Variables that hold keys, and an environment for children that need none of them.

Sandboxed processes begin with an empty environment. What this package starts besides (compilers,
git, workers) gets ours without keys, unless it asks a model itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

KEY_VARIABLES = (
    "NPUFORGE_MODEL_KEY", "NPUFORGE_EMBEDDINGS_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
)  # fmt: skip
_OTHERS = re.compile(r"(_|^)(KEY|API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.I)
_named: set[str] = set()


def named_as_key(variable: str) -> None:
    """Note that the user's configuration names a variable that holds a key."""
    _named.add(variable)


@contextmanager
def keys_hidden() -> Iterator[None]:
    """Take the keys out of this process's environment, for a library that starts children."""
    kept = keyless()
    hidden = {name: value for name, value in os.environ.items() if name not in kept}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)


def keyless(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment (this process's without one) without variables that hold keys."""
    around = os.environ if environment is None else environment
    return {
        name: value
        for name, value in around.items()
        if name not in KEY_VARIABLES and name not in _named and not _OTHERS.search(name)
    }
