# SPDX-License-Identifier: Apache-2.0
"""Whether a result is right: near what PyTorch computes, or near the exact value.

The element type's tolerance is meant for values around one. A result whose values are all tiny is
held to a tolerance of their size, or a kernel that writes zeros would pass. Where PyTorch itself is
off (a sum that cancels), a kernel may be off as much: its distance from the result in double
precision is the measure. And sums of float32 that nearly cancel are held to 32 units in the last
place of the tensor's largest value, whichever order they were added in.
"""

from __future__ import annotations

import numpy as np

from npuforge.dtypes import AnyArray, HostTensor, encode
from npuforge.twin.numerics import Comparison, Tolerance, compare, tolerance_for

_LEAST_SCALE = 1e-25
_NOISE = 4.0
_UNITS = 32 * 2.0**-23  # of the largest value, in float32


def judge(
    got: HostTensor, want: HostTensor, golden: HostTensor | None, unwritten: int = 0
) -> Comparison:
    """Compare `got` with PyTorch's result `want` and the result in double precision.

    Type and shape are those of `want`, and so are tolerances: the one who is judged chooses none.
    """
    alike = got.dtype == want.dtype and got.shape == want.shape
    if not alike or want.dtype.kind != "float" or want.data.size == 0:
        return compare(got, want, unwritten=unwritten)
    tolerance = tolerance_for(want.dtype)
    torch_says = want.values().astype(np.float64)
    noise = 0.0
    reference = want
    if golden is not None:
        exact = encode(golden.values(), want.dtype).values().astype(np.float64)
        with np.errstate(all="ignore"):
            apart = np.abs(torch_says - golden.values())
        finite = apart[np.isfinite(apart)]
        noise = _NOISE * float(np.median(finite)) if finite.size else 0.0
        reference = encode(nearest(got, torch_says, exact), want.dtype)
    if want.dtype.name == "float32":
        noise = max(noise, _UNITS * _largest(torch_says))
    allowed = Tolerance(tolerance.rtol, tolerance.atol * _scale(torch_says) + noise)
    return compare(got, reference, tolerance=allowed, unwritten=unwritten)


def nearest(got: HostTensor, first: AnyArray, second: AnyArray) -> AnyArray:
    """Of two references, for each element, the one that the result is nearer to."""
    value = got.values().astype(np.float64)
    with np.errstate(all="ignore"):
        closer = np.abs(value - second) < np.abs(value - first)
    same = (value == second) | (np.isnan(value) & np.isnan(second))
    return np.where(closer | same, second, first)


def _scale(want: AnyArray) -> float:
    return min(1.0, max(_largest(want), _LEAST_SCALE))


def _largest(want: AnyArray) -> float:
    size = np.abs(want)
    return float(size[np.isfinite(size)].max(initial=0.0))
