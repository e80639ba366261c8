# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of every shipped entry again: is it still true?

    python benchmarks/knowledge_verify.py [ID ...]

A line for each entry and a total. The exit status is 1 where one does not hold any more.
"""

from __future__ import annotations

import argparse
import sys
import time

from npuforge.knowledge import shipped
from npuforge.knowledge.verify import RefusedError, evidence_of


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("ids", nargs="*", help="entries to verify, all if none")
    given = options.parse_args()
    known = {entry.id: entry for entry in shipped.entries()}
    if unknown := [name for name in given.ids if name not in known]:
        print(f"no entry {unknown[0]!r}", file=sys.stderr)
        return 2
    failed = 0
    started = time.monotonic()
    wanted = given.ids or list(known)
    for name in wanted:
        try:
            found = evidence_of(known[name])
        except RefusedError as error:
            failed += 1
            print(f"FAILS {error}", flush=True)
            continue
        ratio = f", {found.ratio:g} times faster" if found.ratio else ""
        print(f"holds {name}: {found.cases} cases; before {found.before}{ratio}", flush=True)
    spent = time.monotonic() - started
    print(f"{len(wanted) - failed} of {len(wanted)} entries hold; {spent:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
