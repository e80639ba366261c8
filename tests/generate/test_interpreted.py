# SPDX-License-Identifier: Apache-2.0
"""Programs in the interpreter, where sizes follow from numbers of the module."""

from __future__ import annotations

import torch
from tests.generate.lm.written import applied

from npuforge.generate.interpreted import does
from npuforge.generate.live import LiveModule
from npuforge.lower.compiler import lower
from npuforge.plan import planner

SOC = "910b2"


def test_where_small_sizes_are_none_the_example_has_others() -> None:
    """Of a few elements there is no fiftieth."""
    function = applied(lambda x: x.reshape(-1)[torch.arange(3600)] + 1.0, 1)
    with LiveModule(function, [torch.rand(60, 61)], "op") as module:
        plan = planner.plan(module.graph, SOC, most=1)
        written = plan.variants[0].program
        wrong = written.replace(", 1.0)", ", 2.0)")
        assert wrong != written
        found = [does(lower(one, SOC).program, plan, module.graph) for one in (written, wrong)]
    assert found == [True, False]
