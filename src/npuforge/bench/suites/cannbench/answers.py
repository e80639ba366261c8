# SPDX-License-Identifier: Apache-2.0
"""Somebody else's operators: folders by operator, each an operator project.

The suite's own submissions are source trees whose `build.sh` makes a wheel with the vendor's tools;
that cannot be done here. What can be judged is the operator itself: host and kernel code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from npuforge.bench.cheats import values
from npuforge.bench.suites.cannbench.checkout import Operator
from npuforge.bench.tables import RowResult, Solved, Table
from npuforge.bench.tables.session import Made, RequestError, TableSession
from npuforge.bench.tables.solve import compared, judge_row
from npuforge.dtypes import HostTensor
from npuforge.errors import NpuforgeError, UsageError
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.sources.operator import OperatorSource, wanted_outputs
from npuforge.twin.sources.recognise import recognise
from npuforge.verdict import Case

_PLAIN = re.compile(r"[^a-z0-9]")


def find(folder: str, operator: Operator, sample: int) -> Path | None:
    """The answer to an operator; folders named otherwise around it are samples, in their order."""
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"no such folder: {root}")
    if (root / "build.sh").is_file() and not (root / "op_kernel").is_dir():
        raise UsageError(
            f"{root} is a submission with a build.sh: it needs the vendor's tools; "
            "give a folder of operator projects (op_host, op_kernel) by operator"
        )
    names = {_same(operator.name), _same(operator.path.rsplit("/", 1)[-1])}
    found = sorted(path for path in root.rglob("*") if path.is_dir() and _same(path.name) in names)
    outer = [path for path in found if not any(parent in found for parent in path.parents)]
    return outer[sample] if sample < len(outer) else None


def judge(answer: Path, table: Table, soc: str) -> Solved:
    """Every row of the table with the operator at `answer`."""
    source = recognise(answer, soc=soc)
    if not isinstance(source, OperatorSource):
        raise UsageError(
            f"{answer} is no operator project (op_host, op_kernel): cases cannot be given to it"
        )
    smaller = {option for stand_in in table.stand_ins.values() for option in stand_in.options}
    judged = _Judged(source, table)
    with TableSession(table) as session:
        for number, described in enumerate(session.describe()):
            if number in smaller:
                continue
            case = Case(
                [list(tensor.shape) for tensor in described.tensors],
                [tensor.dtype for tensor in described.tensors],
            )
            result = RowResult(number, case=case)
            judged.solved.rows.append(result)
            judged.row(session, result)
    if not source.build_host().ok:
        judged.solved.broken += source.build_host().diagnostics
    judged.solved.broken += source.kernel_diagnostics()
    return judged.solved


class _Judged:
    def __init__(self, source: OperatorSource, table: Table) -> None:
        self.source = source
        self.table = table
        self.solved = Solved()

    def row(self, session: TableSession, result: RowResult) -> None:
        stand_in = self.table.stand_ins.get(result.number)
        if stand_in is not None and stand_in.instead:
            result.timing_note = "not timed: its inputs are too large to be made here"
        judge_row(result, stand_in, partial(self._run, session))

    def _run(self, session: TableSession, result: RowResult, row: int, mode: Mode) -> bool:
        try:
            made = session.make(row, None)
        except RequestError as error:
            result.unusable = f"the reference fails: {error}"
            return True
        tensors = [session.read(item) for item in made.sources]
        plain = self.table.rows[row]
        inputs = _nested(plain["shapes"], list(tensors))
        try:
            launched = self._launch(inputs, plain["attributes"], made, mode)
            if launched.error is None and row == result.number:
                model = self._launch(inputs, plain["attributes"], made, "time")
                result.timing, result.timing_note = model.timing, model.timing_note
        except NpuforgeError as error:
            result.error = str(error)
            return True
        self.solved.keep(launched)
        result.error = launched.error
        if launched.error is None:
            self._compare(session, result, row, made, tensors, launched, ours=mode == "check")
        return True

    def _launch(
        self, inputs: list[Any], attributes: Mapping[str, Any], made: Made, mode: Mode
    ) -> RunResult:
        if not self.source.build_host().ok:
            return RunResult(error="the host code does not compile")
        operator = self.source.operator
        known = {attribute.name for attribute in operator.attrs}
        given = {name: value for name, value in attributes.items() if name in known}
        outputs = wanted_outputs(operator, [(item.shape, item.dtype) for item in made.wanted])
        return self.source.launch(inputs, given, outputs, mode=mode)

    def _compare(
        self,
        session: TableSession,
        result: RowResult,
        row: int,
        made: Made,
        inputs: list[HostTensor],
        launched: RunResult,
        *,
        ours: bool,
    ) -> None:
        wanted = [session.read(item) for item in made.wanted]
        golden = [session.read(item) if item is not None else None for item in made.golden]
        names = [name for name in launched.tensors if _of(name, self.source)]
        given = [launched.tensors[name] for name in names]
        if len(given) != len(wanted):
            result.error = f"{len(given)} results instead of {len(wanted)}"
            return
        checked = session.check(row, given)
        result.published, result.message = checked.passed, checked.message
        result.figures = dict(checked.figures)
        if checked.passed:
            self._look_for_cheats(given, inputs, wanted)
        if not ours:
            return
        assert result.case is not None
        unwritten = [launched.unwritten.get(name, 0) for name in names]
        result.case = compared(result.case, given, wanted, golden, unwritten)
        result.strict = result.case.correct

    def _look_for_cheats(
        self, given: list[HostTensor], inputs: list[HostTensor], wanted: list[HostTensor]
    ) -> None:
        """In the values of a case that the suite gives credit for."""
        found = (
            values.echo(given, inputs, wanted),
            values.unwritten(given, wanted),
            values.downgraded(given, wanted),
        )
        seen = self.solved.cheats
        seen += [one for one in found if one is not None and one not in seen]


def _of(name: str, source: OperatorSource) -> bool:
    """Whether a launch's tensor is an output, or a member of one that is a list."""
    outputs = {parameter.name for parameter in source.operator.outputs}
    return name in outputs or name.partition("[")[0] in outputs


def _nested(shapes: Sequence[Any], tensors: list[HostTensor]) -> list[Any]:
    """Inputs as an operator takes them: tensors, lists of them, None."""
    found: list[Any] = []
    for shape in shapes:
        if shape is None:
            found.append(None)
        elif shape and isinstance(shape[0], int):
            found.append(tensors.pop(0))
        else:
            found.append([tensors.pop(0) for _ in shape])
    return found


def _same(name: str) -> str:
    return _PLAIN.sub("", name.lower())
