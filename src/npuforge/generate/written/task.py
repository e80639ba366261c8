# SPDX-License-Identifier: Apache-2.0
"""What a model is to write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from npuforge.generate.workbench import Workbench
from npuforge.generate.written.signature import Signature
from npuforge.plan import Plan, Variant

Prompts = Path | None  # a folder whose templates replace ours


@dataclass(frozen=True, slots=True)
class Task:
    """A module on the workbench, and the signature its program must have."""

    bench: Workbench
    signature: Signature
    prompts: Prompts = None

    def plan(self, *variants: Variant) -> Plan:
        return Plan(self.signature.name, variants, self.signature.operands)
