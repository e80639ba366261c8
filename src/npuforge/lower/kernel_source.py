# SPDX-License-Identifier: Apache-2.0
"""The device source: helpers, kernel classes and the entry function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from npuforge.lower import library
from npuforge.lower.cpp import scalar_functions
from npuforge.lower.host_code import Field, HostCode, Phase, Schedule
from npuforge.lower.names import camel
from npuforge.tile.ir import Tensor

_INDENT = "    "
_WAIT = """\
// The second pipe of the event waits for everything the first has been given so far.
template <HardEvent event>
__aicore__ inline void WaitFor()
{
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
}
"""


@dataclass(frozen=True, slots=True)
class EntryStyle:
    """How an entry function gets at what the host decided."""

    field: Callable[[Field], str]
    workspace: str
    has_key: str = "TILING_KEY_IS({})"
    blocks: str | None = None  # set where more blocks are launched than the program asks for


def task_type(code: HostCode) -> str:
    """The statement that says which cores run the kernel."""
    waits = any(len(schedule.phases) > 1 for schedule in code.schedules)
    # Vector cores that wait for each other need the mixed mode, although no cube core runs.
    return f"KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_{'MIX_AIV_1_0' if waits else 'AIV_ONLY'});"


def definitions(code: HostCode, scalars: Iterable[str] = ()) -> list[str]:
    """Everything above the entry function, each helper once; `scalars` are used there."""
    kernels = [phase.code for phase in code.phases.values()]
    helpers = list(dict.fromkeys(name for kernel in kernels for name in kernel.helpers))
    lines: list[str] = []
    used = set(scalars).union(*(kernel.scalar_functions for kernel in kernels))
    lines += scalar_functions(used, "device")
    if any(kernel.uses_wait for kernel in kernels):
        lines += [*_WAIT.splitlines(), ""]
    for source in library.closure(helpers):
        lines += [*source.rstrip().splitlines(), ""]
    for kernel in kernels:
        lines += [*kernel.lines, ""]
    return lines


def parameters(code: HostCode) -> list[tuple[str, Tensor]]:
    """GM addresses of the entry: inputs, then outputs; one written in place comes twice."""
    names = [(camel(tensor.name), tensor) for tensor in code.host.inputs]
    for tensor in code.host.outputs:
        name = camel(tensor.name)
        names.append((f"{name}Ref" if tensor.role == "inout" else name, tensor))
    return names


def entry_body(code: HostCode, style: EntryStyle) -> list[str]:
    """Statements of the entry function."""
    lines = ["TPipe pipe;"]
    if len(code.schedules) == 1:
        return lines + _schedule(code.schedules[0], code, style)
    for number, schedule in enumerate(code.schedules):
        word = "if" if number == 0 else "} else if"
        lines.append(f"{word} ({style.has_key.format(schedule.key)}) {{")
        lines += [_INDENT + line for line in _schedule(schedule, code, style)]
    return [*lines, "}"]


def _schedule(schedule: Schedule, code: HostCode, style: EntryStyle) -> list[str]:
    lines: list[str] = []
    for number, phase in enumerate(schedule.phases):
        variable = "op" if len(schedule.phases) == 1 else f"phase{number}"
        if number:
            lines += [
                "PipeBarrier<PIPE_ALL>();",
                "SyncAll();  // the next phase reads what other cores wrote",
                "pipe.Reset();",
            ]
        run = [
            f"{phase.code.class_name} {variable};",
            f"{variable}.Init({', '.join(_arguments(phase, code, style))});",
            f"{variable}.Process();",
        ]
        most = style.blocks if phase.cores is None else style.field(phase.cores)
        if most is not None:
            condition = f"static_cast<int64_t>(GetBlockIdx()) < {most}"
            run = [f"if ({condition}) {{", *(_INDENT + line for line in run), "}"]
        lines += run
    return lines


def _arguments(phase: Phase, code: HostCode, style: EntryStyle) -> list[str]:
    found = []
    for pointer in phase.launch.kernel.pointers:
        tensor = pointer.tensor
        if tensor.role == "workspace":
            offset = style.field(code.workspace_offsets[tensor.name])
            found.append(f"{style.workspace} + {offset}")
        else:
            found.append(camel(tensor.name))
    found += [style.field(item) for item in phase.fields.values()]
    if phase.code.counts_programs:
        launched = style.blocks or "static_cast<int64_t>(GetBlockNum())"
        found.append(launched if phase.cores is None else style.field(phase.cores))
    return [*found, "&pipe"]
