# SPDX-License-Identifier: Apache-2.0
"""Seeded faults are reported with a right rule, the kernels they were seeded in are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npuforge import rules
from npuforge.dtypes import AnyArray
from npuforge.twin.execute import RunResult
from npuforge.twin.kernel import Kernel
from npuforge.twin.lint import lint

from . import suite
from .suite import Variant

REQUIRED_SHARE = 0.98
REQUIRED_KINDS = 40

# Kernels whose results are defined to the last bit (sort_groups mixes numbers and index bits).
EXACT = {"add_queue", "tail_pad", "cast_bf16", "atomic_sum", "bind_copy", "sort_groups"}

Results = dict[str, RunResult]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every variant that compiles, run in check mode."""
    folder = tmp_path_factory.mktemp("variants")
    variants = [*suite.clean(), *(f for f in suite.faults() if not f.stops_the_compiler)]
    library = suite.build_together(variants, folder)
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda variant: suite.run(variant, library), variants)
        return {variant.id: result for variant, result in zip(variants, done, strict=True)}


@pytest.mark.parametrize("variant", suite.clean(), ids=lambda v: v.id)
def test_correct_kernel_is_silent_and_right(variant: Variant, results: Results) -> None:
    result = results[variant.id]
    assert result.error is None
    assert suite.reported(result) == set()
    inputs = {t.name: t.data.data for t in variant.launch().inputs if t.data is not None}
    for name, expected in EXPECTED[variant.kernel](inputs).items():
        got = result.outputs[name].reshape(expected.shape)
        if variant.kernel in EXACT:
            assert got.tobytes() == np.ascontiguousarray(expected, got.dtype).tobytes()
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    path = suite.FOLDER / "kernels" / f"{variant.kernel}.cpp"
    assert lint([path], entry=variant.kernel) == []


def test_faults_are_reported_with_a_right_rule(results: Results, tmp_path: Path) -> None:
    missed = []
    seeded = suite.faults()
    for fault in seeded:
        found = (
            refused(fault, tmp_path)
            if fault.stops_the_compiler
            else suite.reported(results[fault.id])
        )
        if not found & set(fault.rules):
            missed.append(f"{fault.id}: wants one of {fault.rules}, got {sorted(found)}")
    share = 1 - len(missed) / len(seeded)
    assert share >= REQUIRED_SHARE, "\n".join(missed)


def test_there_are_enough_kinds_of_faults() -> None:
    seeded = suite.faults()
    assert len({fault.kind for fault in seeded}) >= REQUIRED_KINDS
    assert len({fault.id for fault in seeded}) == len(seeded)
    for fault in seeded:
        assert fault.source() != Variant(fault.kernel).source() or fault.roles or fault.blocks
        for rule in fault.rules:
            rules.get(rule)


def refused(fault: Variant, folder: Path) -> set[str]:
    """Rules named by the lint or the compiler."""
    path = folder / f"{fault.symbol}.cpp"
    path.write_text(fault.source())
    if fault.linted:
        return {finding.rule for finding in lint([path], entry=fault.kernel)}
    build = Kernel.build(path, entry=fault.kernel)
    if build.ok and build.library is not None:
        return suite.reported(suite.run(Variant(fault.kernel), build.library))
    return set(re.findall(r"\[([A-Z]+-\d+)\]", build.log))


def _softmax(x: AnyArray) -> AnyArray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def _square_bf16(bits: AnyArray) -> AnyArray:
    x = (bits.astype(np.uint32) << 16).view(np.float32)
    squared = (x * x).view(np.uint32)
    return ((squared + 0x7FFF + ((squared >> 16) & 1)) >> 16).astype(np.uint16)


def _gather_select(x: AnyArray) -> AnyArray:
    turned = x.reshape(2, 256)[:, ::-1]
    return np.where(turned > 0, turned, np.float32(-1)).reshape(-1)


def _strided(x: AnyArray, s: AnyArray) -> AnyArray:
    rows = x.reshape(32, 2, 64)[:, 0, :] * 2
    return np.asarray(rows * np.repeat(s, 8))


def _sorted_pairs(x: AnyArray) -> AnyArray:
    pairs = np.zeros((256, 2), np.float32)
    for core in range(2):
        for start in range(0, 128, 32):
            group = x[core * 128 + start : core * 128 + start + 32]
            order = np.argsort(-group, kind="stable")
            at = core * 128 + start
            pairs[at : at + 32, 0] = group[order]
            pairs[at : at + 32, 1] = (order + start).astype(np.uint32).view(np.float32)
    return pairs.reshape(-1)


EXPECTED: dict[str, Callable[[dict[str, Any]], dict[str, AnyArray]]] = {
    "add_queue": lambda i: {"z": i["x"] + i["y"]},
    "tail_pad": lambda i: {"y": np.abs(i["x"]) * np.float16(2)},
    "softmax_rows": lambda i: {"y": _softmax(i["x"])},
    "static_pingpong": lambda i: {"y": i["x"] * 3 + 1},
    "cast_bf16": lambda i: {"y": _square_bf16(i["x"])},
    "atomic_sum": lambda i: {"y": i["x"].sum(axis=0)},
    "two_phase": lambda i: {"y": i["x"] - i["x"].mean()},
    "gather_select": lambda i: {"y": _gather_select(i["x"])},
    "strided": lambda i: {"y": _strided(i["x"], i["s"])},
    "counter_mode": lambda i: {"y": i["x"] * np.float32(1.5)},
    "bind_copy": lambda i: {"y": i["x"][:, :24]},
    "sort_groups": lambda i: {"y": _sorted_pairs(i["x"])},
}
