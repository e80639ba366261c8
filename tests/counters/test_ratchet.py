# SPDX-License-Identifier: Apache-2.0
"""What must not rise: badly opened docstrings, regular expressions, tile code in literals, circles
of imports and imports that go up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.counters import ratchet
from tools.counters.figures import Places, places
from tools.counters.tree import Source, sources

ROOT = Path(__file__).parents[2]


def test_nothing_rises() -> None:
    faults = list(ratchet.broken(places(sources(ROOT)), ratchet.limits()))
    assert not faults, "\n".join(["", *faults])


@pytest.fixture
def made() -> Places:
    return Places(
        [
            Source("src/npuforge/plan/a.py", '"""What."""\nimport npuforge.plan.b\nX = "tl.f()"\n'),
            Source("src/npuforge/plan/b.py", "import re\nimport npuforge.plan.a\nre.match(1, 2)\n"),
            Source("src/npuforge/tile/c.py", '"""Whether."""\nimport npuforge.plan.a\n'),
        ]
    )


def test_every_fault_has_its_file_line_and_rule(made: Places) -> None:
    allowed = ratchet.Limits(docstrings={"tile": 1})
    assert list(ratchet.broken(made, allowed)) == [
        "a docstring begins with a verb or a noun: src/npuforge/plan has 1, at most 0\n"
        "  src/npuforge/plan/a.py:1: a docstring begins with 'What'",
        "regular expressions stay with parsing, printing and highlighting:"
        " src/npuforge/plan has 1, at most 0\n  src/npuforge/plan/b.py:3: re.match",
        "tile code is built, not pasted as text: src/npuforge/plan has 1, at most 0\n"
        "  src/npuforge/plan/a.py:3: tl.f()",
        "imports go down: src/npuforge/tile/c.py:2: tile imports plan: it is not in a lower layer",
        "no circle of imports\n  src/npuforge/plan/a.py:2: npuforge.plan.b\n"
        "  src/npuforge/plan/b.py:2: npuforge.plan.a",
    ]


def test_places_that_are_free_do_not_count(made: Places) -> None:
    allowed = ratchet.Limits(
        free=["plan/b"],
        circles=[["npuforge.plan.a", "npuforge.plan.b"]],
        docstrings={"plan": 1, "tile": 1},
        tile_lines={"plan": 1},
    )
    (left,) = ratchet.broken(made, allowed)
    assert left.startswith("imports go down")


def test_limits_are_lowered_and_never_raised(made: Places) -> None:
    circle = ["npuforge.plan.a", "npuforge.plan.b"]
    allowed = ratchet.Limits(
        circles=[circle, ["npuforge.x", "npuforge.y"]], docstrings={"plan": 7, "bench": 3}
    )
    lowered = ratchet.tightened(made, allowed)
    assert lowered.docstrings == {"plan": 1, "tile": 0}
    assert lowered.patterns == {"plan": 0}
    assert lowered.circles == [circle]


def test_the_file_is_as_the_tool_writes_it() -> None:
    assert ratchet.FILE.read_text("utf-8") == ratchet.text(ratchet.limits())
