# SPDX-License-Identifier: Apache-2.0
"""The items of a recording: tasks and examples of the tree, golden modules of this checkout."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

from tools.recording.tree import PACKAGE, CallError, digest_of, files_digest

Kind = Literal["module", "program", "kernel"]
GOLDENS = Path(__file__).parents[2] / "tests" / "goldens" / "modules"
_TASKS = PACKAGE / "bench" / "suites" / "forge"
_LAUNCHES = Path(__file__).with_name("launches.toml")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to record: `name` is `group/stem`, `job` what the worker is told."""

    name: str
    kind: Kind
    file: Path
    job: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> dict[str, Any]:
        """The job as the worker reads it."""
        return {"kind": self.kind, "file": str(self.file), **self.job}

    def digest(self) -> str:
        """Digest of all that is handed to the worker."""
        folder = self.file.parent
        files = folder.rglob("*") if self.kind == "kernel" else [self.file]
        launches = repr(self.job.get("launches")).encode()
        contents = files_digest(folder, [path for path in files if path.is_file()])
        return digest_of([self.name.encode(), self.kind.encode(), launches, contents.encode()])


def items_of(tree: Path, patterns: Sequence[str] = ()) -> list[Item]:
    """Return the items whose names match a pattern, all of them without one."""
    every = [*_tasks(tree), *_examples(tree), *_goldens()]
    unknown = [one for one in patterns if not any(fnmatch(item.name, one) for item in every)]
    if unknown:
        raise CallError(f"no item is called {unknown[0]}; there are {every[0].name} and so on")
    return [item for item in every if matches(item.name, patterns)]


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Tell whether an item is asked for: a pattern matches, or there is none."""
    return not patterns or any(fnmatch(name, one) for one in patterns)


def _tasks(tree: Path) -> Iterator[Item]:
    for file in sorted((tree / _TASKS).glob("level*/*/*.py")):
        yield Item(f"forge/{file.parent.name}/{file.stem}", "module", file)


def _examples(tree: Path) -> Iterator[Item]:
    examples = tree / "examples"
    launches: dict[str, list[dict[str, Any]]] = tomllib.loads(_LAUNCHES.read_text("utf-8"))
    for file in sorted((examples / "modules").glob("*.py")):
        yield Item(f"modules/{file.stem}", "module", file)
    for file in sorted((examples / "tile").glob("*.py")):
        job = {"launches": launches.get(file.stem, [])}
        yield Item(f"tile/{file.stem}", "program", file, job)
    for launch in sorted(examples.glob("*/launch.toml")):
        for file in sorted(launch.parent.glob("*.cpp")):
            yield Item(f"kernels/{file.stem}", "kernel", file, {"launch": str(launch)})


def _goldens() -> Iterator[Item]:
    for file in sorted(GOLDENS.glob("*.py")):
        yield Item(f"goldens/{file.stem}", "module", file)
