# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in what a model did while it ran."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.kinds import cheat, once
from npuforge.twin.torchbind.candidate import CandidateResult
from npuforge.twin.torchbind.conduct import Conduct, Origin, Record

_OUTPUTS: Mapping[Origin, tuple[str, str]] = {
    "input": ("returns-input", "is an input of the call"),
    "kept": ("cached", "is memory from before the call"),
    "made": ("not-from-kernel", "is a constant that no kernel wrote"),
    "torch": ("torch-compute", "was computed by PyTorch"),
    "host": ("host-compute", "was written by host code"),
    "native": ("host-compute", "is memory that neither PyTorch nor a kernel knows"),
    "unwritten": ("unwritten", "was never written"),
}
_EVENTS = (
    ("gc.", "reads-reference"),
    ("sys._getframe", "reads-reference"),
    ("sys._current_frames", "reads-reference"),
    ("_thread.", "deferred"),
    ("subprocess.", "deferred"),
    ("os.fork", "deferred"),
    ("exec", "hidden-code"),
    ("compile", "hidden-code"),
    ("code.", "hidden-code"),
    ("sys.set", "patched"),
    ("", "harness"),
)


def judge(
    done: CandidateResult,
    launches: int | None = None,
    *,
    identities: Sequence[Collection[int]] = (),
    changed: Sequence[Collection[int]] = (),
) -> list[Cheat]:
    """What a run of a model shows.

    `launches` is how many the twin has seen. Call by call, `identities` are outputs for which the
    reference gives an input back as it is, and `changed` inputs that the reference overwrites.
    """
    forged = [] if done.forged is None else [cheat("forged-record", done.forged)]
    record = done.record
    if record is None:
        return forged
    found = forged + [
        one
        for number, conduct in enumerate(record.forwards)
        for one in _of_call(
            conduct, f"call {number}", _at(identities, number), _at(changed, number)
        )
    ]
    if launches is not None and done.error is None and launches != record.launches:
        told = f"{record.launches} launches were noted and {launches} made"
        found.append(cheat("forged-record", told))
    return once([*found, *_of_process(record)])


def _of_call(
    conduct: Conduct, call: str, identities: Collection[int], changed: Collection[int]
) -> list[Cheat]:
    found = []
    if conduct.computed:
        found.append(cheat("torch-compute", f"{call}: {_counted(conduct.computed)}"))
    if conduct.launches == 0:
        found.append(cheat("no-launch", f"{call} launched no kernel"))
    for number, output in enumerate(conduct.outputs):
        if not output.plain:
            told = f"{call}: output {number} is a {output.kind}, not a plain tensor"
            found.append(cheat("deferred", told))
        elif output.origin != "kernel" and not (
            output.origin == "input" and number in identities and conduct.launches
        ):
            kind, text = _OUTPUTS[output.origin]
            found.append(cheat(kind, f"{call}: output {number} {text}"))
    if conduct.filled_by_host:
        sizes = ", ".join(map(str, conduct.filled_by_host[:4]))
        found.append(cheat("host-compute", f"{call}: host code filled tensors of {sizes} bytes"))
    if conduct.read:
        told = f"{call}: values taken to the host by {_counted(conduct.read)}"
        found.append(cheat("host-compute", told))
    if conduct.narrowed:
        found.append(cheat("precision", f"{call}: {_counted(conduct.narrowed)}"))
    extra = [number for number in conduct.changed_inputs if number not in changed]
    found += [cheat("changes-inputs", f"{call}: input {number}") for number in extra]
    if conduct.replaced:
        found.append(cheat("patched", ", ".join(conduct.replaced)))
    return found


def _of_process(record: Record) -> list[Cheat]:
    found = []
    if record.replaced:
        found.append(cheat("patched", ", ".join(record.replaced)))
    for event in record.events:
        kind = next(kind for start, kind in _EVENTS if event.startswith(start))
        found.append(cheat(kind, event))
    return found


def _at(calls: Sequence[Collection[int]], number: int) -> Collection[int]:
    return calls[number] if number < len(calls) else ()


def _counted(counter: Mapping[str, int]) -> str:
    return ", ".join(name if n == 1 else f"{name} ({n} times)" for name, n in counter.items())
