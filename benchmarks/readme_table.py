# SPDX-License-Identifier: Apache-2.0
"""Write the table of benchmark results into the README.

    python benchmarks/readme_table.py RUN... [--file README.md]

RUN is a run's folder or the JSON that `npuforge bench --json` wrote. The table goes between the
comments `bench: begin` and `bench: end`, with the command for each run. Rows of other runs that are
there stay.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from npuforge.bench.report import markdown
from npuforge.bench.report.run import read
from npuforge.errors import NpuforgeError


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--file", type=Path, default=Path("README.md"))
    given = parser.parse_args()
    try:
        made = [markdown.section(read(path)) for path in given.runs]
        text = markdown.put(given.file.read_text("utf-8"), made)
        given.file.write_text(text, "utf-8")
    except (NpuforgeError, OSError) as error:
        print(f"readme_table: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
