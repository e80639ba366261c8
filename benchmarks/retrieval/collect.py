# SPDX-License-Identifier: Apache-2.0
"""Makes failures.jsonl and held_out.jsonl: every fault of faults.toml or held_out.toml is built and
run, and what the judgement says is kept with the entries that teach its remedy.

    python benchmarks/retrieval/collect.py [--set tuned|held-out] [--out failures.jsonl]

A fault that does not fail is an error. Kernels that compile are built in one unit, as the tests do.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from tests.twin.mutation import suite  # noqa: E402
from tests.twin.mutation.suite import Variant  # noqa: E402

from npuforge.dtypes import HostTensor, encode  # noqa: E402
from npuforge.errors import UsageError  # noqa: E402
from npuforge.generate.proof import Proof  # noqa: E402
from npuforge.generate.written.feedback import (  # noqa: E402
    Feedback,
    not_built,
    of_proof,
    of_time,
)
from npuforge.knowledge.situation import facts_of  # noqa: E402
from npuforge.lower.compiler import lower  # noqa: E402
from npuforge.lower.on_twin import TwinProgram  # noqa: E402
from npuforge.tile import read_program, texts  # noqa: E402
from npuforge.tile.interpret import interpret  # noqa: E402
from npuforge.tile.source import TileError  # noqa: E402
from npuforge.twin import numerics  # noqa: E402
from npuforge.twin.execute import RunResult, execute  # noqa: E402
from npuforge.twin.kernel import Kernel, KernelBuild  # noqa: E402
from npuforge.twin.launch import Launch, TensorArgument  # noqa: E402
from npuforge.twin.toolchain import Toolchain  # noqa: E402
from npuforge.verdict import Case, Diagnostic  # noqa: E402

Faults = Mapping[str, Any]
# Each set: its faults, its failures, and where its kernels written by hand are.
_SETS = {
    "tuned": ("faults.toml", "failures.jsonl", suite.FOLDER),
    "held-out": ("held_out.toml", "held_out.jsonl", HERE),
}
_CHIP = "910b2"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--set", choices=_SETS, default="tuned")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    named, out, folder = _SETS[given.set]
    faults: Faults = tomllib.loads((HERE / named).read_text("utf-8"))
    found = []
    silent = []
    for failure in (*_written(faults, folder), *_emitted(faults), *_tile(faults), *_slow(faults)):
        if failure["feedback"] is None:
            silent.append(failure["id"])
        else:
            found.append(failure)
    lines = [json.dumps(failure, ensure_ascii=False) for failure in found]
    (given.out or HERE / out).write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(found)} failures; {len(silent)} faults that do not fail: {', '.join(silent)}")
    return 1 if silent else 0


def _failure(
    name: str,
    language: str,
    said: Feedback | None,
    source: str,
    right: Sequence[str],
    situation: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "id": re.sub(r"\W+", "-", name).strip("-"),
        "cause": said.cause if said else None,
        "feedback": said.text if said else None,
        "source": source,
        "situation": {"language": language, "soc": _CHIP, **situation},
        "right": list(right),
    }


# Kernels written by hand: those of the mutation suite, and those beside the held-out faults.


def _written(faults: Faults, kernels: Path) -> Iterator[dict[str, Any]]:
    known = {(fault.kernel, fault.kind): fault for fault in suite.faults()}
    wanted: list[tuple[Variant, Mapping[str, Any]]] = []
    for kernel, kinds in faults.get("mutation", {}).items():
        for kind, right in kinds.items():
            wanted.append((known[kernel, kind], {"right": right}))
    for entry in faults["edited"]:
        edits = tuple((old, new) for old, new in entry["edits"])
        blocks = entry.get("blocks", 0)
        variant = Variant(entry["kernel"], entry["fault"], (), edits, {}, blocks, kernels)
        wanted.append((variant, entry))
    alone = {v.id for v, _ in wanted if v.stops_the_compiler} | {
        v.id for v, entry in wanted if "fault" in entry and not entry.get("compiles")
    }
    with tempfile.TemporaryDirectory() as folder:
        together = [v for v, _ in wanted if v.id not in alone]
        library = _built_together(together, Path(folder))
        for variant, entry in wanted:
            source = variant.source()
            said: Feedback | None
            try:
                if variant.id in alone:
                    build = Kernel.build(source, entry=variant.kernel)
                else:
                    build = KernelBuild(variant.symbol, Path(), Path(folder), library, [], [])
                said = _judged(variant, entry, build, source, faults)
            except UsageError as error:
                said = Feedback("does not run", f"It does not run: {error}")
            tensors = list(variant.launch().tensors())
            situation = {
                "operators": faults["operators"][variant.kernel],
                "dtypes": sorted({t.dtype.name for t in tensors}),
                "facts": facts_of([(t.shape, t.dtype.name) for t in tensors]),
            }
            yield _failure(variant.id, "ascendc", said, source, entry["right"], situation)


def _built_together(variants: Sequence[Variant], folder: Path) -> Path:
    """As `suite.build_together`, with every kernel's own line numbers."""
    parts = ['#include "kernel_operator.h"\n#include "npu/entry.h"\n']
    for variant in variants:
        body = re.sub(r"^#include.*$", "", variant.source(), flags=re.MULTILINE)
        body = body.replace('extern "C" ', "")
        parts.append(
            f'namespace {variant.symbol} {{\n#line 1 "kernel.cpp"\n{body}\n}}\n'
            f"NPUFORGE_ENTRY_AS({variant.symbol}, {variant.symbol}::{variant.kernel})\n"
        )
    unit = folder / "faults.cpp"
    unit.write_text("".join(parts))
    built = Toolchain.find().compile([unit], kind="kernel", name="faults")
    assert built.path is not None, built.log
    return built.path


