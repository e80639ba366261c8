# SPDX-License-Identifier: Apache-2.0
"""Outputs that are places in an input: judged by what they point to, so that ties may fall anyhow.

An operator says of such an output which input it points into, along which axis, and what must be
found there: the values of another output, or the largest or least along the axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

_REDUCED = {"amax": torch.amax, "amin": torch.amin}


def problem(
    outputs: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Any],
    given: Sequence[Any],
) -> str | None:
    """What is wrong with the first such output that does not point to what it should."""
    places = {str(output["name"]): number for number, output in enumerate(outputs)}
    for number, output in enumerate(outputs):
        rule = output.get("index_gather")
        if not rule:
            continue
        source = inputs.get(rule.get("input"))
        axis = attributes.get(rule.get("dim_attr", "dim"))
        if not isinstance(source, torch.Tensor) or axis is None or number >= len(given):
            return f"{output['name']}: the input or the axis it points along is missing"
        places_given = given[number]
        if rule.get("value_reduce"):
            wanted, places_given = _extremes(rule, source, axis, attributes, places_given)
        else:
            wanted = given[places[rule["value_output"]]]
        said = _pointing(source, int(axis), places_given, wanted)
        if said is not None:
            return f"{output['name']}: {said}"
    return None


def _extremes(
    rule: Mapping[str, Any],
    source: torch.Tensor,
    axis: int,
    attributes: Mapping[str, Any],
    places: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    wanted = _REDUCED[rule["value_reduce"]](source, dim=axis, keepdim=True)
    kept = rule.get("keepdim_attr") is not None and attributes.get(rule["keepdim_attr"], False)
    if not kept and places.dim() == source.dim() - 1:
        places = places.unsqueeze(axis)
    return wanted, places


def _pointing(
    source: torch.Tensor, axis: int, places: torch.Tensor, wanted: torch.Tensor
) -> str | None:
    if places.shape != wanted.shape:
        return f"its shape is {list(places.shape)}, not {list(wanted.shape)}"
    index = places.to(torch.int64)
    if index.numel() == 0:
        return None
    if int(index.min()) < 0 or int(index.max()) >= source.size(axis):
        return "it points outside of the input"
    found = torch.gather(source, axis, index).to(wanted.dtype)
    same = found == wanted
    if found.is_floating_point():
        same |= found.isnan() & wanted.isnan()
    wrong = int((~same).sum())
    return f"{wrong} of {same.numel()} places point to another value" if wrong else None
