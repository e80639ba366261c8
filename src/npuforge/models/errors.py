# SPDX-License-Identifier: Apache-2.0
"""Why there is no reply."""

from __future__ import annotations

from npuforge.errors import NpuforgeError


class ModelError(NpuforgeError):
    """The endpoint cannot be reached, refuses the request, or a replay lacks it."""


class BudgetError(ModelError):
    """What may be spent is spent."""
