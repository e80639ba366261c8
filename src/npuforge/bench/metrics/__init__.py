# SPDX-License-Identifier: Apache-2.0
"""What the attempts of a run come to: functions of tasks and attempts, nothing else."""

from npuforge.bench.metrics.estimators import Estimate
from npuforge.bench.metrics.figures import FAST_P, FAST_X, Figures, figures
from npuforge.bench.metrics.groups import by_category, by_level
from npuforge.bench.metrics.summary import summary

__all__ = [
    "FAST_P",
    "FAST_X",
    "Estimate",
    "Figures",
    "by_category",
    "by_level",
    "figures",
    "summary",
]
