# SPDX-License-Identifier: Apache-2.0
"""Double buffering, issued early: loads of the next round go out before this round's computation.

The scalar unit issues instructions in order and a pipe's queue is short, so a load that stands
behind a long computation in the program starts late. A loop runs ahead when

HEAD      its body starts with scalar assignments and a copyin block
QUEUES    everything the block loads is a queue of two or more tiles of its own
SCALARS   the assignments depend on nothing that other rounds change
TENSORS   the kernel does not store to what the block loads
"""

from __future__ import annotations

from npuforge.lower.buffers import Kind, Plan
from npuforge.tile.ir import For, Kernel, Let, Load, LoadScalar, ReadScalar, Stage, Store, walk


def runs_ahead(loop: For, kernel: Kernel, plan: Plan) -> bool:
    """May the loads of this loop be issued a round early?"""
    head = 0
    while head < len(loop.body) and isinstance(loop.body[head], Let):
        head += 1
    if loop.carried or head == len(loop.body):
        return False
    stage = loop.body[head]
    if not isinstance(stage, Stage) or stage.kind != "copyin" or plan.at(stage, "before"):
        return False
    if not any(isinstance(other, Stage) for other in loop.body[head + 1 :]):
        return False
    names = [s.name for s in walk(loop.body) if isinstance(s, Let | ReadScalar | LoadScalar)]
    lets = [s.name for s in loop.body[:head] if isinstance(s, Let)]
    if any(names.count(name) > 1 for name in lets):
        return False
    tensor = kernel.tensor_names
    stored = {tensor[s.pointer.tensor] for s in walk(kernel.body) if isinstance(s, Store)}
    loads = [s for s in walk(stage.body) if isinstance(s, Load)]
    if any(isinstance(s, LoadScalar | Let) for s in walk(stage.body)) or not loads:
        return False
    sites = [s for s in walk(kernel.body) if isinstance(s, Load)]
    for load in loads:
        planned = plan.buffers[load.view.buffer.name]
        alone = sum(site.view.buffer.name == load.view.buffer.name for site in sites)
        if tensor[load.pointer.tensor] in stored or alone != 1:
            return False
        if planned.kind not in (Kind.IN, Kind.BIND) or planned.depth < 2:
            return False
    return True
