# SPDX-License-Identifier: Apache-2.0
"""Conversion between element types, with the rounding modes of the hardware.

A number is rounded once, by the mode; `none` rounds floats to the nearest, ties to even, and makes
whole numbers by dropping the fraction. Whole numbers that do not fit are clipped, NaN becomes 0,
floats overflow to infinity as IEEE 754 has it. Whole numbers become float16 or bfloat16 by way of
float32.
"""

from __future__ import annotations

import numpy as np

from npuforge.dtypes import AnyArray, DType


def cast(values: AnyArray, source: DType, target: DType, mode: str) -> AnyArray:
    """`values` of type `source`, in their storage form, as `target`."""
    if source == target and (mode == "none" or source.kind != "float"):
        return values.copy()
    if target.kind == "bool":
        return np.asarray(widened(values, source) != 0)
    if source.kind != "float":
        if target.kind != "float":
            return _clipped(values, target)
        return _narrowed(_float_of_whole(values, mode), target, mode)
    wide = widened(values, source)
    if target.kind != "float":
        return _whole_of_float(wide, target, mode)
    if source == target:
        return _narrowed(_integral(wide.astype(np.float64), mode).astype(np.float32), target, mode)
    return _narrowed(wide, target, mode)


def widened(values: AnyArray, source: DType) -> AnyArray:
    """Half-width floats as float32; everything else as it is."""
    if source.name == "bfloat16":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.astype(np.float32) if source.name == "float16" else values


def _integral(values: AnyArray, mode: str) -> AnyArray:
    match mode:
        case "floor":
            whole = np.floor(values)
        case "ceil":
            whole = np.ceil(values)
        case "trunc":
            whole = np.trunc(values)
        case "round":
            whole = np.trunc(values + np.copysign(0.5, values))
        case _:
            whole = np.rint(values)
    return np.asarray(whole)


def _whole_of_float(values: AnyArray, target: DType, mode: str) -> AnyArray:
    limits = np.iinfo(target.array_type)
    known = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30)
    whole = _integral(known, "trunc" if mode == "none" else mode)
    over, under = whole >= float(limits.max), whole <= float(limits.min)
    inside = np.where(over | under, 0.0, whole).astype(target.array_type)
    clipped = np.where(over, limits.max, np.where(under, limits.min, inside))
    return np.asarray(clipped, target.array_type)


def _clipped(values: AnyArray, target: DType) -> AnyArray:
    limits = np.iinfo(target.array_type)
    if values.dtype == np.bool_:
        return values.astype(target.array_type)
    own = np.iinfo(values.dtype)
    low, high = max(int(limits.min), int(own.min)), min(int(limits.max), int(own.max))
    return np.clip(values, low, high).astype(target.array_type)


def _dropped(magnitude: AnyArray, drop: AnyArray, negative: AnyArray, mode: str) -> AnyArray:
    """magnitude / 2**drop, rounded; all are uint64."""
    one = np.uint64(1)
    kept = magnitude >> drop
    rest = magnitude & ((one << drop) - one)
    tie = np.where(drop == 0, one, one << (np.maximum(drop, one) - one))
    match mode:
        case "floor":
            up = negative & (rest != 0)
        case "ceil":
            up = ~negative & (rest != 0)
        case "trunc":
            up = np.zeros_like(negative)
        case "round":
            up = rest >= tie
        case "odd":
            up = (rest != 0) & (kept & one == 0)
        case _:
            up = (rest > tie) | ((rest == tie) & (kept & one == 1))
    return np.asarray(kept + up.astype(np.uint64))


def _float_of_whole(values: AnyArray, mode: str) -> AnyArray:
    """Whole numbers as float32; those with more than 24 bits are rounded by the mode."""
    if mode in ("none", "rint") or values.dtype.itemsize < 4:
        return values.astype(np.float32)
    negative = values < 0
    unsigned = values.astype(np.uint64)
    magnitude = np.where(negative, np.uint64(0) - unsigned, unsigned)
    bits = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
    # A number just below a power of two was rounded up to it.
    short = (magnitude >> np.maximum(bits - 1, 0).astype(np.uint64)) == 0
    drop = np.maximum(bits - short - 24, 0)
    kept = _dropped(magnitude, drop.astype(np.uint64), negative, mode).astype(np.float64)
    return np.asarray(np.ldexp(np.where(negative, -kept, kept), drop), np.float32)


def _narrowed(values: AnyArray, target: DType, mode: str) -> AnyArray:
    """float32 as a float type of the same or half the width."""
    if target.name == "float32":
        return values.astype(np.float32)
    if target.name == "float16" and mode in ("none", "rint"):
        return values.astype(np.float16)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    negative = bits >> np.uint64(31) != 0
    magnitude = bits & np.uint64(0x7FFFFFFF)
    sign = (bits >> np.uint64(16)) & np.uint64(0x8000)
    if target.name == "bfloat16":
        kept = _dropped(magnitude, np.full_like(magnitude, 16), negative, mode)
        quiet = (magnitude >> np.uint64(16)) | np.uint64(0x40)
        return (sign | np.where(magnitude > 0x7F800000, quiet, kept)).astype(np.uint16)
    return (sign | _half(magnitude, negative, mode)).astype(np.uint16).view(np.float16)


def _half(magnitude: AnyArray, negative: AnyArray, mode: str) -> AnyArray:
    """Bits of float16, without the sign, from those of float32."""
    exponent = (magnitude >> np.uint64(23)).astype(np.int64) - 127
    normal = exponent >= -14
    drop = np.where(normal, 13, np.minimum(40, -1 - exponent)).astype(np.uint64)
    fraction = (magnitude & np.uint64(0x7FFFFF)) | np.uint64(0x800000)
    significand = np.where(magnitude >= 0x800000, fraction, magnitude)
    base = np.where(normal, (exponent + 14) << 10, 0).astype(np.uint64)
    rounded = base + _dropped(significand, drop, negative, mode)
    outward = (negative & (mode == "floor")) | (~negative & (mode == "ceil")) | (mode == "round")
    too_large = np.where(outward, 0x7C00, 0x7BFF)
    rounded = np.where(magnitude >= 0x47800000, too_large, rounded)
    rounded = np.where(magnitude == 0x7F800000, 0x7C00, rounded)
    return np.where(magnitude > 0x7F800000, 0x7E00, rounded).astype(np.uint64)
