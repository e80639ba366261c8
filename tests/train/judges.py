# SPDX-License-Identifier: Apache-2.0
"""Judges for the tests of the pool, loaded by name in processes of their own."""

from __future__ import annotations

import os
import time
from typing import Any

from npuforge.tile.parse import parse
from npuforge.tile.source import TileError
from npuforge.train.rewards import Outcome


class ParseJudge:
    """Judges by whether the tile language takes the text; some words make it misbehave."""

    def judge(self, task: dict[str, Any], text: str) -> Outcome:
        print("judges may print")
        if text == "crash":
            os._exit(3)
        if text == "sleep":
            time.sleep(30)
        if text == "raise":
            raise RuntimeError("no verdict")
        try:
            parse(text)
        except TileError:
            return Outcome()
        return Outcome(parsed=True, compiled=True, correct=True, time_us=1.0, **task)


class ShortJudge:
    """Likes answers without digits, so that a tiny model has something to learn."""

    def judge(self, task: dict[str, Any], text: str) -> Outcome:
        digits = sum(char.isdigit() for char in text)
        return Outcome(parsed=bool(text), compiled=digits < task["most"], correct=digits == 0)


class BrokenJudge:
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no compiler")
