# SPDX-License-Identifier: Apache-2.0
"""An interpreter that finds a tree's npuforge and no other, with the libraries of this one.

An environment set up for development has the path of one tree in its site-packages. Programs in
the sandbox start without PYTHONPATH and would import from there. So they get an interpreter whose
site-packages name the tree first, then the folder of the libraries: `.pth` files in that one are
not read. The interpreter lies within this environment, which the sandbox lets them read.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.recording.tree import CallError


@contextmanager
def interpreter_for(tree: Path) -> Iterator[str]:
    """Yield the interpreter to run a tree's sandboxed programs with."""
    sources = tree / "src"
    others = (Path(place).resolve() for place in sys.path if Path(place, "npuforge").is_dir())
    if all(other == sources for other in others):
        yield sys.executable
        return
    try:
        with tempfile.TemporaryDirectory(prefix="replay-", dir=sys.prefix) as place:
            made = Path(place) / "python"
            venv.EnvBuilder(symlinks=True, with_pip=False).create(made)
            version = f"python{sys.version_info.major}.{sys.version_info.minor}"
            site = made / "lib" / version / "site-packages"
            lines = [str(sources), sysconfig.get_path("purelib"), ""]
            (site / "replay.pth").write_text("\n".join(lines), "utf-8")
            yield str(made / "bin" / "python")
    except OSError as error:
        told = "another npuforge is installed, and no interpreter without it can be made"
        raise CallError(f"{told}: {error}") from None
