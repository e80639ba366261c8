# SPDX-License-Identifier: Apache-2.0
"""Draw the list of vector operators from the public packages of `sources.toml`.

    pip install --no-deps -r benchmarks/operators/requirements.txt
    python -m benchmarks.operators.draw [--out FILE]

The same versions give the same list, byte for byte. At most two operators have one structure; what
is kept of a package, and which half is held back, is decided by hashes of names.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import torch
from benchmarks.operators import row
from benchmarks.operators.examination import examine
from benchmarks.operators.models import draw_listed, draw_transformers
from benchmarks.operators.namespaces import draw_namespace
from benchmarks.operators.recorder import Drawn
from benchmarks.operators.row import Operator, digest, half_of
from benchmarks.operators.stateful import draw_optimizers, draw_schedulers

_SOURCES = Path(__file__).with_name("sources.toml")
_MEMORY = 16 << 30  # bytes of addresses
_SAME = 2  # operators of one structure
_TRIES = 8  # operators of one structure that are run

_DRAWERS = {
    "transformers": draw_transformers,
    "model": draw_listed,
    "namespace": draw_namespace,
    "optimizers": draw_optimizers,
    "schedulers": draw_schedulers,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=row.LIST)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))  # candidates may ask for any
    sources = tomllib.loads(_SOURCES.read_text("utf-8"))
    structures: defaultdict[str, dict[str, Drawn]] = defaultdict(dict)
    for drawn in _drawn(sources):
        structures[drawn.frame.structure].setdefault(drawn.operator.name, drawn)
    listed = chosen(structures, sources["most"])
    row.write(listed, asked.out)
    halves = [one.half for one in listed]
    packages = len({one.package for one in listed})
    print(f"{len(listed)} operators of {packages} packages: {asked.out}")
    print(f"{halves.count('open')} open, {halves.count('held back')} held back")
    return 0


def _drawn(sources: dict[str, Any]) -> Iterator[Drawn]:
    for kind, draw in _DRAWERS.items():
        for settings in sources[kind]:
            yield from draw(settings, version(settings["distribution"]).partition("+")[0])


def chosen(structures: dict[str, dict[str, Drawn]], most: dict[str, int]) -> list[Operator]:
    """Return at most two operators a structure and `most` a package, in the order of names."""
    counts: defaultdict[str, int] = defaultdict(int)
    families: dict[str, list[Operator]] = {}
    for structure in sorted(structures, key=lambda one: digest(f"order {one}")):
        listed = structures[structure]
        names = sorted(listed, key=digest)
        first_package = listed[names[0]].operator.package
        if counts[first_package] >= most[first_package]:
            continue
        family = _family([listed[name].operator for name in names], families)
        for one in family:
            counts[one.package] += 1
        print(f"\r{sum(counts.values())} operators", end="", file=sys.stderr)
    print(file=sys.stderr)
    made = []
    for structure, family in families.items():
        half = half_of(family[0].name)
        made += [
            msgspec.structs.replace(one, structure=structure, family=family[0].name, half=half)
            for one in family
        ]
    return sorted(made, key=lambda one: one.name)


def _family(operators: list[Operator], families: dict[str, list[Operator]]) -> list[Operator]:
    """Return the first operators that run as written and are not alike."""
    kept: list[Operator] = []
    structure = ""
    tries = 0
    for operator in operators:
        alike = [one for one in kept if _alike(one, operator)]
        if alike:
            continue
        if len(kept) == _SAME or tries == _TRIES:
            break
        tries += 1
        drawn = examine(operator)
        if drawn is None:
            continue
        if not kept:
            structure = drawn.frame.structure
            kept = families.setdefault(structure, [])
            if kept:
                return []
        if drawn.frame.structure == structure:
            kept.append(drawn.operator)
    return kept


def _alike(one: Operator, other: Operator) -> bool:
    return one.target == other.target or (
        one.package == other.package
        and [(i.shape, i.dtype) for i in one.inputs] == [(i.shape, i.dtype) for i in other.inputs]
    )


if __name__ == "__main__":
    sys.exit(main())
