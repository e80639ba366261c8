# SPDX-License-Identifier: Apache-2.0
"""A source tree to record: its digest, and a checkout of a revision for as long as it is needed."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGE = Path("src", "npuforge")


class CallError(Exception):
    """A call at fault: its message is one line."""


def check_tree(tree: Path) -> Path:
    """Return the tree's absolute path; `CallError` if it is none of npuforge."""
    if not (tree / PACKAGE / "__init__.py").is_file():
        raise CallError(f"{tree} is no source tree of npuforge: it has no {PACKAGE}/__init__.py")
    return tree.resolve()


def digest_of(parts: Iterable[bytes]) -> str:
    """Return a digest that depends on where each part ends."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()[:40]


def files_digest(root: Path, files: Iterable[Path]) -> str:
    """Return a digest of the files' names below `root` and of their contents."""
    parts: list[bytes] = []
    for file in sorted(files):
        parts += [file.relative_to(root).as_posix().encode(), file.read_bytes()]
    return digest_of(parts)


def source_digest(tree: Path) -> str:
    """Return a digest of the package's sources: what a recording depends on."""
    package = tree / PACKAGE
    every = (path for path in package.rglob("*") if path.is_file())
    return files_digest(package, [path for path in every if "__pycache__" not in path.parts])


def revision_of(tree: Path) -> str | None:
    """Return the commit that the tree is a clean checkout of, or None."""
    try:
        if _git(tree, "status", "--porcelain", "--", "src", "examples"):
            return None
        return _git(tree, "rev-parse", "HEAD")
    except CallError:
        return None


def resolve_revision(repository: Path, revision: str) -> str:
    """Return the full hash of a commit; `CallError` if there is none."""
    return _git(repository, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")


@contextmanager
def checkout(repository: Path, commit: str) -> Iterator[Path]:
    """Yield a temporary git worktree of a commit."""
    with tempfile.TemporaryDirectory(prefix="replay-tree-") as place:
        tree = Path(place).resolve() / commit[:12]
        _git(repository, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            _git(repository, "worktree", "remove", "--force", str(tree))


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CallError(f"git does not run: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise CallError(f"git {words[0]}: {said[0] if said else done.returncode}")
    return done.stdout.strip()
