# SPDX-License-Identifier: Apache-2.0
"""What a task's own model computes for the checks, from its process in the sandbox."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from npuforge.bench.modules.calling import Call
from npuforge.bench.modules.checks import Check
from npuforge.bench.modules.protocol import ModuleProtocol
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import GIB, Sandbox, messages
from npuforge.sandbox.messages import Count, Text, Whole
from npuforge.sandbox.python import PACKAGE_ROOT, interpreter
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.sandbox.tensor_files import read_tensors
from npuforge.spec.graph import Graph
from npuforge.twin.model_verify import tensors
from npuforge.twin.torchbind.candidate import LIMITS
from npuforge.twin.torchbind.conduct import output_file

_SCRIPT = Path(__file__).with_name("reference_script.py")
_MOST_JSON = 1 << 20
_MOST_BYTES = 4 * GIB
_Name = Annotated[str, Meta(max_length=400)]
_Number = bool | Whole | float | Text
_Numbers = _Number | list[_Number | list[_Number]]
_Place = Annotated[int, Meta(ge=0, le=10_000)]


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    file: _Place | None = None
    error: Text | None = None
    changed: Annotated[list[Count], Meta(max_length=10_000)] = []


class _TensorPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tensor of that number among the inputs of a check."""

    tensor: _Place


_Plain = _TensorPlace | bool | Whole | float | Text | None
_Argument = _Plain | list[_Plain | list[_Plain]]
_Arguments = Annotated[list[_Argument], Meta(max_length=10_000)]


class _Made(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names of the arguments of `forward` and of the model's tensors; numbers that the model was
    made with or keeps."""

    forward: Annotated[list[_Name], Meta(max_length=10_000)]
    numbers: Annotated[dict[_Name, _Numbers], Meta(max_length=10_000)]
    state: Annotated[list[_Name], Meta(max_length=100_000)]


@dataclass(frozen=True, slots=True)
class References:
    """A folder with inputs and results; `number` of each check, None where the task refuses it."""

    folder: SharedFolder
    checks: Sequence[Check]
    told: Sequence[_Told]

    def number(self, place: int) -> int | None:
        return self.told[place].file

    def refusal(self, place: int) -> str | None:
        told = self.told[place].error
        return None if told is None else one_line(told)

    def changed(self, place: int) -> list[int]:
        """Inputs that the reference overwrites."""
        return self.told[place].changed

    def inputs(self, place: int) -> list[HostTensor]:
        """Return those that are tensors, or tensors in a list."""
        return tensors(self.folder, f"inputs{self.number(place)}.tensors")

    def outputs(self, place: int) -> list[HostTensor]:
        return tensors(self.folder, output_file(self.number(place) or 0))

    def call(self, place: int) -> Call:
        """The check's call with the state of the task's model; both must have been asked for."""
        held = self.inputs(place)
        name = f"arguments{self.number(place)}.json"
        try:
            given = messages.read(self.folder, name, _Arguments, _MOST_JSON)
            made = messages.read(self.folder, "made.json", _Made, _MOST_JSON)
            values = [_value(argument, held) for argument in given]
        except (HostileFileError, IndexError):
            raise UsageError("the reference does not say how it is called") from None
        more = [f"argument{at}" for at in range(len(made.forward), len(values))]
        names = [*made.forward, *more][: len(values)]
        state = dict(zip(made.state, tensors(self.folder, "state.tensors"), strict=False))
        return Call(dict(zip(names, values, strict=True)), made.numbers, state)

    def golden(self, place: int) -> list[HostTensor | None]:
        """In double precision; None where that is not known."""
        try:
            return read_tensors(self.folder, f"golden{self.number(place)}.tensors", _MOST_BYTES)
        except HostileFileError as error:
            raise UsageError(f"the reference does not run: {error}") from None


def compute(
    task: Path,
    checks: Sequence[Check],
    graph: Graph | None,
    protocol: ModuleProtocol,
    folder: SharedFolder,
    *,
    state: bool = False,
) -> References:
    """Run the task's model on all checks; `UsageError` where it does not run at all. With `state`
    the model's own tensors and numbers are kept too."""
    job = {
        "task": str(task.resolve()),
        "package": str(PACKAGE_ROOT),
        "seed": protocol.seed,
        "seeding": protocol.seeding,
        "uncloned": protocol.uncloned,
        "state": state,
        "checks": [check.as_job(graph) for check in checks],
    }
    folder.write("job.json", json.dumps(job).encode())
    done = Sandbox.detect().run(
        [sys.executable, "-I", str(_SCRIPT), str(folder.path / "job.json")],
        scratch=folder.path,
        readable=[*interpreter(), PACKAGE_ROOT],
        opened=[task],
        limits=LIMITS,
        env={"OMP_NUM_THREADS": "1"},
        preloaded=True,
    )
    if done.killed_by is not None:
        raise UsageError(f"the reference does not run: stopped for {done.killed_by}")
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no word"]
        raise UsageError(f"the reference does not run: {one_line(lines[-1])}")
    try:
        told = messages.read(folder, "checks.json", list[_Told], _MOST_JSON)
    except HostileFileError as error:
        raise UsageError(f"the reference does not run: it ended early: {error}") from None
    if len(told) != len(checks):
        raise UsageError(f"the reference does not run: {len(told)} of {len(checks)} checks")
    return References(folder, checks, told)


def _value(argument: Any, held: Sequence[HostTensor]) -> Any:
    """The argument as a call has it, with its tensors from the list of them."""
    if isinstance(argument, list):
        return [_value(item, held) for item in argument]
    return held[argument.tensor] if isinstance(argument, _TensorPlace) else argument
