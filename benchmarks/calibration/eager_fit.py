# SPDX-License-Identifier: Apache-2.0
"""Fits the numbers of `src/npuforge/eager/model.toml` to the measured rows that are not held out.

    python benchmarks/calibration/eager_fit.py

Minimises the error of the logarithm, robustly, and stays near the numbers in the file where the
rows say little. Only launch, unit and step costs change; classes, units, operations, and the memory
of the machines are written by hand. Fitting again starts from the last fit.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from eager import held_out, recorded_rows
from npuforge.eager.kernels import kernels
from npuforge.eager.model import memory_us, slowdown
from npuforge.eager.parameters import load

_FILE = Path(__file__).parents[2] / "src/npuforge/eager/model.toml"
_PULL = 0.15  # weight of staying where a number was
# Classes whose rows are bound by the memory of the machine they were measured on, or by launch:
# nothing tells their work from it, and a fit would charge a machine with faster memory for it.
_HELD = ("batch_norm", "clip", "reduce_outer")


def main() -> None:
    parameters = load()
    names = list(parameters.classes)
    rows = [row for row in recorded_rows() if not held_out(row)]
    launches: list[tuple[float, ...]] = []
    for place, row in enumerate(rows):
        machine = parameters.machines[row.machine]
        for entry in row.operations:
            for kernel in kernels(entry, parameters, machine.cores):
                kind = parameters.classes[kernel.kind]
                rate, step = slowdown(kind, parameters, machine)
                memory_time = memory_us(kernel, parameters, machine)
                work = kernel.work * rate
                own = (place, names.index(kind.name), entry.count, work, kernel.steps * step)
                launches.append((*own, memory_time))
    columns = np.array(launches).T
    at, k = columns[0].astype(int), columns[1].astype(int)
    times, work_of, steps_of, memory = columns[2:]
    # a row of one operation says more about it than a row of ten
    weight = np.array([1.0 / len(row.operations) ** 0.5 for row in rows])
    measured = np.log([row.us for row in rows])
    start = np.log(
        [[kind.launch_us, kind.ns, max(kind.step_us, 1e-9)] for kind in parameters.classes.values()]
    ).T.ravel()
    fixed = np.array([name in _HELD for name in names])
    pull = np.where(np.concatenate([fixed, fixed, fixed]), 1e3, _PULL)

    def residuals(logs: np.ndarray) -> np.ndarray:
        launch, ns, step = np.exp(logs).reshape(3, -1)
        own = work_of * ns[k] / 1e3 + steps_of * step[k]
        larger = (memory**4 + own**4) ** 0.25  # smooth, so that the smaller keeps a gradient
        total = np.bincount(at, (launch[k] + larger) * times, len(rows))
        return np.concatenate([weight * (np.log(total) - measured), pull * (logs - start)])

    found = np.exp(least_squares(residuals, start, loss="soft_l1", f_scale=0.2).x)
    text = _FILE.read_text("utf-8")
    launch, ns, step = found.reshape(3, -1)
    for place, kind in enumerate(parameters.classes.values()):
        text = _put(text, f"class.{kind.name}", "launch_us", launch[place])
        text = _put(text, f"class.{kind.name}", "ns", ns[place])
        if kind.step_us:
            text = _put(text, f"class.{kind.name}", "step_us", step[place])
    _FILE.write_text(text, "utf-8")
    print(f"{len(rows)} rows fitted")


def _put(text: str, table: str, key: str, value: float) -> str:
    """The text with one number of one table replaced."""
    pattern = rf"(\[{re.escape(table)}\]\n(?:(?!\n\[).)*?^{key} = )[^\n#]+"
    digits = f"{float(f'{value:.3g}'):g}"
    replaced, times = re.subn(pattern, rf"\g<1>{digits}", text, count=1, flags=re.M | re.S)
    if times != 1:
        raise SystemExit(f"no {key} in [{table}]")
    return replaced


if __name__ == "__main__":
    main()
