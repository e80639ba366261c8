# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: a case's inputs by CANN Bench's rules, number for number.

One generator, seeded by the case, serves all inputs in order. Floating values are uniform over the
range, drawn in double precision; whole numbers are uniform with both ends; a range of infinities or
not-a-number mixes them into values within one. Tensors in lists have ranges only where the suite
nests the ranges as deep as the shapes: it then draws from the type's default.
"""

from __future__ import annotations

import math
from typing import Any

import torch

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_SPECIAL_SHARE = 20  # one in so many elements at either end is infinite
_DEFAULT = {True: (0.0, 1.0), False: (0, 100)}


def make(shapes: list[Any], dtypes: list[Any], ranges: list[Any], seed: int) -> list[Any]:
    """Tensors, lists of them, and None, in the order of the shapes."""
    generator = torch.Generator(device="cpu")
    generator.manual_seed(seed)
    kinds = dtypes + [dtypes[-1]] * (len(shapes) - len(dtypes)) if dtypes else ["float32"]
    with torch.device("cpu"):
        return _several(shapes, kinds, _for_each(ranges, len(shapes)), generator)


def without_data(shapes: list[Any], dtypes: list[Any]) -> list[Any]:
    """The same on torch's device without data."""
    kinds = dtypes + [dtypes[-1]] * (len(shapes) - len(dtypes)) if dtypes else ["float32"]
    found: list[Any] = []
    for shape, kind in zip(shapes, kinds, strict=False):
        if not shape:
            found += [None] if shape is None else []
        elif isinstance(shape[0], int):
            found.append(torch.empty(shape, dtype=_dtype(_first(kind)), device="meta"))
        else:
            inner = kind if isinstance(kind, list) else [kind]
            found.append(without_data(shape, inner))
    return found


def _for_each(ranges: list[Any], count: int) -> list[Any]:
    if not ranges:
        return [None] * count
    if not isinstance(ranges[0], list):
        return [ranges] * count
    return ranges + [ranges[-1]] * (count - len(ranges))


def _several(
    shapes: list[Any], dtypes: list[Any], ranges: list[Any], generator: torch.Generator
) -> list[Any]:
    found: list[Any] = []
    for place, shape in enumerate(shapes):
        kind = dtypes[place]
        span = ranges[place]
        if shape is None:
            found.append(None)
        elif shape and isinstance(shape[0], int):
            pair = isinstance(span, list) and len(span) == 2 and not isinstance(span[0], list)
            found.append(tensor(shape, _first(kind), span if pair else None, generator))
        elif shape and shape[0] and isinstance(shape[0][0], int):
            found.append(_listed(shape, kind, span, generator))
    return found


def _listed(shapes: list[Any], kinds: Any, spans: Any, generator: torch.Generator) -> list[Any]:
    """A list of tensors. A plain pair is no range for its members: they take the default."""
    plain = isinstance(spans, list) and len(spans) == 2 and isinstance(spans[0], int | float)
    own = spans if isinstance(spans, list) and not plain else None
    found = []
    for place, shape in enumerate(shapes):
        kind = kinds[place] if isinstance(kinds, list) and place < len(kinds) else kinds
        span = own[place] if own and place < len(own) else own
        found.append(tensor(shape, _first(kind), span, generator))
    return found


def tensor(shape: Any, kind: str, span: Any, generator: torch.Generator) -> Any:
    """One input; None where its shape is open."""
    if None in shape:
        return None
    low, high = _ends(span, kind)
    if kind in _FLOATS:
        return _floating(shape, _dtype(kind), low, high, generator)
    if kind == "bool":
        least, most = sorted((min(1, max(0, int(low))), min(1, max(0, int(high)))))
        if least == most:
            return torch.full(shape, bool(least), dtype=torch.bool)
        drawn = torch.randint(least, most + 1, shape, generator=generator, dtype=torch.int64)
        return drawn.to(torch.bool)
    if low == high:
        return torch.full(shape, int(low), dtype=_dtype(kind))
    return torch.randint(int(low), int(high) + 1, shape, generator=generator, dtype=_dtype(kind))


def _ends(span: Any, kind: str) -> tuple[Any, Any]:
    if span is None:
        return _DEFAULT[kind in _FLOATS]
    if isinstance(span, list) and span:
        return span[0], span[1] if len(span) > 1 else span[0]
    return span, span


def _floating(
    shape: list[int], dtype: torch.dtype, low: Any, high: Any, generator: torch.Generator
) -> torch.Tensor:
    special = isinstance(low, str) or isinstance(high, str)
    low, high = float(low), float(high)
    if special or not math.isfinite(low) or not math.isfinite(high):
        return _special(shape, dtype, low, high, generator)
    if low == high:
        return torch.full(shape, low, dtype=dtype)
    ends = torch.finfo(dtype)
    low, high = max(low, ends.min), min(high, ends.max)
    drawn = torch.rand(shape, dtype=torch.float64, generator=generator)
    return drawn.mul_(high - low).add_(low).clamp_(ends.min, ends.max).to(dtype)


def _special(
    shape: list[int], dtype: torch.dtype, low: float, high: float, generator: torch.Generator
) -> torch.Tensor:
    values = torch.rand(shape, dtype=torch.float32, generator=generator).mul_(2).sub_(1).to(dtype)
    if math.isnan(low) and math.isnan(high):
        values[torch.rand(shape, dtype=torch.float32, generator=generator) < 0.5] = math.nan
        return values
    if low == -math.inf or high == math.inf:
        flat = values.view(-1)
        some = max(1, flat.numel() // _SPECIAL_SHARE)
        flat[:some] = -math.inf
        flat[-some:] = math.inf
    return values


def _first(kind: Any) -> str:
    while isinstance(kind, list):
        kind = kind[0] if kind else "float32"
    return str(kind).lower()


def _dtype(kind: str) -> torch.dtype:
    found = getattr(torch, kind, None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"no element type {kind!r}")
    return found
