# SPDX-License-Identifier: Apache-2.0
"""Whole programs in the interpreter: scalars, loops, memory, several cores, and what goes wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.tile import read_program
from npuforge.tile.interpret import interpret
from npuforge.tile.source import TileError

from .one_op import Array


def run(text: str, inputs: dict[str, Any], attributes: Any = None) -> dict[str, Array]:
    found = interpret(read_program(text), inputs, attributes)
    return {name: tensor.data for name, tensor in found.items()}


def program(
    body: str,
    cores: str = "1",
    host: str = "    n = x.numel()",
    size: str = "x.numel()",
    more: str = "",
) -> str:
    """A program over x and y of float32; `body` stands in the kernel, after buffers a and b."""
    return (
        "@ascend_kernel\n"
        "def work(x, y, n):\n"
        "    a = tl.alloc_ub(64, dtype=tl.float32)\n"
        "    b = tl.alloc_ub(64, dtype=tl.float32)\n"
        + "".join(f"    {line}\n" for line in body.splitlines())
        + "\n\n"
        f"def work_host(x: tl.input(tl.float32), y: tl.output(tl.float32, ({size},)){more}):\n"
        f"{host}\n"
        f"    work[{cores}](x, y, n)\n"
    )


COPY = """\
with tl.copyin():
    tl.load(x, a[:n])
with tl.copyout():
    tl.store(y, a[:n])"""


def test_arrays_torch_and_host_tensors_are_inputs() -> None:
    x = np.arange(5, dtype=np.float32)
    for given in (x, torch.from_numpy(x), HostTensor.of(x)):
        np.testing.assert_array_equal(run(program(COPY), {"x": given})["y"], x)


def test_inputs_stay_as_they_are() -> None:
    text = program(COPY).replace("x: tl.input(tl.float32)", "x: tl.inout(tl.float32)")
    text = text.replace("tl.store(y, a[:n])", "tl.store(y, a[:n])\n        tl.store(x + 1, a[:1])")
    x = np.arange(5, dtype=np.float32)
    found = run(text, {"x": x})
    assert list(x) == [0, 1, 2, 3, 4]
    assert list(found["x"]) == [0, 0, 2, 3, 4]


@pytest.mark.parametrize(
    ("inputs", "attributes", "message"),
    [
        ({}, {}, "input 'x' is missing"),
        ({"x": np.zeros(3, np.float64)}, {}, "float64, not float32"),
        ({"x": np.zeros(3, np.float32), "z": np.zeros(3)}, {}, "no input 'z'"),
        ({"x": np.zeros(3, np.float32)}, {"k": 1}, "no attribute 'k'"),
    ],
)
def test_wrong_arguments(inputs: Any, attributes: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(program(COPY), inputs, attributes)


@pytest.mark.parametrize(
    ("type_", "value"), [("int", 1.5), ("int", True), ("bool", 1), ("float", "1"), ("float", None)]
)
def test_wrong_attributes(type_: str, value: Any) -> None:
    text = program(COPY, more=f", k: tl.attr({type_})")
    with pytest.raises(UsageError, match="attribute 'k'"):
        run(text, {"x": np.zeros(3, np.float32)}, {} if value is None else {"k": value})


def test_a_condition_that_does_not_hold() -> None:
    text = program(COPY, host='    n = x.numel()\n    tl.require(n < 3, "at most two")')
    with pytest.raises(UsageError, match="work: at most two"):
        run(text, {"x": np.zeros(3, np.float32)})


def test_another_number_of_dimensions() -> None:
    text = program(COPY, host="    n, m = x.shape")
    with pytest.raises(UsageError, match="needs 2 dimensions"):
        run(text, {"x": np.zeros(3, np.float32)})


def test_scalars_of_loops_and_branches() -> None:
    body = """\
total = 0
for i in range(3, n, 2):
    if i % 3 == 0:
        step = i
    else:
        step = -1
    for j in range(2):
        total += step * (j + 1)
with tl.compute():
    tl.fill(a[:1], float(total))
with tl.copyout():
    tl.store(y, a[:1])"""
    total = sum((i if i % 3 == 0 else -1) * (j + 1) for i in range(3, 20, 2) for j in range(2))
    found = run(program(body, size="1"), {"x": np.zeros(20, np.float32)})
    assert found["y"][0] == total


def test_scalars_of_tiles_are_carried_along() -> None:
    body = """\
best = -1.0
with tl.copyin():
    tl.load(x, a[:n])
    last = tl.load_scalar(x + n - 1)
with tl.compute():
    for i in range(n):
        value = tl.extract_scalar(a, i)
        best = max(best, value)
    tl.fill(b, best)
    tl.insert_scalar(b, 1, last * 0.1)
with tl.copyout():
    tl.store(y, b[:2])"""
    x = np.array([3, 9, 4, 7], np.float32)
    found = run(program(body, size="2"), {"x": x})["y"]
    assert list(found) == [9, np.float32(7) * np.float32(0.1)]


def test_kernel_floats_are_float32_and_host_floats_are_not() -> None:
    body = """\
