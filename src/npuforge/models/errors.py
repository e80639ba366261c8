# SPDX-License-Identifier: Apache-2.0
"""Why there is no reply."""

from __future__ import annotations

from npuforge.errors import NpuforgeError


class ModelError(NpuforgeError):
    """The endpoint cannot be reached, refuses the request, or a replay lacks it."""


class BudgetError(ModelError):
    """What may be spent is spent."""


class AgainError(Exception):
    """The next try may do; `after_s` is how long the server wants to be left alone."""

    def __init__(self, why: str, after_s: float | None = None) -> None:
        super().__init__(why)
        self.after_s = after_s
