# SPDX-License-Identifier: Apache-2.0
"""Random tile programs, interpreter against emitted kernel on the twin.

    python benchmarks/tile_fuzz.py [--programs N] [--seed S]

Prints every program on which the two disagree, or which breaks a rule, and exits 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.lower.differential import Differential
from tests.tile.programs import Case, cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    tried = 0
    failed: list[str] = []

    @seed(arguments.seed)
    @settings(
        max_examples=arguments.programs,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def attempt(case: Case) -> None:
        nonlocal tried
        tried += 1
        try:
            Differential(case.text).agree(case.inputs, case.attributes)
        except Exception:
            failed.append(case.text)
            print(f"---- program {tried}\n{case.text}\n{traceback.format_exc(limit=3)}", flush=True)
        print(f"{tried} tried, {len(failed)} failed", flush=True)

    attempt()
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
