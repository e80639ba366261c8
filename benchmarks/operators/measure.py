# SPDX-License-Identifier: Apache-2.0
"""Measure the planner on the open half of the list: `npuforge generate` for each operator.

    pip install --no-deps -r benchmarks/operators/requirements.txt
    python -m benchmarks.operators.measure [--jobs N] [--out FILE]

A run that was interrupted goes on where it ended: operators that FILE holds are not measured again.
The half that is held back is opened with `--held-back`, when an issue says so.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from benchmarks.operators.measurement import measured
from benchmarks.operators.results import Results, printed, read, save
from benchmarks.operators.row import LIST, Operator
from benchmarks.operators.row import read as read_list

_OUT = Path(__file__).with_name("results-open.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", type=Path, default=LIST, help="the list of operators")
    parser.add_argument("--out", type=Path, default=_OUT, help="file of results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="operators at a time")
    parser.add_argument("--only", default="*", metavar="GLOB", help="names to measure")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="each N-th operator from K")
    parser.add_argument("--soc", default="910b2")
    parser.add_argument("--limit", type=int, default=900, help="seconds for one operator")
    parser.add_argument("--held-back", action="store_true", help="open the half held back")
    asked = parser.parse_args()
    try:
        operators = _asked(read_list(asked.list), asked)
        results = read(asked.out, asked.soc)
    except (OSError, ValueError) as error:
        print(f"measure: {error}", file=sys.stderr)
        return 2
    if not operators:
        print(f"measure: {_none(asked)}", file=sys.stderr)
        return 2
    _measure(operators, results, asked)
    print(printed(results))
    return 0


def _asked(listed: list[Operator], asked: argparse.Namespace) -> list[Operator]:
    wanted = [one for one in listed if fnmatch.fnmatchcase(one.name, asked.only)]
    if not asked.held_back:
        wanted = [one for one in wanted if one.half == "open"]
    first, _, step = asked.part.partition("/")
    if not (first.isdecimal() and step.isdecimal() and 1 <= int(first) <= int(step)):
        raise ValueError(f"--part is K/N with K from 1 to N, not {asked.part}")
    return wanted[int(first) - 1 :: int(step)]


def _none(asked: argparse.Namespace) -> str:
    if asked.held_back:
        return f"no operator is called {asked.only}"
    return (
        f"no open operator is called {asked.only}; operators held back tell whether a change was "
        "made for operators in general, and need --held-back, when an issue says so"
    )


def _measure(operators: list[Operator], results: Results, asked: argparse.Namespace) -> None:
    known = {one.name for one in results.operators}
    waiting = [one for one in operators if one.name not in known]
    with ThreadPoolExecutor(asked.jobs) as pool:
        runs = [pool.submit(measured, one, asked.soc, asked.limit) for one in waiting]
        for count, run in enumerate(as_completed(runs), 1):
            result = run.result()
            results.operators.append(result)
            save(results, asked.out)
            print(f"{count}/{len(waiting)} {result.line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
