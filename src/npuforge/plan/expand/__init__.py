# SPDX-License-Identifier: Apache-2.0
"""ATen operations in terms of the planner's values, one rule each."""

from npuforge.plan.expand.expander import Expanded, expand, is_planned

__all__ = ["Expanded", "expand", "is_planned"]
