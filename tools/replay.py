#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record what a source tree emits and how it judges, and compare two recordings (docs/replay.md).

    tools/replay.py record [--tree DIR | --commit REV] --out DIR
    tools/replay.py compare A B        revisions, or folders of recordings

Exit status: 0 nothing changed, 1 something did or an item could not be recorded, 2 a bad call.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tools.recording.comparison import compare_recordings, report  # noqa: E402
from tools.recording.folder import (  # noqa: E402
    Recording,
    check_free,
    chosen_items,
    is_recording,
    read_recording,
    write_recording,
)
from tools.recording.record import Request, record_tree  # noqa: E402
from tools.recording.store import Store, default_root  # noqa: E402
from tools.recording.tree import CallError, checkout, resolve_revision  # noqa: E402


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    parser = argparse.ArgumentParser(prog="replay.py", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="Write a recording to a folder.")
    tree = record.add_mutually_exclusive_group()
    tree.add_argument("--tree", type=Path, metavar="DIR", help="A source tree; no git is needed.")
    tree.add_argument("--commit", metavar="REV", help="A commit of this repository.")
    record.add_argument("--out", type=Path, required=True, metavar="DIR")
    compare = commands.add_parser("compare", help="Compare two revisions or two recordings.")
    compare.add_argument("sides", nargs=2, metavar="A B")
    compare.add_argument("--lines", type=int, default=40, help="Most lines of a difference.")
    for command in (record, compare):
        command.add_argument("--items", action="append", default=[], metavar="GLOB")
        command.add_argument("--jobs", type=int, default=1, metavar="N")
        command.add_argument("--cache", type=Path, default=default_root(), metavar="DIR")
        command.add_argument("--fresh", action="store_true", help="Record again what is cached.")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    asked = parser().parse_args(argv)
    try:
        if asked.jobs < 1:
            raise CallError("--jobs is at least 1")
        request = Request(Store(asked.cache), tuple(asked.items), asked.jobs, asked.fresh)
        return record(asked, request) if asked.command == "record" else compare(asked, request)
    except CallError as error:
        print(f"replay.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("replay.py: interrupted; what was recorded is kept", file=sys.stderr)
        return 130


def record(asked: argparse.Namespace, request: Request) -> int:
    check_free(asked.out)
    if asked.commit is not None:
        recording = record_commit(asked.commit, request)
    else:
        recording = record_tree(asked.tree or REPOSITORY, request)
    write_recording(recording, asked.out)
    print(f"{recording.title}: {len(recording.items)} items in {asked.out}")
    return 1 if recording.missing else 0


def record_commit(revision: str, request: Request) -> Recording:
    commit = resolve_revision(REPOSITORY, revision)
    with checkout(REPOSITORY, commit) as tree:
        return record_tree(tree, request, commit)


def compare(asked: argparse.Namespace, request: Request) -> int:
    first, second = (
        chosen_items(read_recording(Path(side)), request.patterns)
        if is_recording(Path(side))
        else record_commit(side, request)
        for side in asked.sides
    )
    comparison = compare_recordings(first, second)
    print(report(comparison, asked.lines), end="")
    return 1 if comparison.changed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a checkout is removed then, too
    sys.exit(main())
