# SPDX-License-Identifier: Apache-2.0
"""One judge in a process of its own: `python -m npuforge.train.judge_worker module:Class`.

Questions come as lines of JSON on standard input, outcomes go as lines to what standard output was;
whatever the judge itself prints goes nowhere near them.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import IO

import msgspec

from npuforge.interruption import run_process
from npuforge.train.rewards import Judge, Outcome, Question, Verdict


def main(judge: str) -> int:
    """Answer until there are no more questions."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        module, _, name = judge.partition(":")
        judging: Judge = getattr(importlib.import_module(module), name)()
    except Exception as error:  # whatever goes wrong in a judge is told, not raised
        _say(out, f"{judge}: {type(error).__name__}: {error}".replace("\n", " ").encode())
        return 1
    _say(out, b"ready")
    for line in sys.stdin.buffer:
        question = msgspec.json.decode(line, type=Question)
        try:
            outcome = _outcome(judging.judge(question.task, question.text))
        except Exception as error:  # as above
            outcome = Outcome(failure=f"{type(error).__name__}: {error}")
        _say(out, msgspec.json.encode(outcome))
    return 0


def _outcome(verdict: Verdict) -> Outcome:
    return Outcome(
        parsed=verdict.parsed,
        compiled=verdict.compiled,
        correct=verdict.correct,
        violations=verdict.violations,
        time_us=verdict.time_us,
        baseline_us=verdict.baseline_us,
        isolated=verdict.isolated,
    )


def _say(out: IO[bytes], line: bytes) -> None:
    out.write(line + b"\n")
    out.flush()


if __name__ == "__main__":
    raise SystemExit(run_process(lambda: main(sys.argv[1])))