third = 1.0 / 3.0 * n
with tl.compute():
    tl.fill(a[:1], (third - 0.1) * 1000.0)
with tl.copyout():
    tl.store(y, a[:1])"""
    f = np.float32
    found = run(program(body, size="1"), {"x": np.zeros(7, f)})["y"][0]
    third = f(1 / 3) * f(7)
    assert found == (third - f(0.1)) * f(1000)
    text = program(COPY, size="k", more="", host="    n = k").replace(
        "y: tl.output", "k: tl.attr(int), y: tl.output"
    )
    assert run(text, {"x": np.ones(9, f)}, {"k": 4})["y"].shape == (4,)


def test_strided_moves_of_two_and_three_dimensions() -> None:
    text = """
@ascend_kernel
def work(x, y):
    t = tl.alloc_ub((2, 3, 4), dtype=tl.float32)
    with tl.copyin():
        tl.load(x + 1, t, stride=(30, 6))
    with tl.copyout():
        tl.store(y, t[1, :, :2], stride=2)
        tl.store(y + 6, t[:, 0, :], stride=4)


def work_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (14,))):
    work[1](x, y)
"""
    x = np.arange(60, dtype=np.float32)
    found = run(text, {"x": x})["y"]
    assert list(found[:6]) == [31, 32, 37, 38, 43, 44]
    assert list(found[6:]) == [1, 2, 3, 4, 31, 32, 33, 34]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("cores", ["1", "7", "tl.num_cores()"])
def test_tails_on_many_cores(count: int, cores: str) -> None:
    body = """\
