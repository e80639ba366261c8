# SPDX-License-Identifier: Apache-2.0
"""The protocol of each kind of endpoint."""

from __future__ import annotations

from npuforge.models.endpoint import Kind
from npuforge.models.wire import Wire
from npuforge.models.wire.anthropic import Anthropic
from npuforge.models.wire.openai import OpenAI


def wire_of(kind: Kind) -> Wire:
    wires: dict[Kind, Wire] = {"openai": OpenAI(), "anthropic": Anthropic()}
    return wires[kind]
