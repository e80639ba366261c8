# SPDX-License-Identifier: Apache-2.0
"""Which tasks are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.bench.select import selected
from npuforge.bench.task import Task
from npuforge.errors import UsageError

NAMES = ("activation/relu", "activation/elu", "loss/mse_loss", "level2/Norm/Relu")
TASKS = [Task(name, name.split("/")[0], 2 if name[0] == "l" else 1, Path(name)) for name in NAMES]


def chosen(**what: str) -> list[str]:
    return [task.name for task in selected(TASKS, **what)]


def test_patterns_match_whole_names_or_last_parts() -> None:
    assert chosen(pattern="*elu") == ["activation/relu", "activation/elu", "level2/Norm/Relu"]
    assert chosen(pattern="activation/r*") == ["activation/relu"]
    assert chosen(pattern="Relu") == ["level2/Norm/Relu"]


def test_categories_and_levels_go_together() -> None:
    assert chosen(categories="activation, loss", levels="2") == ["loss/mse_loss"]
    assert chosen() == list(NAMES)


@pytest.mark.parametrize(
    "what", [{"categories": "activaton"}, {"levels": "7"}, {"pattern": "nothing*"}]
)
def test_what_matches_nothing_is_said(what: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        selected(TASKS, **what)
