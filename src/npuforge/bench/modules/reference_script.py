# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: inputs of all checks, and what the task's own model makes of them.

`python reference_script.py JOB.json`; the job's folder gets the results.

For the process of the answer it leaves init.pt, and inputs{i}.pt for every check that the task
accepts, numbered without gaps. For the trusted side it leaves lists of tensors: inputs{i}.tensors,
outputs{i}.tensors and golden{i}.tensors (results in double precision, or None). `checks.json` says
for each check its number, or why it was refused. Where `state` is asked for, arguments{i}.json says
which arguments the tensors of a check are, state.tensors has the model's own, and made.json their
names, how the model is called and the numbers it was made with.
"""

import copy
import importlib.util
import inspect
import itertools
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

_HUGE = 1e30
_LONGEST = 2000  # characters of a refusal


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("task", path)
    assert spec is not None
    assert spec.loader is not None
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    return task


def copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    return type(value)(map(copied, value)) if isinstance(value, (list, tuple)) else value


def floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def signed(inputs: list[Any], seed: int) -> list[Any]:
    torch.manual_seed(seed)
    return [(torch.randn(v.shape) * 2).to(v.dtype) if floating(v) else v for v in inputs]


def wide(inputs: list[Any], seed: int) -> list[Any]:
    """Both signs, from hundredths to thirties."""
    torch.manual_seed(seed)
    return [
        (torch.randn(v.shape) * 10 ** (torch.rand(v.shape) * 3.5 - 2)).to(v.dtype)
        if floating(v)
        else v
        for v in inputs
    ]


def outputs_of(model: Any, inputs: list[Any]) -> list[torch.Tensor]:
    with torch.no_grad():
        result = model(*inputs)
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    return [item.detach().clone() for item in found if isinstance(item, torch.Tensor)]


def same(first: torch.Tensor, second: torch.Tensor) -> bool:
    """In every element; NaN is NaN."""
    return bool(((first == second) | (torch.isnan(first) & torch.isnan(second))).all())


def undefined(outputs: list[torch.Tensor]) -> bool:
    return any(
        bool((~(item.abs() < _HUGE)).any()) for item in outputs if item.dtype.is_floating_point
    )


def golden(model: Any, inputs: list[Any], outputs: list[torch.Tensor]) -> list[Any]:
    """None for each where the model does not run in double precision."""
    try:
        exact = [v.double() if floating(v) else copied(v) for v in inputs]
        found = outputs_of(copy.deepcopy(model).double(), exact)
    except Exception:  # a dtype fixed in its code
        return [None] * len(outputs)
    return [
        item if item.dtype == torch.float64 and item.shape == out.shape else None
        for item, out in zip(found, outputs, strict=False)
    ]


def made(model: Any, initial: list[Any]) -> dict[str, Any]:
    """How the model is called, and the numbers that it was made with or keeps."""
    bound = inspect.signature(type(model).__init__).bind(model, *initial)
    bound.apply_defaults()
    numbers = {**vars(model), **bound.arguments}
    return {
        "forward": list(inspect.signature(model.forward).parameters),
        "numbers": {name: value for name, value in numbers.items() if number(value)},
    }


def number(value: Any) -> bool:
    """Numbers, names, and lists of them; JSON has no infinities."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(number(item) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (bool, int, str))


