# SPDX-License-Identifier: Apache-2.0
"""The file of a task at the shapes asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from npuforge.bench.modules.checks import MOST, option
from npuforge.errors import UsageError
from npuforge.generate.cases import counter, fewer_rows
from npuforge.keys import keyless
from npuforge.spec.graph import Graph
from npuforge.untrusted.inputs import read_source

_SCALED = """

# The rest was added: inputs of fewer rows, made as the task makes its own.
from npuforge.generate.inputs import InputMaker as _InputMaker

_maker = _InputMaker(get_inputs)


def get_inputs():
    return _maker.draw({shapes!r}, {numbers!r})[0]
"""


def at_commit(file: Path, commit: str, place: Path) -> Path:
    """The file as it was at a commit of its own repository."""
    command = ["git", "-C", str(file.parent), "show", f"{commit}:./{file.name}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=60, env=keyless())
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"v0 shapes need git: {error}") from None
    if done.returncode != 0:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no such file"])[-1]
        raise UsageError(f"not in the suite's first release ({commit}): {last}")
    old = place / file.name
    old.write_bytes(done.stdout)
    return old


def scaled(file: Path, graph: Graph, place: Path) -> Path:
    """The file with inputs small enough to compute with; itself where they are."""
    example = fewer_rows(graph, None)
    if counter(graph)(example) <= MOST:
        return file
    sizes = fewer_rows(graph, MOST)
    made = place / file.name
    text = read_source(file)
    made.write_text(text + _SCALED.format(**option(graph, sizes)), "utf-8")
    return made
