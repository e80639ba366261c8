# SPDX-License-Identifier: Apache-2.0
"""Operations with kernels of their own, one module each; `WRITERS` says who writes which.

A writer gets the operation, its arguments and results as tensors in global memory, a name that no
other kernel of the program has, and example values of the symbols. It answers with launches.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from npuforge.plan.launch import Launch
from npuforge.plan.values import Special, Tensor


@dataclass(frozen=True, slots=True)
class Job:
    """What a writer gets. `workspace` makes a temporary tensor in global memory."""

    special: Special
    args: Sequence[Tensor]
    results: Sequence[Tensor]
    name: str
    example: Mapping[str, int]
    workspace: Callable[..., Tensor]


Writer = Callable[[Job], list[Launch]]

WRITERS: dict[str, Writer] = {}


def writes(op: str) -> Callable[[Writer], Writer]:
    """Register the writer of an operation."""

    def register(function: Writer) -> Writer:
        WRITERS[op] = function
        return function

    return register


def writer_of(special: Special) -> Writer:
    """The operation's writer; modules of writers are imported when first asked for."""
    if special.op not in WRITERS:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")
    return WRITERS[special.op]
