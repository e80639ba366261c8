# SPDX-License-Identifier: Apache-2.0
"""Language models, hosted or local: asked over HTTP, counted, recorded, replayed."""

from npuforge.models.client import Client
from npuforge.models.endpoint import Endpoint
from npuforge.models.errors import BudgetError, ModelError
from npuforge.models.exchange import Message, Reply, Request, Stop, Usage

__all__ = [
    "BudgetError",
    "Client",
    "Endpoint",
    "Message",
    "ModelError",
    "Reply",
    "Request",
    "Stop",
    "Usage",
]
