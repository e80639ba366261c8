# SPDX-License-Identifier: Apache-2.0
"""The vector examples of asc-devkit with their own data and their own judgement, on the twin.

    python benchmarks/conformance/asc_devkit.py CHECKOUT [--examples GLOB] [--json OUT]

An example is a folder with one program and a README that names this architecture. Commands to make
data and to judge results are the README's. Prints one line per example; exits 0 whatever the rate.
"""

from __future__ import annotations

import fnmatch
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from npuforge.errors import NpuforgeError
from npuforge.twin.sources.direct import DirectProgram

_EXAMPLES = Path("examples/01_simd_cpp_api")
_PRODUCT = "Atlas A2"
# Kernels for cube cores; the twin's vector half does not run them.
_CUBE = re.compile(r"__cube__|\bMmad\b|\bMatmul(Impl)?\b|\bLoadData\b|__mix__")
_COMMAND = re.compile(r"^\s*(python3? \.\./scripts/(\w+)\.py[^#;\n]*)", re.MULTILINE)
# What programs print that compare results themselves and end with status 0 either way.
_PASSED = re.compile(r"\btest pass", re.IGNORECASE)
_FAILED = re.compile(r"\btest fail", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{(SCENARIO_NUM|SCENARIO)\}")
_VALUE = re.compile(r"\$SCENARIO(_NUM)?\b")
_SCENARIO = re.compile(r"\b(?:SCENARIO_NUM|SCENARIO)=(\d+)")


@dataclass
class ExampleResult:
    example: str
    passed: bool = False
    judged: bool = False
    reason: str = ""
    violations: dict[str, int] = field(default_factory=dict)
    races: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Example:
    folder: Path
    setup: str | None
    verify: str | None
    defines: dict[str, str | None]


def find_examples(root: Path, pattern: str) -> Iterator[Example]:
    """Vector examples for this architecture whose path matches `pattern`."""
    for folder in sorted({source.parent for source in (root / _EXAMPLES).rglob("*.asc")}):
        name = str(folder.relative_to(root / _EXAMPLES))
        readme = folder / "README.md"
        if not fnmatch.fnmatch(name, pattern) or not readme.is_file():
            continue
        said = readme.read_text("utf-8", errors="replace")
        text = "".join(_text(path) for path in folder.iterdir() if path.suffix in (".asc", ".h"))
        if _PRODUCT in said and not _CUBE.search(text):
            yield read_example(folder, said)


def read_example(folder: Path, readme: str) -> Example:
    """The example's commands, for its own folder instead of a build folder below it."""
    stated = _SCENARIO.search(readme)
    scenario = stated.group(1) if stated else "1"
    defines: dict[str, str | None] = {}
    for name in set(_VARIABLE.findall(_text(folder / "CMakeLists.txt"))):
        defines[name] = scenario
    commands: dict[str, str] = {}
    for command, script in _COMMAND.findall(readme):
        here = _VALUE.sub(scenario, command.strip().replace("../scripts", "scripts"))
        commands.setdefault("verify" if "verify" in script else "setup", here)
    return Example(folder, commands.get("setup"), commands.get("verify"), defines)


def run_example(example: Example, name: str) -> ExampleResult:
    result = ExampleResult(name, judged=example.verify is not None)
    started = time.monotonic()
    try:
        _run(example, result)
    except NpuforgeError as problem:
        result.reason = str(problem)
    result.seconds = round(time.monotonic() - started, 1)
    return result


def _run(example: Example, result: ExampleResult) -> None:
    program = DirectProgram.open(example.folder)
    program.defines = example.defines
    build = program.build()
    if not build.ok:
        first = next(iter(build.diagnostics), None)
        result.reason = f"does not compile: {first.message if first else build.log[-200:]}"
        return
    run = program.run(build, mode="check", setup=example.setup, verify=example.verify)
    result.violations = dict(Counter(violation.rule for violation in run.violations))
    result.races = len(run.races)
    if run.error is not None:
        result.reason = run.error
    elif run.correct is False or _FAILED.search(run.printed):
        lines = run.printed.strip().splitlines()
        result.reason = f"wrong results: {lines[-1] if lines else 'nothing was printed'}"
    else:
        result.judged |= _PASSED.search(run.printed) is not None
        result.passed = True


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.is_file() else ""


@click.command()
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--examples", default="*", metavar="GLOB", help="paths below the examples' folder")
@click.option("--every", default=1, metavar="N", help="take every Nth only")
@click.option("--json", "out", type=click.Path(dir_okay=False, path_type=Path))
def main(checkout: Path, examples: str, every: int, out: Path | None) -> None:
    results: list[ExampleResult] = []
    for example in list(find_examples(checkout, examples))[::every]:
        name = str(example.folder.relative_to(checkout / _EXAMPLES))
        result = run_example(example, name)
        results.append(result)
        verdict = "pass" if result.passed else "FAIL"
        notes = [result.reason, *(f"{rule} x{n}" for rule, n in result.violations.items())]
        if result.races:
            notes.append(f"{result.races} races")
        if result.passed and not result.judged:
            notes.append("exit status only")
        said = "; ".join(note for note in notes if note)
        print(f"{verdict} {result.seconds:6.1f} s  {name}  {said}".rstrip(), flush=True)
    passed = sum(result.passed for result in results)
    judged = sum(result.passed and result.judged for result in results)
    clean = sum(r.passed and not r.violations and not r.races for r in results)
    print(f"passed {passed} of {len(results)}: {judged} judged, {clean} without a finding")
    if out is not None:
        out.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
