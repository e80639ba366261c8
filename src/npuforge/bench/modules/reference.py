# SPDX-License-Identifier: Apache-2.0
"""What a task's own model computes for the checks, from its process in the sandbox."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from npuforge.bench.modules.calling import Call
from npuforge.bench.modules.checks import Check
from npuforge.bench.modules.protocol import ModuleProtocol
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox, open_plain
from npuforge.sandbox.python import PACKAGE_ROOT, interpreter
from npuforge.spec.graph import Graph
from npuforge.twin.model_verify import tensors
from npuforge.twin.torchbind.candidate import LIMITS

_SCRIPT = Path(__file__).with_name("reference_script.py")
_MOST_JSON = 1 << 20


class _Told(msgspec.Struct, frozen=True):
    file: int | None = None
    error: str | None = None
    changed: list[int] = []


class _Made(msgspec.Struct, frozen=True):
    """Names of the arguments of `forward`; numbers that the model was made with or keeps."""

    forward: list[str]
    numbers: dict[str, Any]


@dataclass(frozen=True, slots=True)
class References:
    """A folder with inputs and results; `number` of each check, None where the task refuses it."""

    folder: Path
    checks: Sequence[Check]
    told: Sequence[_Told]

    def number(self, place: int) -> int | None:
        return self.told[place].file

    def refusal(self, place: int) -> str | None:
        return self.told[place].error

    def changed(self, place: int) -> list[int]:
        """Inputs that the reference overwrites."""
        return self.told[place].changed

    def inputs(self, place: int) -> list[HostTensor]:
        """Those that are tensors."""
        return tensors(self.folder / f"inputs{self.number(place)}.pt")

    def outputs(self, place: int) -> list[HostTensor]:
        return tensors(self.folder / f"outputs{self.number(place)}.pt")

    def call(self, place: int) -> Call:
        """The check's call with the state of the task's model; both must have been asked for."""
        import torch  # noqa: PLC0415 (heavy)

        given = torch.load(self.folder / f"inputs{self.number(place)}.pt", weights_only=True)
        state = torch.load(self.folder / "state.pt", weights_only=True)
        held = open_plain(self.folder / "made.json", _MOST_JSON)
        if held is None:
            raise UsageError("the reference does not say how it is called")
        with held:
            made = msgspec.json.decode(held.read(), type=_Made)
        more = [f"argument{at}" for at in range(len(made.forward), len(given))]
        names = [*made.forward, *more][: len(given)]
        return Call(
            {name: _held(value) for name, value in zip(names, given, strict=True)},
            made.numbers,
            {name: HostTensor.of(tensor) for name, tensor in state.items()},
        )

    def golden(self, place: int) -> list[HostTensor | None]:
        """In double precision; None where that is not known."""
        import torch  # noqa: PLC0415 (heavy)

        path = self.folder / f"golden{self.number(place)}.pt"
        held = torch.load(path, weights_only=True)
        return [HostTensor.of(item) if item is not None else None for item in held]


def compute(
    task: Path,
    checks: Sequence[Check],
    graph: Graph | None,
    protocol: ModuleProtocol,
    folder: Path,
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
    file = folder / "job.json"
    file.write_text(json.dumps(job), "utf-8")
    done = Sandbox.detect().run(
        [sys.executable, "-I", str(_SCRIPT), str(file)],
        scratch=folder,
        readable=[*interpreter(), PACKAGE_ROOT, task.resolve().parent],
        limits=LIMITS,
        env={"OMP_NUM_THREADS": "1"},
        preloaded=True,
    )
    if done.killed_by is not None:
        raise UsageError(f"the reference does not run: stopped for {done.killed_by}")
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no word"]
        raise UsageError(f"the reference does not run: {lines[-1]}")
    held = open_plain(folder / "checks.json", _MOST_JSON)
    if held is None:
        raise UsageError("the reference does not run: it ended early")
    with held:
        told = msgspec.json.decode(held.read(), type=list[_Told])
    return References(folder, checks, told)


def _held(value: Any) -> Any:
    """Tensors as the host holds them, in lists too."""
    import torch  # noqa: PLC0415 (heavy)

    if isinstance(value, torch.Tensor):
        return HostTensor.of(value)
    return [_held(item) for item in value] if isinstance(value, list | tuple) else value