def _judged(
    variant: Variant, entry: Mapping[str, Any], build: KernelBuild, source: str, faults: Faults
) -> Feedback | None:
    if not build.ok:
        return not_built("does not compile", build.diagnostics, source)
    launch = _scaled(variant.launch(), entry.get("scale", 1.0))
    result = execute(build, launch, mode="check", auto_sync=variant.auto_sync())
    proof = Proof(
        violations=[*build.violations, *result.violations], races=result.races, error=result.error
    )
    wrong = None
    if result.error is None and variant.kernel in faults["expected"]:
        inputs = {t.name: t.data.values() for t in launch.inputs if t.data is not None}
        wrong = _compared(faults["expected"][variant.kernel], inputs, result)
    shapes = [list(t.shape) for t in launch.inputs]
    proof.cases.append(Case(shapes, [], correct=wrong is None, message=wrong))
    said = of_proof(proof, source, "ascendc")
    if said is None:  # a warning is all that `npuforge check` says of some faults
        proof.violations = [replace(v, severity="error") for v in proof.violations]
        said = of_proof(proof, source, "ascendc")
    return said


def _scaled(launch: Launch, factor: float) -> Launch:
    if factor == 1.0:
        return launch
    arguments = [
        replace(a, data=encode(a.data.values() * factor, a.dtype))
        if isinstance(a, TensorArgument) and a.data is not None
        else a
        for a in launch.arguments
    ]
    return replace(launch, arguments=tuple(arguments))


def _compared(
    expected: Mapping[str, str], inputs: Mapping[str, Any], result: RunResult
) -> str | None:
    for name, text in expected.items():
        got = result.tensors[name]
        want = encode(np.asarray(eval(text, {"np": np, **inputs})), got.dtype)
        said = numerics.compare(got, want, unwritten=result.unwritten.get(name, 0))
        if not said.correct:
            return f"{name}: {said.summary}"
    return None


# Kernels that the compiler made, and tile programs.


def _emitted(faults: Faults) -> Iterator[dict[str, Any]]:
    for entry in faults["emitted"]:
        name = entry["program"]
        program = TwinProgram(lower(texts.examples()[name]))
        program.source = _edited(program.source, entry)
        shapes = faults["emitted_inputs"][name]
        if "size" in entry:
            shapes = {key: [entry["size"]] for key in shapes}
        inputs, attrs = _data(name, shapes, 1.0, faults)
        said: Feedback | None
        if not program.build.ok:
            said = not_built("does not compile", program.build.diagnostics, program.source)
        else:
            said = _ran(program, name, inputs, attrs, "ascendc")
        yield _failure(
            f"emitted {name} {entry['fault']}", "ascendc", said, program.source, entry["right"],
            _situation(name, inputs),
        )  # fmt: skip


