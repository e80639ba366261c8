# SPDX-License-Identifier: Apache-2.0
"""The replay tool, compiled once, and short ways to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from npuforge.soc import load_soc
from npuforge.twin.timing.records import Stream
from npuforge.twin.timing.replay import build_replay, replay

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def replay_tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_replay(tmp_path_factory.mktemp("replay"))


@pytest.fixture
def run(replay_tool: Path) -> Run:
    def call(streams: Sequence[Stream], soc: str = "910b1", **options: Any) -> dict[str, Any]:
        return replay(replay_tool, load_soc(soc), streams, **options)

    return call
