# SPDX-License-Identifier: Apache-2.0
"""MultiKernelBench: modules with one set of shapes, and operators with a table of cases."""

from npuforge.bench.suites.multikernelbench.suite import open_suite

__all__ = ["open_suite"]
