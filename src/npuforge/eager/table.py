# SPDX-License-Identifier: Apache-2.0
"""Published times of eager PyTorch on Ascend, as figures: `measured.csv`.

A row is a task at the shapes it was measured at, with the operations eager PyTorch dispatches for
it where they are known. `suite` says whose figure it is:

* `kernelbench`: KernelBench levels 1 to 3 as published with CANN Bench ("Atlas A2", CANN 8.3);
  `alias` is MultiKernelBench's name of the same module at the shapes it used to have.
* `cannbench`: CANN Bench's reference times on an Ascend 910B2, second-level cache emptied first.

All are sums of device time; what the host needs to launch is not in them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from npuforge.spec.graph import EagerOp, EagerTensor

_FILE = Path(__file__).with_name("measured.csv")
FIELDS = ("suite", "name", "alias", "machine", "shapes", "dtypes", "us", "ops")


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement; `operations` is empty where nobody has recorded them."""

    suite: str
    name: str
    alias: str
    machine: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    us: float
    operations: tuple[EagerOp, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Every measurement the package carries."""
    with _FILE.open(newline="", encoding="utf-8") as file:
        return tuple(_row(fields) for fields in csv.DictReader(file))


def measured(name: str, shapes: Sequence[Sequence[int]], dtypes: Sequence[str]) -> float | None:
    """Microseconds measured for the task at exactly these shapes and types of its inputs."""
    given = tuple(map(tuple, shapes)), tuple(dtypes)
    for row in rows():
        if name in (row.name, row.alias) and (row.shapes, row.dtypes) == given:
            return row.us
    return None


def write(file: Path, table: Iterable[Row]) -> None:
    """Writes measurements the way `rows` reads them."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(FIELDS)
        for row in table:
            shapes = json.dumps(row.shapes, separators=(",", ":"))
            operations = json.dumps(list(map(_packed, row.operations)), separators=(",", ":"))
            writer.writerow(
                [
                    row.suite,
                    row.name,
                    row.alias,
                    row.machine,
                    shapes,
                    " ".join(row.dtypes),
                    f"{row.us:g}",
                    operations if row.operations else "",
                ]
            )


def _row(fields: dict[str, str]) -> Row:
    operations = json.loads(fields["ops"]) if fields["ops"] else []
    return Row(
        suite=fields["suite"],
        name=fields["name"],
        alias=fields["alias"],
        machine=fields["machine"],
        shapes=tuple(map(tuple, json.loads(fields["shapes"]))),
        dtypes=tuple(fields["dtypes"].split()),
        us=float(fields["us"]),
        operations=tuple(map(_unpacked, operations)),
    )


def _packed(entry: EagerOp) -> list[object]:
    tensors = [[_short(tensor) for tensor in side] for side in (entry.inputs, entry.outputs)]
    return [entry.op.removeprefix("aten."), *tensors, entry.args, entry.count]


def _unpacked(packed: list[object]) -> EagerOp:
    op, inputs, outputs, args, count = packed
    assert isinstance(inputs, list)
    assert isinstance(outputs, list)
    fields = {
        "op": f"aten.{op}",
        "inputs": list(map(_long, inputs)),
        "outputs": list(map(_long, outputs)),
        "args": args,
        "count": count,
    }
    return msgspec.convert(fields, EagerOp)


def _short(tensor: EagerTensor) -> str:
    shape = ",".join(map(str, tensor.shape))
    return f"{tensor.dtype}[{shape}]" + ("" if tensor.contiguous else "*")


def _long(text: str) -> dict[str, object]:
    dtype, _, rest = text.partition("[")
    extents = rest.rstrip("]*")
    shape = [int(extent) for extent in extents.split(",")] if extents else []
    return {"shape": shape, "dtype": dtype, "contiguous": not text.endswith("*")}
