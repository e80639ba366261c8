# SPDX-License-Identifier: Apache-2.0
"""ATen operations in terms of the planner's values, one rule each."""

from npuforge.plan.expand.expander import Expanded, expand

__all__ = ["Expanded", "expand"]
