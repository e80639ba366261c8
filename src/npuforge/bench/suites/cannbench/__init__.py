# SPDX-License-Identifier: Apache-2.0
"""CANN Bench, levels 1 to 4, from the user's checkout, by its published protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npuforge.bench.settings import Settings
    from npuforge.bench.suites.cannbench.suite import CannBench


def open_suite(settings: Settings) -> CannBench:
    """`UsageError` where there is no such checkout, or nothing like that in it."""
    # Here, not above: the sandboxed side of the package needs none of it.
    from npuforge.bench.suites.cannbench.suite import CannBench  # noqa: PLC0415

    return CannBench.open(settings)
