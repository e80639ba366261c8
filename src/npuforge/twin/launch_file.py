# SPDX-License-Identifier: Apache-2.0
"""Read a launch file (TOML or YAML): what to run a kernel or an operator with, and what to expect.

The format is described in docs/twin.md. A launch file is hostile input: it names files in its own
folder only, its numbers are bounded, and every mistake ends as one `UsageError` that names the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.twin import data
from npuforge.twin.launch import AbsentArgument, Launch, ListArgument, TensorArgument
from npuforge.twin.launch_arguments import ArgumentReader, only, tables, text, whole
from npuforge.twin.numerics import Tolerance
from npuforge.untrusted.documents import read_document
from npuforge.untrusted.inputs import is_plain_file, lies_within
from npuforge.untrusted.names import checked_define, checked_name, is_name, shown

_COMMON = {"name", "entry", "expected", "reference", "tolerance", "defines"}
_KERNEL = {"blocks", "key", "argument"}
_OPERATOR = {"input", "attrs", "output"}
_EXPECTED = {"file", "expression", "tolerance"}
# How far a launch file may loosen the comparison; verdicts state what is looser than the default.
_LOOSEST = {"rtol": 0.1, "atol": 1.0, "mismatches": 0.01}
_MOST_CASES = 1000
_MOST_DEFINES = 100
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Expected:
    """Where the right values of one output come from: a tensor, or an expression of the inputs."""

    tensor: HostTensor | None = None
    file: str | None = None
    folder: Path = Path()
    expression: str | None = None
    tolerance: Tolerance | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A Python function that computes all outputs from all inputs."""

    file: Path
    function: str


