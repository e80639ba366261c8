# SPDX-License-Identifier: Apache-2.0
"""Programs written at random are programs: they type, pass the checks and run."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings

from npuforge.tile import read_program
from npuforge.tile.check import check_program
from npuforge.tile.interpret import interpret

from .programs import Case, cases


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_random_programs_type_and_run(case: Case) -> None:
    program = read_program(case.text)
    check_program(program)
    results = interpret(program, case.inputs, case.attributes)
    assert results.keys() == case.bounds.keys()
    for name, tensor in results.items():
        values = tensor.values().astype(np.float64)
        assert np.isfinite(values).all(), name
        assert np.abs(values).max(initial=0.0) <= case.bounds[name] * 1.001 + 1e-6, name
