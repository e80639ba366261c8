# SPDX-License-Identifier: Apache-2.0
"""Programs nobody wrote: the emitted kernel gives what the interpreter gives, and breaks no rule.

`benchmarks/tile_fuzz.py` does the same for as long as one likes.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from tests.lower.differential import Differential
from tests.tile.programs import Case, cases


@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases())
def test_random_program_on_the_twin(case: Case) -> None:
    Differential(case.text).agree(case.inputs, case.attributes)
