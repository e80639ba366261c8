# SPDX-License-Identifier: Apache-2.0
"""The option `--update-goldens`, in a run of pytest of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_ALONE = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
_TEST = """\
def test_it(golden):
    golden({KEPT: "first\\nnew\\n"})
"""


def run(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *flags, "test_it.py"]
    return subprocess.run(
        command, cwd=folder, env=_ALONE, capture_output=True, text=True, check=False
    )


def test_a_stale_golden_fails_with_the_difference_until_it_is_updated(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    kept = tmp_path / "pairs" / "one.tile"
    kept.parent.mkdir()
    kept.write_text("first\nold\n")
    text = f"from pathlib import Path\n\nKEPT = Path({str(kept)!r})\n\n\n{_TEST}"
    (tmp_path / "test_it.py").write_text(text)
    stale = run(tmp_path)
    assert stale.returncode == 1
    assert "-old\n+new\n" in stale.stdout
    assert kept.read_text() == "first\nold\n"
    assert run(tmp_path, "--update-goldens").returncode == 0
    assert kept.read_text() == "first\nnew\n"
    assert run(tmp_path).returncode == 0
