# SPDX-License-Identifier: Apache-2.0
"""What a run looks like: on the terminal, as a page, beside another run."""

from npuforge.bench.report.page import html
from npuforge.bench.report.table import table

__all__ = ["html", "table"]
