# SPDX-License-Identifier: Apache-2.0
"""Entries on the twin: evidence where they are true, a line where they are not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.knowledge.programs import (
    LAUNCH,
    MANY_CORES,
    ONE_CORE,
    PADDED,
    PLAIN,
    TILE_LAUNCH,
    many_cores,
    padded,
)

from npuforge.knowledge.entry import Entry
from npuforge.knowledge.text import dump, parse
from npuforge.knowledge.verify import RefusedError, evidence_of, verified


def test_a_kernel_that_mends_a_rule_has_evidence() -> None:
    entry = verified(padded())
    assert entry.verified
    evidence = entry.evidence
    assert evidence is not None
    assert evidence.after == "right"
    assert evidence.before.startswith("rule CPY-01")
    assert evidence.cases == 1
    assert evidence.after_us is not None
    assert evidence.ratio is None
    assert parse(dump(entry)) == entry


def test_a_faster_tile_program_has_times() -> None:
    evidence = evidence_of(many_cores())
    assert (evidence.before, evidence.after, evidence.cases) == ("right", "right", 2)
    assert evidence.ratio is not None
    assert evidence.ratio >= 2
    assert evidence_of(many_cores(claim="", before="")).ratio is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": "race"}, "'race' is claimed, Before is: rule CPY-01"),
        ({"claim": "slower 1.5", "before": PADDED}, "Before takes 1.000 times as long"),
        ({"claim": "slower 1.5"}, "Before is not right either"),
        ({"claim": "wrong", "before": PADDED}, "'wrong' is claimed, Before is: right"),
        ({"claim": "wrong", "after": PLAIN}, "After is not right: rule CPY-01"),
        ({"launch": LAUNCH.replace("2 * x", "3 * x")}, "After is not right: wrong on 1 of 1: y: "),
        ({"launch": LAUNCH.partition("[expected]")[0]}, "a case expects nothing"),
        ({"launch": "blocks = 1"}, "cannot be run"),
        ({"launch": TILE_LAUNCH}, "has blocks and argument"),
    ],
)
def test_a_kernel_that_is_not_so_is_refused(changes: dict[str, Any], said: str) -> None:
    _refused(padded(**changes), said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": "slower 50"}, "the claim does not hold: Before takes 2"),
        ({"before": MANY_CORES, "claim": "does not compile"}, "Before is: right"),
        ({"after": MANY_CORES.replace("held[:n], 2.0", "made[:n], 2.0")}, "After is not right"),
        ({"launch": TILE_LAUNCH + '\n[case.expected]\ny = "x"\n'}, "wrong on 1 of 2"),
        ({"launch": TILE_LAUNCH + '\n[case.expected]\nz = "x"\n'}, "'z' is no output"),
        ({"launch": LAUNCH}, "has input and attrs"),
    ],
)
def test_a_tile_program_that_is_not_so_is_refused(changes: dict[str, Any], said: str) -> None:
    _refused(many_cores(**changes), said)


def test_a_tile_program_may_break_a_rule_of_its_language() -> None:
    forgets = ONE_CORE.replace("dtype=tl.float32)\n    made", "dtype=tl.float33)\n    made")
    evidence = evidence_of(many_cores(before=forgets, claim="does not compile"))
    assert evidence.before.startswith("does not compile: TL-")


def _refused(entry: Entry, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        verified(entry)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
