# SPDX-License-Identifier: Apache-2.0
"""Who writes it, without a model: from a captured graph to programs in the tile language."""

from npuforge.plan.plan import Operand, Plan, PlanError, Variant

__all__ = ["Operand", "Plan", "PlanError", "Variant"]
