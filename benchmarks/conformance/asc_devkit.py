# SPDX-License-Identifier: Apache-2.0
"""The vector examples of asc-devkit with their own data and their own judgement, on the twin.

    python benchmarks/conformance/asc_devkit.py CHECKOUT [--examples GLOB] [--list] [--json OUT]

Every example is classified; the vector ones for this architecture run, each with all its scenarios
(`asc_devkit_examples`). An example passes when every scenario does. Findings are shown with the
place they name and, where somebody has looked into them, with the reason they are right
(`asc_devkit_judged.toml`). Exits 0 whatever the rate. Scripts of two examples need
ml_dtypes installed.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import time
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

import click
from asc_devkit_examples import VECTOR, Case, Example, find_examples, text_of

from npuforge.errors import NpuforgeError
from npuforge.twin.sources.direct import DirectProgram

_JUDGED = tomllib.loads(Path(__file__).with_name("asc_devkit_judged.toml").read_text("utf-8"))
# What programs print that compare results themselves and end with status 0 either way.
_PASSED = re.compile(r"\btest pass|\[Success\]", re.IGNORECASE)
_FAILED = re.compile(r"\btest fail|\[Failed\]", re.IGNORECASE)


# TensorFlow's bfloat16 is that of ml_dtypes, which numpy scripts of the examples need anyway.
_BFLOAT16 = r"class bfloat16:\n    from ml_dtypes import bfloat16 as as_numpy_dtype\n"


@dataclass
class CaseResult:
    example: str
    case: str
    passed: bool = False
    judged: bool = False
    reason: str = ""
    findings: list[str] = field(default_factory=list)
    unjudged: int = 0
    seconds: float = 0.0


def run_case(example: Example, case: Case) -> CaseResult:
    result = CaseResult(example.name, case.name, judged=case.verify is not None)
    started = time.monotonic()
    try:
        _run(example, case, result)
    except NpuforgeError as problem:
        result.reason = str(problem)
    result.seconds = round(time.monotonic() - started, 1)
    return result


def _run(example: Example, case: Case, result: CaseResult) -> None:
    program = DirectProgram.open(example.folder)
    program.defines = case.defines
    build = program.build()
    if not build.ok:
        first = next(iter(build.diagnostics), None)
        result.reason = f"does not compile: {first.message if first else build.log[-200:]}"
        return
    run = program.run(
        build,
        mode="check",
        setup=_prepared(example, case.setup),
        arguments=case.arguments,
        verify=case.verify,
    )
    for found in run.violations:
        text = f"{found.severity} {found.rule} {found.file}:{found.line}: {found.message}"
        _add_finding(result, found.rule, text)
    for race in run.races:
        first, second = race.first, race.second
        places = f"{first.file}:{first.line} and {second.file}:{second.line}"
        _add_finding(result, race.rule, f"race {race.rule} {places}: {race.message}")
    if run.error is not None:
        result.reason = run.error
    elif run.correct is False or _FAILED.search(run.printed):
        lines = run.printed.strip().splitlines()
        result.reason = f"wrong results: {lines[-1] if lines else 'nothing was printed'}"
    else:
        result.judged |= _PASSED.search(run.printed) is not None
        result.passed = True


def _add_finding(result: CaseResult, rule: str, text: str) -> None:
    for judged in _JUDGED["finding"]:
        if judged["rule"] == rule and result.example.endswith(tuple(judged["examples"])):
            result.findings.append(f"{text} [right: {judged['why']}]")
            return
    result.findings.append(text)
    result.unjudged += 1


def _prepared(example: Example, setup: str | None) -> str | None:
    """The set-up command, after a stand-in for TensorFlow where scripts want its bfloat16 only."""
    scripts = "".join(text_of(path) for path in example.folder.glob("scripts/*.py"))
    if setup is None or "import tensorflow" not in scripts or find_spec("tensorflow") is not None:
        return setup
    return f"printf '%b' {shlex.quote(_BFLOAT16)} > scripts/tensorflow.py && {setup}"


def _show(result: CaseResult) -> None:
    verdict = "pass" if result.passed else "FAIL"
    notes = [result.reason] if result.reason else []
    if result.passed and not result.judged:
        notes.append("exit status only")
    title = f"{result.example} {result.case}".rstrip()
    print(f"{verdict} {result.seconds:6.1f} s  {title}  {'; '.join(notes)}".rstrip(), flush=True)
    for finding, times in Counter(result.findings).items():
        print(f"       {finding}" + (f" (x{times})" if times > 1 else ""), flush=True)


@click.command()
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--examples", default="*", metavar="GLOB", help="paths below the examples' folder")
@click.option("--list", "only_list", is_flag=True, help="only say what every example is")
@click.option("--json", "out", type=click.Path(dir_okay=False, path_type=Path))
def main(checkout: Path, examples: str, only_list: bool, out: Path | None) -> None:
    found = [one for one in find_examples(checkout) if fnmatch.fnmatch(one.name, examples)]
    for one in found:
        if only_list or one.kind != VECTOR:
            print(f"{one.kind}: {one.name}" + (f" ({one.reason})" if one.reason else ""))
    results: list[CaseResult] = []
    vector = [one for one in found if one.kind == VECTOR]
    for one in [] if only_list else vector:
        for case in one.cases:
            results.append(run_case(one, case))
            _show(results[-1])
    for kind, number in Counter(one.kind for one in found).most_common():
        print(f"{number:4} {kind}")
    if results:
        failed = {result.example for result in results if not result.passed}
        flagged = {result.example for result in results if result.findings}
        open_ones = {result.example for result in results if result.unjudged}
        scenarios = sum(result.passed for result in results)
        judged = sum(result.passed and result.judged for result in results)
        print(
            f"passed {len(vector) - len(failed)} of {len(vector)} vector examples; "
            f"{scenarios} of {len(results)} scenarios, {judged} judged by the example itself; "
            f"{len(flagged)} examples with findings, {len(open_ones)} of them not looked into"
        )
    if out is not None:
        out.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
