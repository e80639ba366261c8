# SPDX-License-Identifier: Apache-2.0
"""The compiler's forms as text, one after each pass (`npuforge lower --after PASS`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from npuforge.errors import UsageError
from npuforge.lower.buffers import Moment
from npuforge.lower.compiler import Lowered, lower
from npuforge.lower.formats import plain_host
from npuforge.lower.kernel_class import KernelCode
from npuforge.lower.wrap import format_cpp
from npuforge.tile import read_program
from npuforge.tile.check import check_program
from npuforge.tile.expr import Binary, Const, Expr, text
from npuforge.tile.ir import (
    For,
    If,
    Kernel,
    Let,
    Load,
    LoadScalar,
    Op,
    PointerParameter,
    ReadScalar,
    SameShape,
    Stage,
    Stmt,
    Store,
    Tensor,
    TileProgram,
    View,
    walk,
)
from npuforge.tile.parse import parse

_INDENT = "    "
_MOMENTS: tuple[Moment, ...] = ("before", "start", "end", "after")


def show(source: str | bytes, after: str, soc: str) -> str:
    """The program after a pass."""
    if after not in PASSES:
        raise UsageError(f"no pass {after!r}; passes: {', '.join(PASSES)}")
    return PASSES[after](source, soc)


def _parsed(source: str | bytes, soc: str) -> str:  # noqa: ARG001
    return parse(source).text()


def _typed(source: str | bytes, soc: str) -> str:
    return program_text(read_program(source, soc))


def _checked(source: str | bytes, soc: str) -> str:
    program = read_program(source, soc)
    check_program(program)
    lines = []
    for launch in program.launches():
        kernel = launch.kernel
        counts = dict.fromkeys((Op, Load, Store), 0)
        for statement in walk(kernel.body):
            if isinstance(statement, Op | Load | Store):
                counts[type(statement)] += 1
        lines.append(
            f"{kernel.name}: {len(kernel.buffers)} buffers, {counts[Load]} loads, "
            f"{counts[Op]} operations, {counts[Store]} stores: no finding"
        )
    return "\n".join(lines) + "\n"


def _fused(source: str | bytes, soc: str) -> str:
    lowered = lower(source, soc)
    lines: list[str] = []
    for launch, code in zip(lowered.program.launches(), lowered.kernels, strict=True):
        lines += [*_kernel(code.kernel, launch.cores), ""]
    return "\n".join(lines[:-1]) + "\n"


def _buffers(source: str | bytes, soc: str) -> str:
    return "\n".join(_plan_text(code) for code in lower(source, soc).kernels)


def _placement(source: str | bytes, soc: str) -> str:
    lowered = lower(source, soc)
    return "\n".join(_placement_text(code, lowered) for code in lowered.kernels)


def _host(source: str | bytes, soc: str) -> str:
    code = lower(source, soc).host
    return format_cpp([*plain_host.declarations(code), "", *plain_host.plan_function(code)])


def _compute(source: str | bytes, soc: str) -> str:
    kernels = lower(source, soc).kernels
    return "\n".join(format_cpp(kernel.lines) for kernel in kernels)


PASSES: dict[str, Callable[[str | bytes, str], str]] = {
    "parse": _parsed,
    "types": _typed,
    "check": _checked,
    "fuse": _fused,
    "buffers": _buffers,
    "placement": _placement,
    "host": _host,
    "compute": _compute,
}


# ---- types ------------------------------------------------------------------------------------
def program_text(program: TileProgram) -> str:
    """The typed program: every parameter with its type, every scalar with its version."""
    lines = [f"host {program.host.name}"]
    lines += [_INDENT + _tensor(tensor) for tensor in program.host.tensors]
    lines += [
        f"{_INDENT}{item.name}: {item.type.value}"
        + ("" if item.default is None else f" = {item.default!r}")
        for item in program.host.attributes
    ]
    for launch in program.launches():
        lines += ["", *_kernel(launch.kernel, launch.cores)]
    return "\n".join(lines) + "\n"


def _tensor(tensor: Tensor) -> str:
    if tensor.shape is None:
        shape = "any shape"
    elif isinstance(tensor.shape, SameShape):
        shape = f"shape of {tensor.shape.tensor}"
    else:
        shape = _tuple(tensor.shape)
    return f"{tensor.name}: {tensor.role} {tensor.dtype.name} {shape}"


def _tuple(shape: Sequence[Expr]) -> str:
    return f"({', '.join(text(extent) for extent in shape)})"


def _kernel(kernel: Kernel, cores: Expr) -> Iterator[str]:
    yield f"kernel {kernel.name} on {text(cores)} cores"
    for parameter in kernel.parameters:
        if isinstance(parameter, PointerParameter):
            tensor = parameter.tensor
            yield f"{_INDENT}{parameter.name}: {tensor.role} {tensor.dtype.name} {tensor.name}"
        else:
            yield f"{_INDENT}{parameter.name}: {parameter.type.value} = {text(parameter.value)}"
    for buffer in kernel.buffers:
        kind = "mask" if buffer.dtype is None else buffer.dtype.name
        yield f"{_INDENT}{buffer.name}: buffer {kind} {_tuple(buffer.shape)}"
    for line in _statements(kernel.body):
        yield _INDENT + line


def _statements(body: Sequence[Stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case Stage(kind, inner):
                yield kind
                yield from (_INDENT + line for line in _statements(inner))
            case For(counter, version, start, stop, step, inner):
                yield (f"for {_name(counter, version)} in {text(start)}, {text(stop)}, step {step}")
                yield from (_INDENT + line for line in _statements(inner))
            case If(condition, then, orelse):
                yield f"if {text(condition)}"
                yield from (_INDENT + line for line in _statements(then))
                if orelse:
                    yield "else"
                    yield from (_INDENT + line for line in _statements(orelse))
            case _:
                yield statement_text(statement)


def statement_text(statement: Stmt) -> str:
    """One statement without what it holds."""
    match statement:
        case Let(name, version, value):
            return f"{_name(name, version)} = {text(value)}"
        case Load(view, pointer, strides):
            return f"load {view_text(view)} from {pointer.tensor}[{text(pointer.offset)}]" + (
                f" strides {_tuple(strides)}" if strides else ""
            )
        case Store(pointer, view, strides, atomic):
            verb = f"store atomic {atomic}" if atomic else "store"
            return f"{verb} {view_text(view)} to {pointer.tensor}[{text(pointer.offset)}]" + (
                f" strides {_tuple(strides)}" if strides else ""
            )
        case Op(name, outs, ins, attrs):
            operands = [view_text(o) if isinstance(o, View) else text(o) for o in ins]
            written = ", ".join(view_text(out) for out in outs)
            extra = "".join(f" {key}={value}" for key, value in attrs.items() if value is not None)
            return f"{written} = {name} {', '.join(operands)}{extra}".rstrip()
        case ReadScalar(name, version, type_, view):
            return f"{_name(name, version)}: {type_.value} = element {view_text(view)}"
        case LoadScalar(name, version, type_, pointer):
            place = f"{pointer.tensor}[{text(pointer.offset)}]"
            return f"{_name(name, version)}: {type_.value} = element {place}"
        case Stage(kind):
            return kind
        case For(counter):
            return f"for {counter}"
        case If(condition):
            return f"if {text(condition)}"


def _name(name: str, version: int) -> str:
    return f"{name}.{version}"


def view_text(view: View) -> str:
    """A view with its place in the buffer: `tile[0 : n, 0 : cols]`."""
    parts = []
    for axis in view.axes:
        if axis.dim is None:
            parts.append("None")
        elif axis.kept:
            parts.append(f"{text(axis.start)} : +{text(axis.extent)}")
        else:
            parts.append(text(axis.start))
    return f"{view.buffer.name}[{', '.join(parts)}]"


# ---- buffers and placement --------------------------------------------------------------------
def _plan_text(code: KernelCode) -> str:
    lines = [f"kernel {code.kernel.name}"]
    lines += [_INDENT + line for line in code.plan.text().splitlines()]
    for statement in walk(code.kernel.body):
        for moment in _MOMENTS:
            events = code.plan.at(statement, moment)
            if events:
                where = f"line {statement.span.line}, {moment} of {statement_text(statement)}"
                done = ", ".join(f"{event.verb} {event.buffer}" for event in events)
                lines.append(f"{_INDENT}{where}: {done}")
    return "\n".join(lines) + "\n"


def _placement_text(code: KernelCode, lowered: Lowered) -> str:
    limit = lowered.program.host.facts.chip["ub_bytes"]
    lines = [
        f"kernel {code.kernel.name}",
        f"{_INDENT}{'buffer':16} copies  starts at      bytes of a copy",
    ]
    start = 0  # modulo 512: which half of the banks
    for slot in code.slots:
        place = f"512 * k + {start}" if start else "512 * k"
        lines.append(f"{_INDENT}{slot.name:16} {slot.copies:6}  {place:13}  {text(slot.size)}")
        start = (start + slot.copies * _shift(slot.size)) % 512
    low, high = code.kernel.facts.bounds(code.ub_bytes)
    known = f"{low if low is not None else '?'} to {high if high is not None else '?'}"
    lines.append(f"{_INDENT}total {known} bytes; {limit} are there")
    return "\n".join(lines) + "\n"


def _shift(size: Expr) -> int:
    """What a size is more than a multiple of 512: placement adds it to change banks."""
    match size:
        case Binary("+", _, Const(value)) | Const(value):
            return int(value) % 512
        case _:
            return 0
