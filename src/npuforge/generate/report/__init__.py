# SPDX-License-Identifier: Apache-2.0
"""The report on a generated operator: one HTML file that needs nothing else."""

from npuforge.generate.report.page import render

__all__ = ["render"]
