# SPDX-License-Identifier: Apache-2.0
"""The reference answers of NPUKernelBench through their own test cases, on the twin.

    python benchmarks/conformance/npukernelbench.py CHECKOUT [--tasks GLOB] [--json OUT]

Prints one line per task and the reason for every failure; exits 0 whatever the rate.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import json
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from npuforge.errors import NpuforgeError
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.torchbind.candidate import run_job
from npuforge.twin.torchbind.extension import build_extension

_SCRIPT = Path(__file__).with_name("npukb_script.py")
# Cube operators: the twin's vector half does not run them yet.
_CUBE = ("GMM", "ComplexMatDot")


@dataclass
class TaskResult:
    task: str
    cases: int = 0
    passed: int = 0
    reason: str = ""
    violations: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.cases > 0 and self.passed == self.cases


def rows(path: Path) -> list[dict[str, Any]]:
    """The case table with columns typed as a data frame would type them."""
    with path.open(newline="") as lines:
        table = list(csv.DictReader(lines, delimiter=";"))
    for column in table[0] if table else ():
        values = [row[column] for row in table]
        for kind in (int, float):
            try:
                typed = [kind(value) for value in values]
            except (TypeError, ValueError):
                continue
            for row, value in zip(table, typed, strict=True):
                row[column] = value  # type: ignore[assignment]
            break
        else:
            if {value for value in values if value} <= {"True", "False"}:
                for row in table:
                    row[column] = row[column] == "True"  # type: ignore[assignment]
    return table


def run_task(folder: Path, mode: str, limit: int) -> TaskResult:
    result = TaskResult("/".join(folder.parts[-3:]))
    answer = folder / "answer" / "0"
    if not answer.is_dir():
        result.reason = "the suite has no answer"
        return result
    started = time.monotonic()
    try:
        _run(folder, answer, mode, limit, result)
    except NpuforgeError as problem:
        result.reason = str(problem)
    result.seconds = round(time.monotonic() - started, 1)
    return result


def _run(folder: Path, answer: Path, mode: str, limit: int, result: TaskResult) -> None:
    operator = folder.name
    validation = folder / "validation"
    source = OperatorSource.open(answer)
    table = rows(validation / "test_cases.csv")[: limit or None]
    result.cases = len(table)
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
        }
        done = run_job(
            job,
            scratch,
            {"kernel_gen_ops": built.path},
            {source.operator.type: source, operator: source},
            mode,  # type: ignore[arg-type]
            [validation, _SCRIPT.parent],
        )
        lines = (scratch / "cases.jsonl").read_text().splitlines() if not done.error else []
        cases = [json.loads(line) for line in lines]
    result.passed = sum(case["passed"] for case in cases)
    reported = [v for _, call in done.calls for v in call.violations if v.severity == "error"]
    counts = Counter(violation.rule for violation in reported)
    counts.update(race.rule for _, call in done.calls for race in call.races)
    result.violations = dict(counts)
    failed = [f"case {c['case']}: {c['detail']}" for c in cases if not c["passed"]]
    result.reason = done.error or (failed[0] if failed else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--tasks", default="*")
    parser.add_argument("--mode", default="check", choices=("run", "check"))
    parser.add_argument("--cases", type=int, default=0, help="at most this many cases per task")
    parser.add_argument("--cube", action="store_true", help="include matrix tasks")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folders = sorted(path for path in options.checkout.glob("tasks/level*/*/*") if path.is_dir())
    results = []
    for folder in folders:
        name = "/".join(folder.parts[-3:])
        cube = any(part in _CUBE for part in folder.parts)
        if not fnmatch.fnmatch(name, f"*{options.tasks}*") or (cube and not options.cube):
            continue
        result = run_task(folder, options.mode, options.cases)
        results.append(result)
        mark = "pass" if result.ok else "FAIL"
        rules = " ".join(f"{rule}x{n}" for rule, n in result.violations.items())
        print(
            f"{mark} {name:48} {result.passed}/{result.cases} {result.seconds:5.1f}s "
            f"{rules} {result.reason[:160]}",
            flush=True,
        )
        if options.json:
            options.json.write_text(json.dumps([asdict(r) for r in results], indent=1))
    answered = [r for r in results if r.reason != "the suite has no answer"]
    tasks = sum(r.ok for r in answered)
    cases, passed = sum(r.cases for r in answered), sum(r.passed for r in answered)
    clean = sum(not r.violations for r in answered)
    print(
        f"tasks {tasks}/{len(answered)} ({tasks / max(1, len(answered)):.1%}), cases "
        f"{passed}/{cases} ({passed / max(1, cases):.1%}), without a report {clean}/{len(answered)}"
    )


if __name__ == "__main__":
    main()
