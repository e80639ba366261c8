# SPDX-License-Identifier: Apache-2.0
"""The reference answers of NPUKernelBench through their own test cases, on the twin.

    python benchmarks/conformance/npukernelbench.py CHECKOUT [--tasks GLOB] [--cases N] [--json OUT]

Prints one line per task with the reason for a failure, and totals per level; exits 0 whatever the
rate. `--cases N` takes N cases of each task, evenly spread over its table; `--elements N` leaves
out cases whose tensors have more elements together.
"""

from __future__ import annotations

import csv
import fnmatch
import json
import math
import re
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from npuforge.errors import NpuforgeError
from npuforge.twin.execute import Mode, RunResult
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.torchbind.candidate import run_job
from npuforge.twin.torchbind.extension import build_extension

_SCRIPT = Path(__file__).with_name("npukb_script.py")
_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
_SHAPE = re.compile(r"\[([\d, ]+)\]")
_NUMBER = re.compile(r"\d+")
_COMMAND = re.compile(r"EXEC_NPU_CMD\s*\(\s*aclnn(\w+)")


@dataclass
class TaskResult:
    task: str
    in_suite: int = 0  # cases in the task's table
    cases: int = 0  # cases run
    passed: int = 0
    reason: str = ""
    left_out: str = ""  # why the task is in no rate
    remark: str = ""  # why some of its cases are in none
    errors: list[str] = field(default_factory=list)  # reports of error level
    defects: list[str] = field(default_factory=list)  # those that name a known fault of the answer
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.cases > 0 and self.passed == self.cases

    @property
    def level(self) -> str:
        return self.task.split("/")[0]

    def line(self) -> str:
        mark = "left out" if self.left_out else "pass" if self.ok else "FAIL"
        rules = sorted({text.split()[0] for text in self.errors})
        why = self.left_out or self.reason.replace("\n", " ")[:160] or self.remark
        told = " ".join([*rules, why])
        return f"{mark:8} {self.task:48} {self.passed}/{self.cases} {self.seconds:5.1f}s {told}"


def rows(path: Path) -> list[dict[str, Any]]:
    """The case table with columns typed as a data frame would type them."""
    with path.open(newline="") as lines:
        table: list[dict[str, Any]] = list(csv.DictReader(lines, delimiter=";"))
    for column in table[0] if table else ():
        values = [row[column] for row in table]
        for kind in (int, float):
            try:
                typed = [kind(value) for value in values]
            except (TypeError, ValueError):
                continue
            for row, value in zip(table, typed, strict=True):
                row[column] = value
            break
        else:
            if {value for value in values if value} <= {"True", "False"}:
                for row in table:
                    row[column] = row[column] == "True"
    return table


def spread(table: Sequence[dict[str, Any]], wanted: int) -> list[dict[str, Any]]:
    """`wanted` rows from the first to the last, evenly; all of them when there are no more."""
    if not 0 < wanted < len(table):
        return list(table)
    step = (len(table) - 1) / max(1, wanted - 1)
    return [table[round(i * step)] for i in range(wanted)]


def elements(row: dict[str, Any]) -> int:
    """How many elements the shapes in a row's columns have together."""
    shapes = (found for value in row.values() for found in _SHAPE.findall(str(value)))
    return sum(math.prod(int(size) for size in _NUMBER.findall(shape)) for shape in shapes)


def reports(calls: Sequence[tuple[str, RunResult]], severity: str) -> list[str]:
    """Each report once: rule, place, message."""
    found = [
        f"{v.rule} {v.file}:{v.line} {v.message}"
        for _, call in calls
        for v in call.violations
        if v.severity == severity
    ]
    if severity == "error":
        found += [
            f"{race.rule} {race.second.file}:{race.second.line} {race.message}"
            for _, call in calls
            for race in call.races
        ]
    return list(dict.fromkeys(found))


def reason_left_out(folder: Path) -> str:
    if not (folder / "answer" / "0").is_dir():
        return "the suite has no answer"
    if folder.name in _KNOWN["cube"] or folder.parent.name in _KNOWN["cube"]:
        return "cube, not vector"
    if folder.name in _KNOWN["broken"]:
        return f"broken in the suite: {_KNOWN['broken'][folder.name]}"
    binding = (folder / "validation" / "pybind.cpp").read_text()
    called = set(_COMMAND.findall(binding))
    reached = {name for name, call in _KNOWN["calls"].items() if call["operator"] == folder.name}
    if called and not called & {"CustomOp", folder.name, *reached}:
        return f"the suite's binding calls the built-in {called.pop()}, not the answer"
    return ""