@dataclass(frozen=True, slots=True)
class Case:
    """One run: a kernel's `launch`, or an operator's `inputs` and `attrs`; and what is expected.

    `outputs` of an operator case give shapes and types where the operator's own inference is not to
    be used.
    """

    name: str
    launch: Launch | None = None
    inputs: tuple[TensorArgument | ListArgument | AbsentArgument, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[TensorArgument, ...] | None = None
    expected: Mapping[str, Expected] = field(default_factory=dict)
    reference: Reference | None = None
    tolerance: Tolerance | None = None
    entry: str | None = None
    defines: tuple[str, ...] = ()


def load(path: Path) -> list[Case]:
    """Return the cases of a launch file, at least one."""
    if path.suffix not in (".toml", ".yaml", ".yml"):
        raise UsageError(f"{path.name}: a launch file ends in .toml, .yaml or .yml")
    table = read_document(path)
    if not isinstance(table, dict) or not all(isinstance(key, str) for key in table):
        raise UsageError(f"{path.name} is not a table of keys")
    own = table.pop("case", None)
    if own is None:
        return [case_of(table, path.parent, path.stem)]
    reader = ArgumentReader(path.parent)  # one for all: their tensors together are bounded
    if not isinstance(own, list) or not own or not all(isinstance(case, Mapping) for case in own):
        raise UsageError(f"{path.name}: 'case' is a list of tables")
    if len(own) > _MOST_CASES:
        raise UsageError(f"{path.name} has {len(own)} cases; at most {_MOST_CASES} are read")
    return [
        case_of({**table, **case}, path.parent, f"{path.stem} {number}", reader)
        for number, case in enumerate(own, start=1)
    ]


def case_of(
    table: Mapping[str, Any], folder: Path, fallback: str, reader: ArgumentReader | None = None
) -> Case:
    """One case from its table; files are relative to `folder`, `fallback` is the case's name."""
    reader = reader or ArgumentReader(folder)
    only(table, _COMMON | _KERNEL | _OPERATOR, "the launch file")
    operator = bool(set(table) & _OPERATOR)
    if operator and (both := sorted(set(table) & _KERNEL)):
        raise UsageError(
            f"{both[0]!r} describes a kernel launch, 'input' and 'attrs' an operator: use one"
        )
    case = _operator(table, reader) if operator else _kernel(table, reader)
    outputs = case.launch.outputs if case.launch is not None else list(case.outputs or ())
    tolerance = table.get("tolerance")
    defines = table.get("defines", [])
    if not isinstance(defines, list) or len(defines) > _MOST_DEFINES:
        raise UsageError("'defines' is a list of NAME or NAME=VALUE")
    return Case(
        name=_title(table.get("name", fallback)),
        launch=case.launch,
        inputs=case.inputs,
        attrs=case.attrs,
        outputs=case.outputs,
        expected=_expected(table.get("expected", {}), folder, outputs, operator),
        reference=_reference(table.get("reference"), folder),
        tolerance=_tolerance(tolerance) if tolerance is not None else None,
        entry=checked_name("entry", table["entry"], "entry") if "entry" in table else None,
        defines=tuple(_define(word) for word in defines),
    )


def _kernel(table: Mapping[str, Any], reader: ArgumentReader) -> Case:
    if "blocks" not in table:
        raise UsageError("the launch file lacks 'blocks'")
    arguments = [
        reader.argument(entry, number)
        for number, entry in enumerate(tables(table, "argument"), start=1)
    ]
    blocks = whole(table["blocks"], "blocks")
    return Case("", launch=Launch(blocks, tuple(arguments), whole(table.get("key", 0), "key")))


def _operator(table: Mapping[str, Any], reader: ArgumentReader) -> Case:
    inputs: list[TensorArgument | ListArgument | AbsentArgument] = []
    for number, entry in enumerate(tables(table, "input"), start=1):
        given = reader.argument(entry, number, default="x")
        if not isinstance(given, TensorArgument | ListArgument | AbsentArgument):
            raise UsageError(f"input {number}: an operator's input is a tensor, a list or absent")
        inputs.append(given)
    outputs = None
    if "output" in table:
        found = [
            reader.argument({"role": "out", **entry}, number, default="y")
            for number, entry in enumerate(tables(table, "output"), start=1)
        ]
        outputs = tuple(entry for entry in found if isinstance(entry, TensorArgument))
        if len(outputs) != len(found):
            raise UsageError("an operator's output is a tensor")
    attrs = table.get("attrs", {})
    if not isinstance(attrs, Mapping):
        raise UsageError("'attrs' is a table of name = value")
    for name in attrs:
        checked_name("identifier", name, "the attribute's name")
    return Case("", inputs=tuple(inputs), attrs=dict(attrs), outputs=outputs)


def _expected(
    given: Any, folder: Path, outputs: Sequence[TensorArgument], operator: bool
) -> dict[str, Expected]:
    if not isinstance(given, Mapping):
        raise UsageError("'expected' is a table of output = file, expression or table")
    known = {tensor.name: tensor for tensor in outputs}
    result: dict[str, Expected] = {}
    for name, entry in given.items():
        checked_name("argument", name, "the output's name")
        if name not in known and not operator:
            raise UsageError(f"expected {name!r} is no output; outputs: {', '.join(known) or '-'}")
        table = entry
        if isinstance(entry, str):
            table = {"file" if entry.endswith((".npy", ".bin")) else "expression": entry}
        if not isinstance(table, Mapping):
            raise UsageError(f"expected {name}: a file name, an expression or a table")
        only(table, _EXPECTED, f"expected {name}")
        if ("file" in table) == ("expression" in table):
            raise UsageError(f"expected {name}: give either file or expression")
        tolerance = _tolerance(table["tolerance"]) if "tolerance" in table else None
        if "expression" in table:
            expression = text(table["expression"], f"expected {name}")
            result[name] = Expected(expression=expression, tolerance=tolerance)
            continue
        file = text(table["file"], f"expected {name}")
        tensor = known.get(name)
        values = data.read(folder, file, name, tensor.shape, tensor.dtype) if tensor else None
        result[name] = Expected(tensor=values, file=file, folder=folder, tolerance=tolerance)
    return result


def _reference(given: Any, folder: Path) -> Reference | None:
    if given is None:
        return None
    file, separator, function = text(given, "reference").partition("::")
    if not separator or not is_name("identifier", function):
        raise UsageError("'reference' has the form file.py::function")
    path = folder / file
    if not is_plain_file(path):
        raise UsageError(f"no such reference file: {shown(file)} in {folder}")
    if not lies_within(folder, path):
        raise UsageError(f"the reference {shown(file)} leads out of {folder}")
    return Reference(path, function)


def _tolerance(given: Any) -> Tolerance:
    if not isinstance(given, Mapping):
        raise UsageError("'tolerance' is a table with rtol and atol")
    only(given, set(_LOOSEST), "tolerance")
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError("tolerance: rtol, atol and mismatches are numbers")
        if not 0 <= value <= _LOOSEST[key]:
            raise UsageError(f"tolerance: {key} is from 0 to {_LOOSEST[key]}, not {value}")
    return Tolerance(**{key: float(given.get(key, 0.0)) for key in _LOOSEST})


def _title(given: Any) -> str:
    """Return the case's name, which is shown in reports only."""
    title = text(given, "name")
    if not title.isprintable() or not 0 < len(title) <= _LONGEST_TITLE:
        raise UsageError(f"the case's name {shown(title)} is not one line")
    return title


def _define(word: Any) -> str:
    name, equals, value = text(word, "defines").partition("=")
    return checked_define(name, value if equals else None)
