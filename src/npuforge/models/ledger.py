# SPDX-License-Identifier: Apache-2.0
"""Tokens and cost so far, and what may still be spent."""

from __future__ import annotations

import threading

from npuforge.models.endpoint import Endpoint, Price
from npuforge.models.errors import BudgetError
from npuforge.models.exchange import Usage

_MILLION = 1e6


def cost(usage: Usage, price: Price | None) -> float | None:
    """None where no price is known."""
    if price is None:
        return None
    return (usage.prompt * price.prompt + usage.completion * price.completion) / _MILLION


class Ledger:
    """Counts for all threads that ask."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._usage = Usage()
        self._exchanges = 0

    @property
    def usage(self) -> Usage:
        return self._usage

    @property
    def exchanges(self) -> int:
        return self._exchanges

    @property
    def cost(self) -> float | None:
        return cost(self._usage, self._endpoint.price)

    def check(self) -> None:
        """`BudgetError` where nothing is left."""
        most, spent = self._endpoint.budget_tokens, self._usage.total
        if most is not None and spent >= most:
            raise BudgetError(f"the budget of {most} tokens is spent ({spent})")
        limit, paid = self._endpoint.budget_cost, self.cost
        if limit is not None and paid is not None and paid >= limit:
            raise BudgetError(f"the budget of {limit:g} is spent ({paid:.4g})")

    def add(self, usage: Usage) -> None:
        with self._lock:
            self._usage += usage
            self._exchanges += 1
