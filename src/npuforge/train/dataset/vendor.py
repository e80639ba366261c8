# SPDX-License-Identifier: Apache-2.0
"""Records in AscendC: the kernel by itself, and the operator project of host and kernel.

A project is one scenario: fixed sizes, and every member of the tiling derived for them. The numbers
are read back out of the text and must be those that the host function gives.
"""

from __future__ import annotations

import re

from npuforge.errors import NpuforgeError
from npuforge.lower.formats import direct, emit
from npuforge.lower.tiling import Tiling
from npuforge.train.dataset.record import Chat, Origin
from npuforge.train.judge import Judged
from npuforge.train.operators.draw import Drawn
from npuforge.train.records import Message

_SYSTEM = Message("system", "You write AscendC kernels for Ascend NPUs.")
_MEMBER = re.compile(r"^(\w+) = (-?[\d.e+-]+)$", re.MULTILINE)
_FILES = ("op_host/", "op_kernel/")


def ascendc_record(drawn: Drawn, judged: Judged, tiling: Tiling, origin: Origin) -> Chat:
    """The module, and a kernel that was proven, with the tiling it is launched with."""
    assert judged.built is not None
    lowered = judged.built.lowered
    asked = (
        f"{drawn.source}\nWrite the kernel in AscendC for {lowered.soc}. It is launched with these "
        f"members of its tiling structure: {', '.join(tiling.values)}.\n"
    )
    source = direct.kernel_source(lowered.host)
    answer = f"<think>\n{_derived(tiling)}\n</think>\n```cpp\n{source}```\n"
    return Chat(
        messages=[_SYSTEM, Message("user", asked), Message("assistant", answer)],
        source="ascendc",
        origin=origin,
    )


def project_record(drawn: Drawn, judged: Judged, tiling: Tiling, origin: Origin) -> Chat:
    """The module, and the host and kernel files of its operator project."""
    assert judged.built is not None
    files = emit(judged.built.lowered, "msopgen")
    kept = {path: text for path, text in files.items() if path.startswith(_FILES)}
    shown = "".join(f"===== {path} =====\n{text}" for path, text in sorted(kept.items()))
    asked = (
        f"{drawn.source}\nWrite the operator project for {judged.built.lowered.soc}, host and "
        "kernel. Derive BlockDim, TilingKey and every member of the tiling for these sizes first.\n"
    )
    thought = _derived(tiling)
    if stated_tiling(thought) != expected_tiling(tiling):
        raise NpuforgeError("the tiling that is stated is not the one derived")
    answer = f"<think>\n{thought}\n</think>\n{shown}"
    return Chat(
        messages=[_SYSTEM, Message("user", asked), Message("assistant", answer)],
        source="project",
        origin=origin,
    )


def stated_tiling(text: str) -> dict[str, float]:
    """The members of a tiling that a text states, one a line."""
    return {name: float(value) for name, value in _MEMBER.findall(text)}


def expected_tiling(tiling: Tiling) -> dict[str, float]:
    """What a text must state."""
    members = {name: float(value) for name, value in tiling.values.items()}
    return {"BlockDim": float(tiling.blocks), "TilingKey": float(tiling.key), **members}


def _derived(tiling: Tiling) -> str:
    lines = [f"{name} = {_plain(value)}" for name, value in expected_tiling(tiling).items()]
    return "\n".join([*lines, f"the workspace takes {tiling.workspace_bytes} bytes"])


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