def flat(value: Any) -> list[torch.Tensor]:
    """The tensors of an argument, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat(item)]
    return []


def described(value: Any, places: Iterator[int]) -> Any:
    """An argument as JSON; None for what it cannot say."""
    if isinstance(value, torch.Tensor):
        return {"tensor": next(places)}
    if isinstance(value, (list, tuple)):
        return [described(item, places) for item in value]
    return value if number(value) else None


class Answerer:
    """The task's model, built under its suite's seed, and its inputs."""

    def __init__(self, job: dict[str, Any], scratch: Path) -> None:
        sys.path.insert(0, job["package"])
        from npuforge.twin.torchbind.tensor_writer import saved  # noqa: PLC0415

        self.saved = saved
        self.state = job["state"]
        self.task = load(job["task"])
        self.seed, self.uncloned = job["seed"], job["uncloned"]
        torch.manual_seed(self.seed)
        initial = list(getattr(self.task, "get_init_inputs", list)())
        torch.save(initial, scratch / "init.pt")
        torch.manual_seed(self.seed)
        self.model = self.task.Model(*initial)
        if job["state"]:
            state = {
                k: v for k, v in self.model.state_dict().items() if isinstance(v, torch.Tensor)
            }
            (scratch / "state.tensors").write_bytes(self.saved(list(state.values())))
            told = {**made(self.model, initial), "state": list(state)}
            (scratch / "made.json").write_text(json.dumps(told))
        self.groups: list[Any] | None = None
        self.maker: Any = None
        self.seeds: list[int] = []
        if job["seeding"] == "trials":
            torch.manual_seed(self.seed)
            count = len(job["checks"])
            self.seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(count)]

    def inputs(self, check: dict[str, Any], option: Any, place: int) -> list[Any]:
        if check["group"] is not None:
            if self.groups is None:
                self.groups = [list(group) for group in self.task.get_input_groups()]
            return [copied(value) for value in self.groups[check["group"]]]
        if option is not None:
            if self.maker is None:
                from npuforge.generate.inputs import InputMaker  # noqa: PLC0415

                self.maker = InputMaker(self.task.get_inputs)
            shapes = {int(at): tuple(shape) for at, shape in option["shapes"].items()}
            numbers = {int(old): new for old, new in option["numbers"].items()}
            found: list[Any] = self.maker.make(shapes, numbers, check["seed"])[0]
            return found
        if self.seeds:
            torch.manual_seed(self.seeds[place])
        elif not check["published"]:
            torch.manual_seed(check["seed"])
        return list(self.task.get_inputs())

    def answer(self, check: dict[str, Any], place: int, number: int, scratch: Path) -> list[int]:
        """Leave the check's files; the inputs that the model has changed.

        The first sizes are taken that the task accepts.
        """
        options = check["options"] or [None]
        for option in options[:-1]:
            try:
                return self._answer(check, self.inputs(check, option, place), number, scratch)
            except Exception:  # these sizes do not go together
                continue
        return self._answer(check, self.inputs(check, options[-1], place), number, scratch)

    def _answer(
        self, check: dict[str, Any], own: list[Any], number: int, scratch: Path
    ) -> list[int]:
        model = self.model if check["published"] else copy.deepcopy(self.model)
        change = {"signed": signed, "wide": wide}.get(check["values"])
        inputs = change(own, check["seed"]) if change is not None else own
        exact = copy.deepcopy(model)
        given = [copied(value) for value in inputs]
        outputs = outputs_of(model, given)
        if change is not None and undefined(outputs):
            # Not what the task is defined for: its own values with other seeds.
            inputs = own
            given = [copied(value) for value in inputs]
            outputs = outputs_of(copy.deepcopy(exact), given)
        precise = self.saved(golden(exact, inputs, outputs))
        (scratch / f"golden{number}.tensors").write_bytes(precise)
        (scratch / f"outputs{number}.tensors").write_bytes(self.saved(outputs))
        kept = given if check["published"] and self.uncloned else inputs
        torch.save(kept, scratch / f"inputs{number}.pt")
        (scratch / f"inputs{number}.tensors").write_bytes(self.saved(flat(kept)))
        if self.state:
            told = described(kept, itertools.count())
            (scratch / f"arguments{number}.json").write_text(json.dumps(told))
        return [
            at
            for at, (old, new) in enumerate(zip(inputs, given, strict=True))
            if isinstance(old, torch.Tensor) and not same(old, new)
        ]


def run(job: dict[str, Any], scratch: Path) -> None:
    answerer = Answerer(job, scratch)
    told: list[dict[str, Any]] = []
    done = 0
    for place, check in enumerate(job["checks"]):
        try:
            changed = answerer.answer(check, place, done, scratch)
            told.append({"file": done, "changed": changed})
            done += 1
        except Exception as error:  # sizes or values that the task refuses
            if check["published"]:
                raise
            told.append({"error": f"{type(error).__name__}: {error}"[:_LONGEST]})
    (scratch / "checks.json").write_text(json.dumps(told))


if __name__ == "__main__":
    torch.set_num_threads(1)
    job_file = Path(sys.argv[1])
    run(json.loads(job_file.read_text()), job_file.parent)
