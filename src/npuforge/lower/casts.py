# SPDX-License-Identifier: Apache-2.0
"""Conversions between element types as sequences of `Cast` instructions."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.lower import library
from npuforge.twin.dtypes import DType, find


@dataclass(frozen=True, slots=True)
class Step:
    """One Cast: to which type, with which rounding."""

    target: DType
    mode: str


def cast_steps(source: DType, target: DType, rounding: str) -> list[Step]:
    """The instructions that convert `source` to `target`."""
    first, last = _device_name(source), _device_name(target)
    if first == last:
        return []
    direct = library.casts().get((first, last))
    if direct is not None:
        return [Step(target, _mode(direct, rounding, source, target))]
    path = library.cast_paths()[first, last]
    stops = [*path.through, last]
    return [
        Step(find(stop), _wanted(mode, rounding, source, target))
        for stop, mode in zip(stops, path.modes, strict=True)
    ]


def _device_name(dtype: DType) -> str:
    return "uint8" if dtype.name == "bool" else dtype.name


def _mode(known: tuple[str, ...], rounding: str, source: DType, target: DType) -> str:
    wanted = _wanted("", rounding, source, target)
    return wanted if wanted in known else known[0]


def _wanted(mode: str, rounding: str, source: DType, target: DType) -> str:
    """`none` means the usual: to the nearest among floats, towards zero from float to integer."""
    if mode:
        return mode
    if rounding != "none":
        return f"CAST_{rounding.upper()}"
    return "CAST_TRUNC" if source.kind == "float" and target.kind != "float" else "CAST_RINT"
