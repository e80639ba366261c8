# SPDX-License-Identifier: Apache-2.0
"""Read a launch file (TOML or YAML): what to run a kernel or an operator with, and what to expect.

The format is described in docs/twin.md. Every mistake ends as one `UsageError` that names the key.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import yaml

from npuforge.dtypes import HostTensor, find
from npuforge.errors import UsageError
from npuforge.twin import data
from npuforge.twin.launch import (
    AbsentArgument,
    Argument,
    Launch,
    ListArgument,
    Role,
    ScalarArgument,
    TensorArgument,
    TilingArgument,
    WorkspaceArgument,
    checked_name,
    pack_fields,
    scalar,
)
from npuforge.twin.numerics import Tolerance

_COMMON = {"name", "entry", "expected", "reference", "tolerance", "defines"}
_KERNEL = {"blocks", "key", "argument"}
_OPERATOR = {"input", "attrs", "output"}
_TENSOR = {"kind", "name", "shape", "dtype", "role", "data"}
_ARGUMENT_KEYS = {
    "tensor": _TENSOR,
    "scalar": {"kind", "name", "dtype", "value", "fields", "file", "hex"},
    "workspace": {"kind", "name", "bytes"},
    "tiling": {"kind", "name", "fields", "file", "hex"},
    "list": {"kind", "name", "role", "tensors"},
    "absent": {"kind", "name"},
}
_EXPECTED = {"file", "expression", "tolerance"}
_TOLERANCE = {"rtol", "atol", "mismatches"}


@dataclass(frozen=True, slots=True)
class Expected:
    """Where the right values of one output come from: a tensor, or an expression of the inputs."""

    tensor: HostTensor | None = None
    file: Path | None = None
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
    """The cases of a launch file, at least one."""
    table = _read(path)
    own = table.pop("case", None)
    if own is None:
        return [case_of(table, path.parent, path.stem)]
    if not isinstance(own, list) or not own or not all(isinstance(case, Mapping) for case in own):
        raise UsageError(f"{path.name}: 'case' is a list of tables")
    return [
        case_of({**table, **case}, path.parent, f"{path.stem} {number}")
        for number, case in enumerate(own, start=1)
    ]


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the launch file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not text") from None
    try:
        if path.suffix in (".yaml", ".yml"):
            table = yaml.safe_load(text)
        elif path.suffix == ".toml":
            table = tomllib.loads(text)
        else:
            raise UsageError(f"{path.name}: a launch file ends in .toml, .yaml or .yml")
    except (tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path.name}: {error}") from None
    if not isinstance(table, dict) or not all(isinstance(key, str) for key in table):
        raise UsageError(f"{path.name} is not a table of keys")
    return table


def case_of(table: Mapping[str, Any], folder: Path, fallback: str) -> Case:
    """One case from its table; files are relative to `folder`, `fallback` is the case's name."""
    _only(table, _COMMON | _KERNEL | _OPERATOR, "the launch file")
    operator = bool(set(table) & _OPERATOR)
    if operator and (both := sorted(set(table) & _KERNEL)):
        raise UsageError(
            f"{both[0]!r} describes a kernel launch, 'input' and 'attrs' an operator: use one"
        )
    case = _operator(table, folder) if operator else _kernel(table, folder)
    outputs = case.launch.outputs if case.launch is not None else list(case.outputs or ())
    tolerance = table.get("tolerance")
    defines = table.get("defines", [])
    if not isinstance(defines, list):
        raise UsageError("'defines' is a list of NAME or NAME=VALUE")
    return Case(
        name=str(table.get("name", fallback)),
        launch=case.launch,
        inputs=case.inputs,
        attrs=case.attrs,
        outputs=case.outputs,
        expected=_expected(table.get("expected", {}), folder, outputs, operator),
        reference=_reference(table.get("reference"), folder),
        tolerance=_tolerance(tolerance) if tolerance is not None else None,
        entry=str(table["entry"]) if "entry" in table else None,
        defines=tuple(str(word) for word in defines),
    )


def _kernel(table: Mapping[str, Any], folder: Path) -> Case:
    if "blocks" not in table:
        raise UsageError("the launch file lacks 'blocks'")
    arguments = [
        _argument(entry, number, folder)
        for number, entry in enumerate(_tables(table, "argument"), start=1)
    ]
    blocks = _whole(table["blocks"], "blocks")
    return Case("", launch=Launch(blocks, tuple(arguments), _whole(table.get("key", 0), "key")))


def _operator(table: Mapping[str, Any], folder: Path) -> Case:
    inputs: list[TensorArgument | ListArgument | AbsentArgument] = []
    for number, entry in enumerate(_tables(table, "input"), start=1):
        given = _argument(entry, number, folder, default="x")
        if not isinstance(given, TensorArgument | ListArgument | AbsentArgument):
            raise UsageError(f"input {number}: an operator's input is a tensor, a list or absent")
        inputs.append(given)
    outputs = None
    if "output" in table:
        found = [
            _argument({"role": "out", **entry}, number, folder, default="y")
            for number, entry in enumerate(_tables(table, "output"), start=1)
        ]
        outputs = tuple(entry for entry in found if isinstance(entry, TensorArgument))
        if len(outputs) != len(found):
            raise UsageError("an operator's output is a tensor")
    attrs = table.get("attrs", {})
    if not isinstance(attrs, Mapping):
        raise UsageError("'attrs' is a table of name = value")
    return Case("", inputs=tuple(inputs), attrs=dict(attrs), outputs=outputs)


