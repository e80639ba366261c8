# SPDX-License-Identifier: Apache-2.0
"""The reasoning of a record: the schedule, and numbers that the compiler and the twin gave.

First the schedule of each kernel, as the planner names it. Then the bytes that cross memory, the
buffers, the tile sizes that follow from the budget, the cores at work, and the bound of the time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from npuforge import dtypes
from npuforge.lower.compiler import Lowered
from npuforge.lower.kernel_class import KernelCode
from npuforge.lower.tiling import Tiling
from npuforge.spec.graph import Graph, TensorType
from npuforge.tile import chip_constants
from npuforge.twin.timing.report import TimingReport

_MOST_KERNELS = 3
_SCHEDULE = re.compile(r"^def (\w+)\(.*\):\n    # (.+)$", re.MULTILINE)


def schedules(planned: str) -> dict[str, str]:
    """Return the schedule of each kernel, from the planner's comment on it."""
    return dict(_SCHEDULE.findall(planned))


def reasoning(
    graph: Graph,
    lowered: Lowered,
    schedule: dict[str, str],
    tiling: Tiling,
    timing: TimingReport | None,
) -> str:
    """Return the reasoning, a line for each thought."""
    return "\n".join(_lines(graph, lowered, schedule, tiling, timing))


def _lines(
    graph: Graph,
    lowered: Lowered,
    schedule: dict[str, str],
    tiling: Tiling,
    timing: TimingReport | None,
) -> Iterator[str]:
    yield from (f"{kernel}: {name}" for kernel, name in schedule.items())
    yield _traffic(graph)
    kernels = lowered.kernels[:_MOST_KERNELS]
    for code in kernels:
        yield f"{code.kernel.name}: {_buffers(code)}"
    constants = chip_constants(lowered.soc)
    yield (
        f"{lowered.soc}: {int(constants['ub_bytes'])} bytes, {int(constants['cores'])} cores: "
        + ", ".join(_sizes(tiling))
    )
    if timing is not None:
        yield f"{timing.time_us:.1f} us, bound by {timing.bottleneck.kind}"


def _traffic(graph: Graph) -> str:
    kinds = {node.name: node.type for node in graph.nodes if node.types and node.types[0]}
    kinds |= {source.name: source.type for source in graph.sources}
    inputs = sum(_bytes(source.type) for source in graph.sources)
    outputs = sum(_bytes(kinds[result.name]) for result in graph.results)
    return f"{_size(inputs)} in, {_size(outputs)} out"


def _buffers(code: KernelCode) -> str:
    """Count the buffers with memory of their own, and those of them that are filled while the one
    before is in use."""
    plans = [plan for name, plan in code.plan.buffers.items() if name not in code.plan.memory]
    twice = sum(plan.depth > 1 for plan in plans)
    return f"{len(plans)} buffers" + (f", {twice} of them twice" if twice else "")


def _sizes(tiling: Tiling) -> Iterator[str]:
    for name, value in tiling.values.items():
        if re.fullmatch(r"(tile|perCore|units|cols|rows)\d*", name) and float(value).is_integer():
            yield f"{name} {int(value)}"
    yield f"{tiling.blocks} cores at work"


def _bytes(kind: TensorType) -> int:
    return math.prod(kind.shape) * max(1, dtypes.find(kind.dtype).bits // 8)


def _size(count: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"
