# SPDX-License-Identifier: Apache-2.0
"""The fixture `golden` and its option: files of a test's own that are compared, or written anew."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Golden = Callable[[Mapping[Path, str]], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="Write the goldens anew.")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare texts with the files that hold them; with `--update-goldens` write these."""

    def compare(texts: Mapping[Path, str]) -> None:
        differences = [_difference(file, text) for file, text in texts.items()]
        if request.config.getoption("--update-goldens", default=False):
            for file, text in texts.items():
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, "utf-8")
        elif any(differences):
            told = "\n".join(difference for difference in differences if difference)
            pytest.fail(f"{told}\nas it should be? --update-goldens", pytrace=False)

    return compare


def _difference(file: Path, text: str) -> str:
    kept = file.read_text("utf-8") if file.exists() else ""
    lines = difflib.unified_diff(
        kept.splitlines(), text.splitlines(), f"kept {file.name}", f"new {file.name}", lineterm=""
    )
    return "\n".join(lines)