def _argument(
    entry: Mapping[str, Any], number: int, folder: Path, default: str = "argument"
) -> Argument:
    name = checked_name(str(entry.get("name", f"{default}{number}")))
    kind = str(entry.get("kind", "tensor"))
    if kind not in _ARGUMENT_KEYS:
        raise UsageError(f"{name}: unknown kind {kind!r}; known: {', '.join(_ARGUMENT_KEYS)}")
    _only(entry, _ARGUMENT_KEYS[kind], name)
    if kind == "tensor":
        return _tensor(entry, name, folder)
    if kind == "absent":
        return AbsentArgument(name)
    if kind == "workspace":
        return WorkspaceArgument(name, _whole(_need(entry, "bytes", name), f"{name}: bytes"))
    if kind == "tiling":
        return TilingArgument(name, _raw(entry, name, folder))
    if kind == "scalar":
        if "value" not in entry:
            return ScalarArgument(name, _raw(entry, name, folder))
        return scalar(name, entry["value"], str(_need(entry, "dtype", name)))
    members = [
        _tensor({"role": entry.get("role", "in"), **member}, f"{name}[{index}]", folder)
        for index, member in enumerate(_tables(entry, "tensors"))
    ]
    return ListArgument(name, tuple(members))


def _tensor(entry: Mapping[str, Any], name: str, folder: Path) -> TensorArgument:
    _only(entry, _TENSOR, name)
    dtype = find(str(_need(entry, "dtype", name)))
    sizes = _need(entry, "shape", name)
    if not isinstance(sizes, list):
        raise UsageError(f"{name}: shape is a list of sizes")
    shape = tuple(_whole(size, f"{name}: shape") for size in sizes)
    if any(size < 0 for size in shape) or math.prod(shape) >= 1 << 40:
        raise UsageError(f"{name}: shape {list(shape)} is not possible")
    role = entry.get("role", "in")
    if role not in get_args(Role):
        raise UsageError(f"{name}: role is one of {', '.join(get_args(Role))}, not {role!r}")
    if role == "out":
        if "data" in entry:
            raise UsageError(f"{name}: an output has no data")
        return TensorArgument(name, shape, dtype, "out")
    values = data.make(entry.get("data", "random"), name, shape, dtype, folder)
    return TensorArgument(name, shape, dtype, "inout" if role == "inout" else "in", values)


def _raw(entry: Mapping[str, Any], name: str, folder: Path) -> bytes:
    given = [key for key in ("fields", "file", "hex") if key in entry]
    if len(given) != 1:
        raise UsageError(f"{name}: give exactly one of fields, file or hex")
    if given[0] == "hex":
        try:
            return bytes.fromhex(str(entry["hex"]))
        except ValueError:
            raise UsageError(f"{name}: hex is not a string of hexadecimal bytes") from None
    if given[0] == "file":
        try:
            return (folder / str(entry["file"])).read_bytes()
        except OSError as error:
            raise UsageError(f"{name}: cannot read {entry['file']}: {error.strerror}") from None
    members: list[tuple[str, str, Any]] = []
    for member in entry["fields"]:
        if not isinstance(member, list) or len(member) != 3:
            raise UsageError(f"{name}: a field is [name, type, value]")
        members.append((str(member[0]), str(member[1]), member[2]))
    return pack_fields(name, members)


def _expected(
    given: Any, folder: Path, outputs: Sequence[TensorArgument], operator: bool
) -> dict[str, Expected]:
    if not isinstance(given, Mapping):
        raise UsageError("'expected' is a table of output = file, expression or table")
    known = {tensor.name: tensor for tensor in outputs}
    result: dict[str, Expected] = {}
    for name, entry in given.items():
        if name not in known and not operator:
            raise UsageError(f"expected {name!r} is no output; outputs: {', '.join(known) or '-'}")
        table = entry
        if isinstance(entry, str):
            table = {"file" if entry.endswith((".npy", ".bin")) else "expression": entry}
        if not isinstance(table, Mapping):
            raise UsageError(f"expected {name}: a file name, an expression or a table")
        _only(table, _EXPECTED, f"expected {name}")
        if ("file" in table) == ("expression" in table):
            raise UsageError(f"expected {name}: give either file or expression")
        tolerance = _tolerance(table["tolerance"]) if "tolerance" in table else None
        if "expression" in table:
            result[name] = Expected(expression=str(table["expression"]), tolerance=tolerance)
            continue
        path = folder / str(table["file"])
        tensor = known.get(name)
        values = data.read(path, name, tensor.shape, tensor.dtype) if tensor else None
        result[name] = Expected(tensor=values, file=path, tolerance=tolerance)
    return result


def _reference(given: Any, folder: Path) -> Reference | None:
    if given is None:
        return None
    file, separator, function = str(given).partition("::")
    if not separator or not function.isidentifier():
        raise UsageError("'reference' has the form file.py::function")
    path = folder / file
    if not path.is_file():
        raise UsageError(f"no such reference file: {path}")
    return Reference(path, function)


def _tolerance(given: Any) -> Tolerance:
    if not isinstance(given, Mapping):
        raise UsageError("'tolerance' is a table with rtol and atol")
    _only(given, _TOLERANCE, "tolerance")
    try:
        return Tolerance(
            rtol=float(given.get("rtol", 0.0)),
            atol=float(given.get("atol", 0.0)),
            mismatches=float(given.get("mismatches", 0.0)),
        )
    except (TypeError, ValueError):
        raise UsageError("tolerance: rtol, atol and mismatches are numbers") from None


def _tables(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
        raise UsageError(f"'{key}' is a list of tables ([[{key}]] in TOML)")
    return found


def _only(table: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}; known: {', '.join(sorted(known))}")


def _need(table: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in table:
        raise UsageError(f"{where} lacks '{key}'")
    return table[key]


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{where}: {value!r} is not a whole number")
    return value