def _tile(faults: Faults) -> Iterator[dict[str, Any]]:
    for entry in faults["tile"]:
        name = entry["program"]
        code = _edited(texts.examples()[name], entry)
        shapes = entry.get("inputs") or faults["emitted_inputs"].get(name, {})
        inputs, attrs = _data(name, shapes, entry.get("scale", 1.0), faults)
        said: Feedback | None
        try:
            program = TwinProgram(lower(code))
            said = _ran(program, name, inputs, attrs, "tile")
        except TileError as error:
            told = [Diagnostic(None, f.span.line, f"{f.rule}: {f.message}") for f in error.findings]
            said = not_built("does not parse", told, code)
        yield _failure(
            f"tile {name} {entry['fault']}", "tile", said, code, entry["right"],
            _situation(name, inputs),
        )  # fmt: skip


def _slow(faults: Faults) -> Iterator[dict[str, Any]]:
    for entry in faults["slow"]:
        name = entry["program"]
        code = _edited(texts.examples()[name], entry)
        program = TwinProgram(lower(code))
        timed = program.time(entry["inputs"])
        assert timed.timing is not None, timed.error
        inputs, attrs = _data(name, entry["inputs"], 1.0, faults)
        checked = program.launch(inputs, attrs, mode="check")
        said = of_time(timed.timing, [*checked.advice, *timed.advice])
        situation = _situation(name, inputs) | {"bottleneck": timed.timing.bottleneck.kind}
        yield _failure(
            f"slow {name} {entry['fault']}", "tile", said, code, entry["right"], situation
        )


def _edited(text: str, entry: Mapping[str, Any]) -> str:
    for old, new in entry["edits"]:
        assert old in text, f"{entry['program']} has no {old!r}"
        text = text.replace(old, new, 1)
    return text


def _data(
    name: str, shapes: Mapping[str, Sequence[int]], scale: float, faults: Faults
) -> tuple[dict[str, HostTensor], dict[str, Any]]:
    host = read_program(texts.examples()[name], _CHIP).host
    random = np.random.default_rng(5)
    inputs = {}
    for tensor in host.tensors:
        if tensor.name in shapes:
            whole = tensor.dtype.name.startswith("int")
            values = (
                random.integers(0, 8, shapes[tensor.name])
                if whole
                else random.uniform(-1, 1, shapes[tensor.name]) * scale
            )
            if tensor.name == "square":
                values = np.abs(values)
            inputs[tensor.name] = encode(np.asarray(values), tensor.dtype)
    return inputs, faults["attrs"].get(name, {})


def _ran(
    program: TwinProgram,
    name: str,
    inputs: Mapping[str, HostTensor],
    attrs: Mapping[str, Any],
    language: str,
) -> Feedback | None:
    try:
        result = program.launch(inputs, attrs, mode="check")
    except (TileError, UsageError) as error:
        return Feedback("does not run", f"It does not run: {error}")
    proof = Proof(
        violations=[*program.build.violations, *result.violations],
        races=result.races,
        error=result.error,
    )
    shapes = [list(tensor.shape) for tensor in inputs.values()]
    if result.error is None:
        right = interpret(read_program(texts.examples()[name], _CHIP), inputs, attrs, _CHIP)
        said = [
            f"{key}: {compared.summary}"
            for key, tensor in result.tensors.items()
            for compared in (
                numerics.compare(tensor, right[key], unwritten=result.unwritten.get(key, 0)),
            )
            if not compared.correct
        ]
        proof.cases.append(Case(shapes, [], correct=not said, message="; ".join(said) or None))
    return of_proof(proof, program.source, "tile" if language == "tile" else "ascendc")


def _situation(name: str, inputs: Mapping[str, HostTensor]) -> dict[str, Any]:
    rules = tomllib.loads(
        (ROOT / "src/npuforge/generate/written/structures.toml").read_text("utf-8")
    )
    tensors = [(tensor.shape, tensor.dtype.name) for tensor in inputs.values()]
    return {
        "operators": rules["examples"][name],
        "dtypes": sorted({dtype for _, dtype in tensors}),
        "facts": facts_of(tensors),
    }


if __name__ == "__main__":
    sys.exit(main())
