# SPDX-License-Identifier: Apache-2.0
"""Isolation for untrusted code: builds and runs go through `Sandbox.run`."""

from npuforge.sandbox.limits import GIB, MIB, Completed, Limits
from npuforge.sandbox.sandbox import MEANS, Means, Sandbox

__all__ = ["GIB", "MEANS", "MIB", "Completed", "Limits", "Means", "Sandbox"]
