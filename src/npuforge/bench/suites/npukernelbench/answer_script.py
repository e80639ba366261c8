# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: an answer's operator on every case, through the suite's own binding.

For each case a line of `cases.jsonl` says what both judgements found, and how many operator calls
succeeded: `calls` for the case itself, `more` for values of our own. Then come lines for cases of
our own, at sizes that are not in the suite's table.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

_MOST_NAN = 0.1
_LONGEST = 10_000  # characters of what is told of a case


def run(job: dict[str, Any], scratch: Path) -> None:
    sys.path.append(job["package"])
    spec = importlib.util.spec_from_file_location("adapter", job["adapter"])
    assert spec is not None
    assert spec.loader is not None
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    calls = pretend_library(job["calls"])
    task = adapter.open_task(job["place"])
    with (scratch / "cases.jsonl").open("w") as out:
        for number, row in enumerate([*job["rows"], *job["fresh"]]):
            calls.clear()
            try:
                found = _case(task, row, number)
            except Exception as problem:  # one case's failure is that case's result
                traceback.print_exc(limit=-3)
                found = {"error": f"{type(problem).__name__}: {problem}"}
            found["calls"] = len(calls)
            if number == 0 and found.get("strict"):
                found["signed"] = _signed(task, row, number)
            found = {k: v[:_LONGEST] if isinstance(v, str) else v for k, v in found.items()}
            out.write(json.dumps({**found, "more": len(calls) - found["calls"]}) + "\n")
            out.flush()


def pretend_library(known: dict[str, Any]) -> list[str]:
    """Functions of the operator library that hand their arguments on to the task's operator; the
    list has the name of every call that succeeded since it was cleared."""
    bridge = sys.modules["npuforge_bridge"]
    real = bridge.exec_npu_cmd
    calls: list[str] = []

    def exec_npu_cmd(name: str, arguments: list[Any]) -> None:
        call = known.get(name.removeprefix("aclnn"))
        if call is not None:
            for place, names in call.get("names", {}).items():
                arguments[int(place)] = names[arguments[int(place)]]
            name, arguments = f"aclnn{call['operator']}", [arguments[i] for i in call["order"]]
        real(name, arguments)
        calls.append(name)

    bridge.exec_npu_cmd = exec_npu_cmd  # type: ignore[attr-defined]
    return calls


def _module(task: Any, row: dict[str, Any], number: int) -> Any:
    from npuforge.bench.tables.row_module import RowModule  # noqa: PLC0415 (after the path is set)

    return RowModule(task, row, number)


def _candidate(task: Any, row: dict[str, Any], number: int) -> Any:
    from npuforge.generate import inputs as making  # noqa: PLC0415

    making.seed(2 * number)
    return task.module.ModelNew(*task.init(row))


def _case(task: Any, row: dict[str, Any], number: int) -> dict[str, Any]:
    from npuforge.bench.tables import nesting  # noqa: PLC0415
    from npuforge.bench.tables.exact import golden  # noqa: PLC0415

    try:
        module = _module(task, row, number)
        arguments = module.arguments()
    except Exception as problem:  # nobody can be judged on this case
        return {"unusable": f"no arguments: {type(problem).__name__}: {problem}"}
    tensors = nesting.tensors(arguments)
    found: dict[str, Any] = {
        "shapes": [list(t.shape) for t in tensors],
        "dtypes": [str(t.dtype).removeprefix("torch.") for t in tensors],
        "eager": module.dispatched(),
    }
    try:
        reference = module.reference()
        wanted = reference(*nesting.copied(arguments))
    except Exception as problem:
        told = f"the reference fails: {type(problem).__name__}: {problem}"
        return {**found, "unusable": told}
    try:
        given = _candidate(task, row, number)(*nesting.copied(arguments))
        passed, message, _ = task.check(row, arguments, wanted, given)
    except Exception as problem:
        traceback.print_exc(limit=-3)
        return {**found, "error": f"{type(problem).__name__}: {problem}"}
    results = nesting.tensors(wanted)
    exact = golden(reference, arguments, results)
    return {
        **found,
        "published": bool(passed),
        "message": message,
        "cheats": _cheats(tensors, results, nesting.tensors(given)),
        **_compared(results, nesting.tensors(given), exact),
    }


def _cheats(
    inputs: list[torch.Tensor], wanted: list[torch.Tensor], given: list[torch.Tensor]
) -> list[dict[str, str]]:
    """What shows in the values of one call."""
    from npuforge.bench.cheats import values  # noqa: PLC0415
    from npuforge.dtypes import HostTensor  # noqa: PLC0415

    came, want, got = (
        [HostTensor.of(t.detach()) for t in each] for each in (inputs, wanted, given)
    )
    found = (
        values.echo(got, came, want),
        values.unwritten(got, want),
        values.downgraded(got, want),
    )
    return [{"kind": one.kind, "evidence": one.evidence} for one in found if one is not None]


def _signed(task: Any, row: dict[str, Any], number: int) -> dict[str, Any] | None:
    """The same shapes with values around zero; None where the reference has no results there.

    A tensor that holds one value everywhere is no data: it may be what results are put into.
    """
    from npuforge.bench.tables import nesting  # noqa: PLC0415
    from npuforge.bench.tables.exact import golden  # noqa: PLC0415
    from npuforge.generate import inputs as making  # noqa: PLC0415

    module = _module(task, row, number)
    arguments = module.arguments()
    own = nesting.tensors(arguments)
    other = [
        before if before.numel() == 0 or bool((before == before.reshape(-1)[0]).all()) else after
        for before, after in zip(own, making.signed(own), strict=True)
    ]
    arguments = nesting.like(arguments, iter(other))
    try:
        reference = module.reference()
        wanted = nesting.tensors(reference(*nesting.copied(arguments)))
    except Exception:  # values out of its domain
        return None
    if any(t.is_floating_point() and bool(t.isnan().float().mean() > _MOST_NAN) for t in wanted):
        return None
    try:
        given = _candidate(task, row, number)(*nesting.copied(arguments))
    except Exception as problem:
        return {"strict": False, "told": f"{type(problem).__name__}: {problem}"}
    return _compared(wanted, nesting.tensors(given), golden(reference, arguments, wanted))


def _compared(
    wanted: list[torch.Tensor], given: list[torch.Tensor], exact: list[Any]
) -> dict[str, Any]:
    """Our own judgement: element types and shapes are the reference's. The suite's check fixes
    neither; what the reference does not return is left alone by both."""
    from npuforge.dtypes import HostTensor  # noqa: PLC0415
    from npuforge.generate.judge import judge  # noqa: PLC0415

    problems: list[str] = []
    absolute: list[float | None] = []
    relative: list[float | None] = []
    if len(given) < len(wanted):
        problems.append(f"{len(given)} of {len(wanted)} results")
    for number, (want, got, double) in enumerate(zip(wanted, given, exact, strict=False)):
        golden = None if double is None else HostTensor.of(double.detach())
        found = judge(HostTensor.of(got.detach()), HostTensor.of(want.detach()), golden)
        absolute.append(found.max_abs)
        relative.append(found.max_rel)
        if not found.correct:
            problems.append(f"result {number}: {found.summary}")
    return {
        "strict": not problems,
        "told": "; ".join(problems),
        "max_abs": _largest(absolute),
        "max_rel": _largest(relative),
    }


def _largest(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
