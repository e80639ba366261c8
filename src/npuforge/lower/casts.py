# SPDX-License-Identifier: Apache-2.0
"""Conversions between element types as sequences of `Cast` instructions."""

from __future__ import annotations

from dataclasses import dataclass

from npuforge.dtypes import DType, find
from npuforge.lower import library


@dataclass(frozen=True, slots=True)
class Step:
    """One Cast: to which type, with which rounding."""

    target: DType
    mode: str


def cast_steps(source: DType, target: DType, rounding: str) -> list[Step] | None:
    """The instructions that convert `source` to `target`; an empty list where nothing changes, and
    None where there are no such instructions."""
    first, last = _device_name(source), _device_name(target)
    wanted = _mode(source, target, rounding)
    if first == last and (rounding == "none" or source.kind != "float"):
        return []
    direct = library.casts().get((first, last))
    if direct is not None:
        return [Step(target, wanted if wanted in direct else direct[0])]
    path = library.cast_paths().get((first, last))
    if path is None:
        return None
    stops = [*path.through, last]
    return [
        # CAST_TRUNC in a path marks the step that rounds; the others are exact.
        Step(find(stop), wanted if mode == "CAST_TRUNC" else mode)
        for stop, mode in zip(stops, path.modes, strict=True)
    ]


def _mode(source: DType, target: DType, rounding: str) -> str:
    """`none` is the usual: towards zero from float to integer, to the nearest otherwise."""
    if rounding != "none":
        return f"CAST_{rounding.upper()}"
    return "CAST_TRUNC" if source.kind == "float" and target.kind != "float" else "CAST_RINT"


def _device_name(dtype: DType) -> str:
    return "uint8" if dtype.name == "bool" else dtype.name
