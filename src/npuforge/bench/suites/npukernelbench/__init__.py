# SPDX-License-Identifier: Apache-2.0
"""NPUKernelBench: operators in three levels, each a table of cases."""

from npuforge.bench.suites.npukernelbench.suite import open_suite

__all__ = ["open_suite"]
