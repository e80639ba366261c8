# SPDX-License-Identifier: Apache-2.0
"""Large transfers: inputs that are read once need no place in the L2 cache.

A tensor larger than a share of the cache only pushes out what others could use again, and reads
that bypass the cache leave the memory's full rate to the writes. A parameter streams when one
statement loads it, every loop around that statement moves on, and the program does not say that the
loads overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

from npuforge.tile.expr import names
from npuforge.tile.facts import Facts
from npuforge.tile.ir import For, If, Kernel, Load, LoadScalar, Stage, Stmt

# Tensors from this share of the cache on are streamed.
CACHE_SHARE = 4


def streamed_parameters(kernel: Kernel) -> list[str]:
    """Names of the parameters that are read once."""
    found: list[str] = []
    for pointer in kernel.pointers:
        if pointer.tensor.role not in ("in", "inout"):
            continue
        sites = _sites(kernel.body, pointer.name, (), kernel.facts)
        if sites == [True]:
            found.append(pointer.name)
    return found


def _sites(body: Sequence[Stmt], name: str, counters: tuple[str, ...], facts: Facts) -> list[bool]:
    """For each load of the tensor: does it move with every loop around it?"""
    found: list[bool] = []
    for statement in body:
        match statement:
            case For(counter=counter, body=inner):
                found += _sites(inner, name, (*counters, counter), facts)
            case If(then=then, orelse=orelse):
                found += _sites(then, name, counters, facts)
                found += _sites(orelse, name, counters, facts)
            case Stage(body=inner):
                found += _sites(inner, name, counters, facts)
            case Load(pointer=pointer, again=again) if pointer.tensor == name:
                used = names(facts.expand(pointer.offset))
                found.append(not again and all(counter in used for counter in counters))
            case LoadScalar(pointer=pointer) if pointer.tensor == name:
                found.append(False)
            case _:
                pass
    return found
