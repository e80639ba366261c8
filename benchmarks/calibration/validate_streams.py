# SPDX-License-Identifier: Apache-2.0
"""Simulator against published measurements, on streams that mirror the published kernels.

    python benchmarks/calibration/validate_streams.py [name ...]

Prints measured and modelled time per case, then median error, rank correlation, worst five; rows
of calibration.csv and rows published only elsewhere are summed up apart.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from agreement import Comparison, print_table
from cases import CASES
from published_streams import Case

from npuforge.soc import load_soc
from npuforge.twin.timing.replay import build_replay, replay


def compare(tool: Path, case: Case) -> Comparison:
    summary = replay(tool, load_soc(case.soc), case.build(), kind=case.kind)
    if summary["stall"] is not None:
        raise SystemExit(f"{case.name}: {summary['stall']}")
    return Comparison(case.name, case.measured_us, summary["total_us"], case.note)


def main() -> None:
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tool = build_replay(Path(folder))
        chosen = [c for c in CASES if not wanted or any(w in c.name for w in wanted)]
        for title, listed in (("in calibration.csv", True), ("published elsewhere", False)):
            print(f"== {title}")
            print_table([compare(tool, case) for case in chosen if case.listed == listed])


if __name__ == "__main__":
    main()
