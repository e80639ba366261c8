# SPDX-License-Identifier: Apache-2.0
"""The suites by name."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from npuforge.bench.settings import Settings
from npuforge.bench.suite import Suite
from npuforge.errors import UsageError

# Where each is made: a function `open_suite(settings)`. Imported when asked for: torch is slow.
_MODULES = {
    "forge": "npuforge.bench.suites.forge",
    "multikernelbench": "npuforge.bench.suites.multikernelbench",
    "kernelbench": "npuforge.bench.suites.kernelbench",
    "npukernelbench": "npuforge.bench.suites.npukernelbench",
    "cannbench": "npuforge.bench.suites.cannbench",
}
NAMES = tuple(_MODULES)
_OWN = {"forge"}  # lies in this package


def open_suite(settings: Settings) -> Suite:
    """The suite that the settings name."""
    if settings.suite not in _MODULES:
        raise UsageError(f"no suite {settings.suite!r}; suites: {', '.join(NAMES)}")
    suite: Suite = importlib.import_module(_MODULES[settings.suite]).open_suite(settings)
    return suite


def needs_checkout(settings: Settings) -> bool:
    """Return whether the suite is a public one, of which the user has a copy."""
    return settings.suite not in _OWN


def checkout(settings: Settings) -> Path:
    """The user's copy of a public suite: `--path`, or the environment variable NPUFORGE_<SUITE>."""
    variable = f"NPUFORGE_{settings.suite.upper()}"
    text = settings.path or os.environ.get(variable)
    if text is None:
        raise UsageError(f"{settings.suite} needs your checkout: --path, or {variable}")
    path = Path(text)
    if not path.is_dir():
        raise UsageError(f"no such folder: {path}")
    return path
