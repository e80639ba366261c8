# SPDX-License-Identifier: Apache-2.0
"""Isolation for untrusted code: builds and runs go through `Sandbox.run`."""

from npuforge.sandbox.limits import GIB, MIB, Completed, Limits
from npuforge.sandbox.means import MEANS, WEAK, Isolation, Means, permit, permitted
from npuforge.sandbox.sandbox import Sandbox

__all__ = [
    "GIB",
    "MEANS",
    "MIB",
    "WEAK",
    "Completed",
    "Isolation",
    "Limits",
    "Means",
    "Sandbox",
    "permit",
    "permitted",
]
