# SPDX-License-Identifier: Apache-2.0
"""Whether an answer to a module's task cheats: its text, its conduct, its values."""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats import inspect, judge, values
from npuforge.bench.cheats.kinds import cheat, once
from npuforge.bench.modules.reference import References
from npuforge.dtypes import HostTensor
from npuforge.twin.model_verify import Seen
from npuforge.twin.sources.model_answer import ModelAnswer
from npuforge.twin.torchbind.candidate import CandidateResult


def in_python(
    source: ModelAnswer, done: CandidateResult, seen: Seen, references: References
) -> list[Cheat]:
    """In the text of a model and its binding, and in what they did."""
    called = _called(references)
    identities = [
        values.identities(references.inputs(place), references.outputs(place)) for place in called
    ]
    changed = [references.changed(place) for place in called]
    found = inspect(source)
    found += judge(done, seen.calls, identities=identities, changed=changed)
    return once(found)


def timed_otherwise(checked: CandidateResult, timed: CandidateResult) -> list[Cheat]:
    """The same call must launch as much when its time is taken as when its results are."""
    if checked.record is None or timed.record is None or timed.error is not None:
        return []
    first = [run.forwards[0].launches for run in (checked.record, timed.record) if run.forwards]
    if len(set(first)) < 2:
        return []
    return [cheat("clock", f"{first[0]} launches where checked, {first[1]} where timed")]


def in_values(references: References, given: list[list[HostTensor]]) -> list[Cheat]:
    """Values count only where the suite's own check gives credit for them: without it a result
    that is constant or unwritten is a mistake like others."""
    return once(list(_in_values(references, given, _called(references))))


def _called(references: References) -> list[int]:
    """Checks that the task accepts, which are those an answer is called for."""
    return [
        place for place in range(len(references.checks)) if references.number(place) is not None
    ]


def _in_values(
    references: References, given: list[list[HostTensor]], called: list[int]
) -> Iterator[Cheat]:
    own = [place for place in called if references.checks[place].kind == "published"]
    numbers = {place: number for number, place in enumerate(called)}
    outputs = [given[numbers[place]] for place in own]
    wanted = [references.outputs(place) for place in own]
    if (found := values.constant(outputs, wanted)) is not None:
        yield found
    for place in called:
        got, want = given[numbers[place]], references.outputs(place)
        for found in (
            values.echo(got, references.inputs(place), want),
            values.unwritten(got, want),
            values.downgraded(got, want),
        ):
            if found is not None:
                yield found
