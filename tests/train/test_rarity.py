# SPDX-License-Identifier: Apache-2.0
"""How rare the rarest thing about a program is."""

from __future__ import annotations

import json
from pathlib import Path

from npuforge.cli import main
from npuforge.train.dataset import rarity

ASKED = "xa: float32[na, nb]\nwhere na=8, nb=96\nv0 = exp(xa): float32[na, nb]\nreturn v0\n"
KERNEL = """
def op():
    for u in range(first, last):
        with tl.copyin():
            tl.load({0} + start * cols, {1}[:n, :], stride=cols)
            tl.load({0} + {2} * cols + start * cols, in{2}[:n, :], stride=cols)
        with tl.copyout():
            tl.store(y + start * cols, y_out[:n, :], stride=cols)
"""


def test_accesses_are_the_same_whatever_names_and_numbers_they_have() -> None:
    one = rarity.features(ASKED, KERNEL.format("xa", "xa_in", 3))
    other = rarity.features(ASKED, KERNEL.format("w1", "w1_in", 17))
    assert one == other
    assert one == {
        "exp",
        "load(T + start * cols, B[:n, :], stride=cols)",
        "load(T + N * cols + start * cols, B[:n, :], stride=cols)",
        "store(T + start * cols, B[:n, :], stride=cols)",
    }


def test_the_rarest_thing_settles_how_many_variants_there_are() -> None:
    usual = "    tl.load(xa + start, xa_in[:m])\n    tl.store(y + start, y_out[:m])\n"
    assert rarity.worth(ASKED, usual) < 1.0
    seldom = usual + "    tl.load(xa + cols + start * e2, in1[:n, :], stride=e2)\n"
    assert 1.0 < rarity.worth(ASKED, seldom) <= 4.0
    unknown = usual + "    tl.load(xa + start * start, in1[:m])\n"
    assert rarity.worth(ASKED, unknown) == 4.0


def test_shares_are_counted_over_programs(tmp_path: Path) -> None:
    def line(program: str) -> str:
        answer = f"<think>\n</think>\n{program}"
        said = [("user", ASKED), ("assistant", answer)]
        return json.dumps({"messages": [{"role": who, "content": what} for who, what in said]})

    twice = line("    tl.load(xa, xa_in[:])\n    tl.load(xb, xb_in[:])\n")
    seldom = line("    tl.store(y, y_out[:])\n")
    (tmp_path / "records.jsonl").write_text("\n".join([twice] * 6 + [seldom] * 2))
    asked = ["dataset", "shares", str(tmp_path / "records.jsonl")]
    assert main([*asked, "--out", str(tmp_path / "found.json")]) == 0
    found = json.loads((tmp_path / "found.json").read_text())
    assert found == {"exp": 1.0, "load(T, B[:])": 0.75}  # what two programs have is not counted