def run_task(folder: Path, mode: Mode, wanted: int, largest: int) -> TaskResult:
    result = TaskResult("/".join(folder.parts[-3:]), left_out=reason_left_out(folder))
    broken = _KNOWN["broken_cases"].get(folder.name, {"cases": []})
    table = rows(folder / "validation" / "test_cases.csv")
    result.in_suite = len(table)
    table = [row for row in table if row["case_id"] not in broken["cases"]]
    if broken["cases"]:
        result.remark = f"without case {broken['cases']}: {broken['why']}"
    if largest:
        table = [row for row in table if elements(row) <= largest] or [min(table, key=elements)]
    if result.left_out and not result.left_out.startswith("broken"):
        return result
    result.cases = len(spread(table, wanted))
    started = time.monotonic()
    try:
        _run(folder, mode, spread(table, wanted), result)
    except NpuforgeError as problem:
        result.reason = str(problem)
    result.seconds = round(time.monotonic() - started, 1)
    return result


def _run(folder: Path, mode: Mode, table: list[dict[str, Any]], result: TaskResult) -> None:
    operator = folder.name
    validation = folder / "validation"
    source = OperatorSource.open(folder / "answer" / "0")
    with tempfile.TemporaryDirectory(prefix="npuforge-suite-") as work:
        kernel = source.operator.kernel
        binding = Path(work) / "pybind.cpp"
        text = (validation / "pybind.cpp").read_text()
        text = text.replace("aclnnCustomOp", f"aclnn{operator}")
        binding.write_text(text.replace("custom_pybind_api", kernel))
        built = build_extension([binding], "kernel_gen_ops")
        if built.path is None:
            first = built.diagnostics[0] if built.diagnostics else None
            result.reason = f"binding: {first.message if first else 'does not compile'}"
            return
        scratch = Path(work) / "scratch"
        scratch.mkdir()
        job = {
            "script": str(_SCRIPT),
            "module": str(validation / "module.py"),
            "prepare": str(validation / "prepare_inputs.py"),
            "rows": table,
            "calls": _KNOWN["calls"],
        }
        done = run_job(
            job,
            scratch,
            {"kernel_gen_ops": built.path},
            {source.operator.type: source, operator: source},
            mode,
            [validation, _SCRIPT.parent],
        )
        lines = scratch / "cases.jsonl"
        told = lines.read_text().splitlines() if lines.exists() else []
    cases = [json.loads(line) for line in told]
    result.passed = sum(case["passed"] for case in cases)
    known = _KNOWN["defects"].get(operator, {"rules": [], "why": ""})
    for text in reports(done.calls, "error"):
        (result.defects if text.split()[0] in known["rules"] else result.errors).append(text)
    if result.defects:
        result.remark = f"true reports of {', '.join(known['rules'])}: {known['why']}"
    result.warnings = reports(done.calls, "warning")
    result.failures = [f"case {c['case']}: {c['detail']}" for c in cases if not c["passed"]]
    result.reason = done.error or (result.failures[0] if result.failures else "")


def total(name: str, results: Sequence[TaskResult]) -> str:
    judged = [result for result in results if not result.left_out]
    tasks, cases = sum(r.ok for r in judged), sum(r.cases for r in judged)
    passed, in_suite = sum(r.passed for r in judged), sum(r.in_suite for r in judged)
    reported = sum(bool(r.errors) for r in judged if r.ok)
    return (
        f"{name:8} tasks {tasks}/{len(judged)} ({tasks / max(1, len(judged)):.1%}), "
        f"cases {passed}/{cases} ({passed / max(1, cases):.1%}) of {in_suite} in the suite, "
        f"passing tasks with an error-level report {reported}, "
        f"left out {len(results) - len(judged)}"
    )


@click.command(help=__doc__)
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tasks", default="*", help="Shell pattern on level/category/task.")
@click.option("--mode", default="check", type=click.Choice(["run", "check"]))
@click.option("--cases", default="all", help="Cases per task, or 'all'.")
@click.option("--elements", "largest", default=0, help="Largest case to run; 0: any.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="All rows as JSON.")
def main(
    checkout: Path, tasks: str, mode: Mode, cases: str, largest: int, json_file: Path | None
) -> None:
    if cases != "all" and not (cases.isdigit() and int(cases) > 0):
        raise click.UsageError("--cases takes a number or 'all'")
    wanted = 0 if cases == "all" else int(cases)
    results: list[TaskResult] = []
    for folder in sorted(path for path in checkout.glob("tasks/level*/*/*") if path.is_dir()):
        if not fnmatch.fnmatch("/".join(folder.parts[-3:]), f"*{tasks}*"):
            continue
        results.append(run_task(folder, mode, wanted, largest))
        click.echo(results[-1].line())
        if json_file:
            json_file.write_text(json.dumps([asdict(r) for r in results], indent=1))
    for level in sorted({result.level for result in results}):
        click.echo(total(level, [result for result in results if result.level == level]))
    click.echo(total("all", results))


if __name__ == "__main__":
    main()
