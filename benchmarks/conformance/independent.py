# SPDX-License-Identifier: Apache-2.0
"""Kernels of independent repositories, each against a reference of ours, on the twin.

    python benchmarks/conformance/independent.py ROOT [--only GLOB] [--json OUT]

ROOT holds checkouts called OWNER__NAME. What is run, with which inputs, is in `independent.toml`,
the references in `independent_references.py`. Prints one line per kernel with the reason for every
failure, then totals; exits 0 whatever the rate. Checkouts that are missing are left out and named.
"""

from __future__ import annotations

import fnmatch
import json
import re
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from npuforge.errors import NpuforgeError, UsageError
from npuforge.sandbox import Limits
from npuforge.twin import launch_file
from npuforge.twin.sources.direct import DirectProgram
from npuforge.twin.sources.kernel_file import KernelFile
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.sources.subject import Subject
from npuforge.twin.verify import Report, verify, verify_program

_TABLE = Path(__file__).with_name("independent.toml")
_REFERENCES = "independent_references.py"
# `float32[8, 1024]`, then what fills it: `= -4..4` (uniform), `= ones`, or nothing.
_TENSOR = re.compile(r"(\w+)\[([\d, ]*)\](?:\s*=\s*(.+))?")
_LIMITS = Limits(cpu_s=60, wall_s=180)


@dataclass
class KernelResult:
    repo: str
    path: str
    passed: bool = False
    # Why it does not count: the kernel itself is at fault, or not for this chip's vector cores.
    outside: str = ""
    reason: str = ""
    cases: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.repo}/{self.path}"


def tensor(name: str, text: str) -> dict[str, Any]:
    """The launch file's table for one tensor in the short form of `independent.toml`."""
    found = _TENSOR.fullmatch(text)
    if found is None:
        raise UsageError(f"{name}: {text!r} is not DTYPE[SIZES] = DATA")
    dtype, sizes, filled = found.groups()
    table: dict[str, Any] = {
        "name": name,
        "dtype": dtype,
        "shape": [int(size) for size in sizes.split(",") if size.strip()],
    }
    if filled is None:
        return table
    low, dots, high = filled.partition("..")
    if dots:
        table["data"] = {"kind": "random", "low": float(low), "high": float(high)}
    elif filled.startswith("["):
        table["data"] = json.loads(filled)
    else:
        table["data"] = filled if filled.isidentifier() else float(filled)
    return table


def tensors(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    made = []
    for name, text in table.items():
        if isinstance(text, list):
            members = [tensor(f"{name}[{i}]", member) for i, member in enumerate(text)]
            for member in members:
                del member["name"]
            made.append({"kind": "list", "name": name, "tensors": members})
        else:
            made.append(tensor(name, text))
    return made


def cases(entry: Mapping[str, Any]) -> list[launch_file.Case]:
    """The entry's cases as the twin's launch file would give them."""
    made = []
    for number, case in enumerate(entry.get("case", []), start=1):
        table: dict[str, Any] = {
            **{key: entry[key] for key in ("tolerance", "entry", "defines") if key in entry},
            **{key: case[key] for key in case if key not in ("inputs", "outputs")},
        }
        if "reference" in entry:
            table["reference"] = f"{_REFERENCES}::{entry['reference']}"
        if entry["form"] == "operator":
            table["input"] = tensors(case["inputs"])
            if "outputs" in case:
                table["output"] = tensors(case["outputs"])
        made.append(launch_file.case_of(table, _TABLE.parent, f"case {number}"))
    return made


def script(text: str) -> str:
    """A command that runs these lines of Python beside the program."""
    return f"python3 - <<'NPUFORGE'\nimport numpy as np\n{text}\nNPUFORGE"


def judge(entry: Mapping[str, Any], place: Path) -> Report:
    if entry["form"] == "program":
        program = DirectProgram.open(place)
        program.defines = entry.get("defines", {})
        return verify_program(
            program,
            steps=("check",),
            setup=script(entry["setup"]),
            command=script(entry["check"]),
            arguments=entry.get("arguments", []),
            limits=_LIMITS,
        )
    subject: Subject
    if entry["form"] == "operator":
        subject = OperatorSource.open(place, operator=entry.get("operator"))
    else:
        folders = [place.parent / folder for folder in entry.get("include", [])]
        subject = KernelFile(place, entry.get("entry"), folders)
    return verify(subject, cases(entry), steps=("check",), limits=_LIMITS)


def run(entry: Mapping[str, Any], root: Path) -> KernelResult:
    result = KernelResult(entry["repo"], entry["path"], outside=entry.get("outside", ""))
    started = time.monotonic()
    try:
        report = judge(entry, root / entry["repo"].replace("/", "__") / entry["path"])
    except NpuforgeError as problem:
        result.reason = str(problem)
    else:
        explain(report, result)
    result.seconds = round(time.monotonic() - started, 1)
    return result


def explain(report: Report, result: KernelResult) -> None:
    verdict = report.verdict
    result.cases = len(verdict.cases) or 1
    errors = [finding for finding in verdict.violations if finding.severity == "error"]
    result.findings = dict(Counter(finding.rule for finding in errors))
    if verdict.races:
        result.findings["races"] = len(verdict.races)
    if not verdict.compiled:
        first = next(iter(verdict.diagnostics), None)
        said = f"{first.file}:{first.line}: {first.message}" if first else "no message"
        result.reason = f"does not compile: {said}"
    elif verdict.error is not None:
        result.reason = verdict.error
    elif not verdict.correct:
        wrong = [f"{case.name}: {case.summary}" for case in report.cases if case.summary]
        result.reason = wrong[0] if wrong else f"wrong: {report.printed.strip()[-200:]}"
    result.passed = not result.reason


def line(result: KernelResult) -> str:
    verdict = "pass" if result.passed else "FAIL"
    notes = [result.reason, *(f"{rule} x{n}" for rule, n in result.findings.items())]
    if result.outside:
        notes.insert(0, f"outside the rate: {result.outside}")
    said = "; ".join(note for note in notes if note).replace("\n", " ")
    return f"{verdict} {result.seconds:6.1f} s  {result.name}  {said}".rstrip()


@click.command()
@click.argument("root", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", default="*", metavar="GLOB", help="kernels whose OWNER/NAME/path matches")
@click.option("--json", "out", type=click.Path(dir_okay=False, path_type=Path))
def main(root: Path, only: str, out: Path | None) -> None:
    with _TABLE.open("rb") as file:
        entries = tomllib.load(file)["kernel"]
    results: list[KernelResult] = []
    missing: Counter[str] = Counter()
    for entry in entries:
        if not fnmatch.fnmatch(f"{entry['repo']}/{entry['path']}", only):
            continue
        if not (root / entry["repo"].replace("/", "__")).is_dir():
            missing[entry["repo"]] += 1
            continue
        results.append(run(entry, root))
        print(line(results[-1]), flush=True)
        if out is not None:
            out.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n", "utf-8")
    counted = [result for result in results if not result.outside]
    passed = sum(result.passed for result in counted)
    clean = sum(result.passed and not result.findings for result in counted)
    repositories = len({result.repo for result in counted})
    print(
        f"passed {passed} of {len(counted)} kernels ({passed / max(1, len(counted)):.1%}) of "
        f"{repositories} repositories, {sum(result.cases for result in counted)} cases; "
        f"{clean} without a finding; {len(results) - len(counted)} outside the rate"
    )
    for repo, number in missing.items():
        print(f"no checkout of {repo}: {number} kernels left out")


if __name__ == "__main__":
    main()
