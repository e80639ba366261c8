# SPDX-License-Identifier: Apache-2.0
"""Knowledge judged by its effect: what is false goes, what is misapplied gets a boundary, what
contradicts or repeats itself is settled. Rules decide; a model is asked where they cannot."""

from npuforge.knowledge.distill.decision import Bench, Decision
from npuforge.knowledge.distill.steps import STEPS, Step, distill

__all__ = ["STEPS", "Bench", "Decision", "Step", "distill"]
