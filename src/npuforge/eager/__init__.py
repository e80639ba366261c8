# SPDX-License-Identifier: Apache-2.0
"""How long PyTorch takes on an Ascend chip without a compiler: measured, scaled or modelled."""

from npuforge.eager.baseline import Baseline, baseline, compared
from npuforge.eager.table import measured

__all__ = ["Baseline", "baseline", "compared", "measured"]