per_core = tl.cdiv(n, tl.num_programs(0))
first = tl.program_id(0) * per_core
count = min(per_core, n - first)
for t in range(tl.cdiv(count, 64)):
    k = min(64, count - t * 64)
    with tl.copyin():
        tl.load(x + first + t * 64, a[:k])
    with tl.compute():
        tl.mul(b[:k], a[:k], 2.0)
    with tl.copyout():
        tl.store(y + first + t * 64, b[:k])"""
    x = np.arange(count, dtype=np.float32)
    np.testing.assert_array_equal(run(program(body, cores), {"x": x})["y"], 2 * x)


TWO_STEPS = """
@ascend_kernel
def part(x, sums, n):
    a = tl.alloc_ub(n, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    with tl.copyin():
        tl.load(x + tl.program_id(0) * n, a)
    with tl.compute():
        tl.reduce_sum(one[:1], a)
    with tl.copyout():
        tl.store(sums + tl.program_id(0), one[:1])


@ascend_kernel
def whole(sums, y, n):
    a = tl.alloc_ub(n, dtype=tl.float32)
    one = tl.alloc_ub(8, dtype=tl.float32)
    with tl.copyin():
        tl.load(sums, a)
    with tl.compute():
        tl.reduce_sum(one[:1], a)
    with tl.copyout():
        tl.store(y, one[:1])


def sums_host(x: tl.input(tl.float32), y: tl.output(tl.float32, (1,)), split: tl.attr(bool, True)):
    n, m = x.shape
    if split:
        cores = n
    else:
        cores = 1
    sums = tl.workspace((cores,), tl.float32)
    part[cores](x, sums, x.numel() // cores)
    whole[1](sums, y, cores)
"""


@pytest.mark.parametrize("split", [True, False])
def test_two_kernels_and_a_workspace(split: bool) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert run(TWO_STEPS, {"x": x}, {"split": split})["y"][0] == 66


ATOMIC = """
@ascend_kernel
def clear(y):
    a = tl.alloc_ub(4, dtype=tl.DTYPE)
    with tl.compute():
        tl.fill(a, 1)
    with tl.copyout():
        tl.store(y, a)


@ascend_kernel
def work(x, y):
    a = tl.alloc_ub(4, dtype=tl.DTYPE)
    with tl.copyin():
        tl.load(x + tl.program_id(0) * 4, a)
    with tl.copyout():
        tl.store(y, a, atomic="OP")


def work_host(x: tl.input(tl.DTYPE), y: tl.output(tl.DTYPE, (4,))):
    clear[1](y)
    work[5](x, y)
"""


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int16"])
@pytest.mark.parametrize(
    ("op", "function"), [("add", np.add), ("max", np.maximum), ("min", np.minimum)]
)
def test_atomic_stores(dtype: str, op: str, function: np.ufunc) -> None:
    x = np.arange(-10, 10).astype(dtype)
    found = run(ATOMIC.replace("DTYPE", dtype).replace("OP", op), {"x": x})["y"]
    np.testing.assert_array_equal(found, function.reduce(x.reshape(5, 4), initial=1))


def test_rows_may_meet_in_an_atomic_store() -> None:
    text = ATOMIC.replace("DTYPE", "float32").replace("OP", "add")
    text = text.replace("tl.load(x + tl.program_id(0) * 4, a)", "tl.load(x, t, stride=4)")
    text = text.replace(
        "def work(x, y):", "def work(x, y):\n    t = tl.alloc_ub((5, 4), tl.float32)"
    )
    text = text.replace('tl.store(y, a, atomic="add")', 'tl.store(y, t, stride=0, atomic="add")')
    x = np.arange(20, dtype=np.float32)
    found = run(text.replace("work[5]", "work[1]"), {"x": x})["y"]
    np.testing.assert_array_equal(found, 1 + x.reshape(5, 4).sum(0))


# ---- what goes wrong ----------------------------------------------------------------------------
WRONG = {
    "unwritten buffer": ("TL-13", 6, "with tl.compute():\n    tl.exp(b[:n], a[:n])"),
    "partly written": (
        "TL-13",
        8,
        "with tl.copyin():\n    tl.load(x, a[:2])\nwith tl.compute():\n    tl.exp(b[:n], a[:n])",
    ),
    "unwritten scalar": ("TL-13", 6, "with tl.compute():\n    q = tl.extract_scalar(a, 3)"),
    "unwritten output": ("TL-13", 6, "with tl.copyin():\n    tl.load(y, a[:n])"),
    "beyond the buffer": ("TL-16", 6, "with tl.copyin():\n    tl.load(x, a[:n + 60])"),
    "before the buffer": ("TL-16", 6, "with tl.copyin():\n    tl.load(x, a[:n - 9])"),
    "filled before the buffer": ("TL-16", 6, "with tl.compute():\n    tl.fill(a[:n - 9], 0.0)"),
    "element outside": ("TL-16", 6, "with tl.compute():\n    tl.insert_scalar(a, n + 64, 1.0)"),
    "beyond the tensor": ("TL-16", 6, "with tl.copyin():\n    tl.load(x + 1, a[:n])"),
    "before the tensor": ("TL-16", 6, "with tl.copyin():\n    tl.load(x - n, a[:n])"),
    "store outside": (
        "TL-16",
        8,
        "with tl.compute():\n    tl.fill(a, 0.0)\nwith tl.copyout():\n    tl.store(y, a[:64])",
    ),
    "scalar outside": ("TL-16", 6, "with tl.copyin():\n    q = tl.load_scalar(x + n)"),
    "division by zero": ("TL-05", 5, "q = 1 // (n - 5)"),
    "step of zero": ("TL-05", 5, "q = tl.cdiv(1, n - 5)"),
    "overflow": ("TL-14", 6, "q = n * 1000000007\nr = q * q * q"),
    "scalar too large": (
        "TL-14",
        7,
        "i = tl.alloc_ub(8, dtype=tl.int16)\nwith tl.compute():\n    tl.fill(i, n * 10000)",
    ),
    "nothing stored": ("TL-19", 8, "pass"),
}


@pytest.mark.parametrize(("rule", "line", "body"), WRONG.values(), ids=WRONG)
def test_rules_broken_at_run_time(rule: str, line: int, body: str) -> None:
    with pytest.raises(TileError) as caught:
        run(program(body), {"x": np.zeros(5, np.float32)})
    found = caught.value.findings[0]
    assert (found.rule, found.span.line) == (rule, line)


def test_launches_need_cores() -> None:
    with pytest.raises(TileError, match=r"TL-18.*0 cores"):
        run(program(COPY, cores="n - 5"), {"x": np.zeros(5, np.float32)})


RACES = {
    "two cores write one element": "with tl.compute():\n    tl.fill(a, 1.0)\n"
    "with tl.copyout():\n    tl.store(y, a[:n])",
    "a core reads what another writes": "with tl.compute():\n    tl.fill(a, 1.0)\n"
    "with tl.copyout():\n    tl.store(y + tl.program_id(0), a[:1])\n"
    "with tl.copyin():\n    tl.load(y, b[:1])",
}


@pytest.mark.parametrize("body", RACES.values(), ids=RACES)
def test_cores_that_meet_are_an_error(body: str) -> None:
    with pytest.raises(TileError, match=r"TL-20"):
        run(program(body, cores="3"), {"x": np.zeros(3, np.float32)})


def test_an_atomic_store_needs_a_value_there() -> None:
    text = ATOMIC.replace("DTYPE", "float32").replace("OP", "add").replace("    clear[1](y)\n", "")
    text = text[text.index("@ascend_kernel\ndef work") :]
    with pytest.raises(TileError, match="TL-13"):
        run(text, {"x": np.zeros(20, np.float32)})


def test_plain_and_atomic_stores_do_not_mix() -> None:
    body = (
        "with tl.compute():\n    tl.fill(a, 1.0)\n"
        "with tl.copyout():\n"
        "    if tl.program_id(0) == 0:\n        tl.store(y, a[:n])\n"
        '    else:\n        tl.store(y, a[:n], atomic="add")'
    )
    with pytest.raises(TileError, match="TL-20"):
        run(program(body, cores="2"), {"x": np.zeros(3, np.float32)})
