# SPDX-License-Identifier: Apache-2.0
"""The two judgements on one call: the suite's, and ours.

Both take the element types and shapes of the reference, and tolerances from its types alone. A
result of another type is wrong, as it is for `torch.allclose`, which refuses to compare it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npuforge.bench.modules.checks import Check
from npuforge.bench.modules.protocol import ModuleProtocol, Tolerance
from npuforge.bench.settings import Settings
from npuforge.dtypes import AnyArray, HostTensor, encode
from npuforge.generate.judge import judge, nearest
from npuforge.twin.numerics import mismatch_of
from npuforge.verdict import Case

Tensors = Sequence[HostTensor]


def close(
    want: HostTensor, got: HostTensor, allowed: Tolerance, *, equal_nan: bool = False
) -> bool:
    """Tell what `torch.allclose(want, got)` does: near in every element, relative to `got`."""
    if mismatch_of([got], [want]) is not None:
        return False
    first, second = want.values(), got.values()
    if want.dtype.name == "bool":
        return bool(np.array_equal(first, second))
    if want.dtype.kind == "complex":
        first, second = _parts(first), _parts(second)
    first, second = first.astype(np.float64), second.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(first - second)
        near = np.isfinite(apart) & (apart <= allowed.atol + allowed.rtol * np.abs(second))
    same = first == second
    if equal_nan:
        same |= np.isnan(first) & np.isnan(second)
    return bool((near | same).all())


def published_case(
    check: Check,
    inputs: Tensors,
    want: Tensors,
    golden: Sequence[HostTensor | None],
    got: Tensors,
    protocol: ModuleProtocol,
    settings: Settings,
) -> Case:
    """By the suite's own check."""
    problem = _mismatch(want, got)
    if problem is None:
        for place, (reference, result) in enumerate(zip(want, got, strict=True)):
            exact = golden[place] if protocol.exact and place < len(golden) else None
            if exact is not None:
                reference = _nearest(result, reference, exact)
            allowed = protocol.tolerance(settings, reference.dtype.name)
            if not close(reference, result, allowed, equal_nan=protocol.equal_nan):
                problem = f"result {place} differs"
                break
    return _case(check, inputs, want, got, problem)


def strict_case(
    check: Check,
    inputs: Tensors,
    want: Tensors,
    golden: Sequence[HostTensor | None],
    got: Tensors,
) -> Case:
    """Ours: errors against the size of the results, and against what is exact."""
    problem = _mismatch(want, got)
    if problem is None:
        for place, reference in enumerate(want):
            exact = golden[place] if place < len(golden) else None
            found = judge(got[place], reference, exact)
            if not found.correct:
                problem = f"result {place}: {found.summary}"
                break
    return _case(check, inputs, want, got, problem)


def _nearest(got: HostTensor, want: HostTensor, exact: HostTensor) -> HostTensor:
    """For each element PyTorch's result or the exact one, rounded."""
    rounded = encode(exact.values(), want.dtype)
    first, second = (tensor.values().astype(np.float64) for tensor in (want, rounded))
    return encode(nearest(got, first, second), want.dtype)


def _mismatch(want: Tensors, got: Tensors) -> str | None:
    return mismatch_of(got, want) if got else "no result"


def _parts(values: AnyArray) -> AnyArray:
    """Real and imaginary parts beside each other."""
    return np.stack([values.real, values.imag], axis=-1)


def _case(check: Check, inputs: Tensors, want: Tensors, got: Tensors, problem: str | None) -> Case:
    absolute, relative = _errors(want, got) if _mismatch(want, got) is None else (None, None)
    return Case(
        [list(tensor.shape) for tensor in inputs],
        [tensor.dtype.name for tensor in inputs],
        problem is None,
        absolute,
        relative,
        f"{check.name}: {problem}" if problem else check.name,
    )


def _errors(want: Tensors, got: Tensors) -> tuple[float | None, float | None]:
    absolute, relative = 0.0, 0.0
    for reference, result in zip(want, got, strict=True):
        first, second = _numbers(reference), _numbers(result)
        with np.errstate(all="ignore"):
            apart = np.where(first == second, 0.0, np.abs(first - second))
            share = apart / (np.abs(first) + 1e-7)
        absolute = max(absolute, float(apart.max(initial=0.0)))
        relative = max(relative, float(share.max(initial=0.0)))
    return _finite(absolute), _finite(relative)


def _numbers(tensor: HostTensor) -> AnyArray:
    values = tensor.values()
    return _parts(values) if tensor.dtype.kind == "complex" else values.astype(np.float64)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
