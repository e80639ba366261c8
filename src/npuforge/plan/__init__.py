# SPDX-License-Identifier: Apache-2.0
"""Who writes it, without a model: from a captured graph to programs in the tile language."""

from npuforge.plan.cube import CUBE
from npuforge.plan.plan import Operand, Plan, PlanError, Variant

__all__ = ["CUBE", "Operand", "Plan", "PlanError", "Variant"]
