# SPDX-License-Identifier: Apache-2.0
"""Runs an operator's tiling for given tensors and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import Sandbox
from npuforge.sandbox.messages import Text, Whole, Word
from npuforge.soc import Soc
from npuforge.twin.host import runner
from npuforge.twin.host.description import Operator


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor as the host code sees it; `data` only matters where it reads the values."""

    shape: tuple[int, ...]
    dtype: str
    format: str = "ND"
    origin_shape: tuple[int, ...] | None = None
    origin_format: str | None = None
    data: bytes | None = None


# A dynamic input is a sequence of tensors, an absent optional one is None.
Given = TensorSpec | Sequence[TensorSpec] | None


@dataclass(frozen=True, slots=True)
class TilingRequest:
    """One call of an operator. `cube` says that its kernel runs on cube cores or on both kinds."""

    op: str
    inputs: Mapping[str, Given]
    outputs: Mapping[str, Given] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    deterministic: bool = False
    cube: bool = False
    compile_info: str = "{}"


@dataclass(frozen=True, slots=True)
class OutputTensor:
    """An output as tiling saw it, and what the operator's own inference says (if anything)."""

    name: str
    dtype: str
    format: str
    shape: tuple[int, ...]
    inferred_dtype: str | None = None
    inferred_shape: tuple[int, ...] | None = None


_Shape = Annotated[list[Whole], Meta(max_length=64)]
_WorkspaceSize = Annotated[int, Meta(ge=0, le=1 << 48)]


class _Output(msgspec.Struct, frozen=True):
    name: Word
    dtype: Word
    format: Word
    shape: _Shape


class _Inferred(msgspec.Struct, frozen=True):
    dtype: Word
    shape: _Shape | None


class _Inference(msgspec.Struct, frozen=True):
    problem: Text = ""
    outputs: Annotated[list[_Inferred], Meta(max_length=1024)] = []


class _Answer(msgspec.Struct, frozen=True):
    """The runner's answer, which the host code may have written itself."""

    status: Literal["ok", "failed", "exception", "crashed", "bad_request", "unloadable"]
    message: Text = ""
    block_dim: Annotated[int, Meta(ge=0, le=1 << 32)] = 0
    block_dim_set: bool = False
    tiling_key: int = 0
    tiling_data: Annotated[str, Meta(max_length=1 << 24)] = ""
    workspace_sizes: Annotated[list[_WorkspaceSize], Meta(max_length=64)] = []
    schedule_mode: Whole = 0
    local_memory: Whole = 0
    need_atomic: bool = False
    outputs: Annotated[list[_Output], Meta(max_length=1024)] = []
    inference: _Inference = _Inference()
    log: Annotated[list[Text], Meta(max_length=100_000)] = []
    frames: Annotated[list[Word], Meta(max_length=64)] = []


@dataclass(frozen=True, slots=True)
class TilingResult:
    """What tiling answered.

    `status` is "ok", "failed" (the function said so), "exception", "crashed" or "bad_request"; all
    but "ok" come with a `message`. `inference_problem` says what is wrong with the inference of
    output shapes and types, which a call with given outputs does not need. `log` is everything the
    host code printed.
    """

    status: str
    message: str = ""
    block_dim: int = 0
    tiling_key: int = 0
    tiling_data: bytes = b""
    workspace_sizes: tuple[int, ...] = ()
    schedule_mode: int = 0
    local_memory: int = 0
    need_atomic: bool = False
    outputs: tuple[OutputTensor, ...] = ()
    inference_problem: str = ""
    log: tuple[str, ...] = ()
    frames: tuple[int, ...] = ()

    @property
    def ok(self) -> bool:
        return self.status == "ok"


def compute_tiling(
    host_so: Path,
    operator: Operator,
    request: TilingRequest,
    *,
    soc: Soc | str = runner.DEFAULT_SOC,
    sandbox: Sandbox | None = None,
) -> TilingResult:
    """Runs inference and tiling of `operator` in `host_so`; faults of the host code are results."""
    files: dict[str, bytes] = {}
    text = render_request(operator, request, files)
    told = runner.call("tiling", host_so, request=text, files=files, soc=soc, sandbox=sandbox)
    try:  # the host code shares the process that wrote it
        answer = msgspec.convert(told, _Answer)
        data = bytes.fromhex(answer.tiling_data)
        frames = tuple(int(frame, 16) for frame in answer.frames)
    except (msgspec.ValidationError, ValueError) as error:
        return TilingResult("crashed", f"the host code left no answer: {one_line(str(error))}")
    status, message = answer.status, one_line(answer.message, 2000)
    log = tuple(one_line(line, 2000) for line in answer.log)
    if status == "failed" and not message:
        errors = [line for line in log if "ERROR" in line]
        message = errors[-1] if errors else "the tiling function reported failure"
    if status == "ok" and not answer.block_dim_set:
        status, message = "failed", "the tiling function set no block dim"
    return TilingResult(
        status=status,
        message=message,
        block_dim=answer.block_dim,
        tiling_key=answer.tiling_key % (1 << 64),
        tiling_data=data,
        workspace_sizes=tuple(answer.workspace_sizes),
        schedule_mode=answer.schedule_mode,
        local_memory=answer.local_memory,
        need_atomic=answer.need_atomic,
        outputs=_outputs(answer),
        inference_problem=one_line(answer.inference.problem, 2000),
        log=log,
        frames=frames,
    )


def render_request(operator: Operator, request: TilingRequest, files: dict[str, bytes]) -> str:
    """The runner's text form of `request`; contents of data files are added to `files`."""
    lines = [
        f"op {operator.type}",
        f"deterministic {int(request.deterministic)}",
        f"core_type {'aic' if request.cube else 'aiv'}",
        f"compile_info {_checked_line(request.compile_info)}",
    ]
    for name, given in request.inputs.items():
        tensors = _as_list(given)
        if not tensors:
            lines.append(f"absent {_word(name)}")
        for tensor in tensors:
            line = _tensor_line("input", name, tensor)
            if tensor.data is not None:
                file = f"data{len(files)}.bin"
                files[file] = tensor.data
                line += f" data={file}"
            lines.append(line)
    for name, given in request.outputs.items():
        lines += [_tensor_line("output", name, tensor) for tensor in _as_list(given)]
    kinds = {attr.name: attr.type for attr in operator.attrs}
    for name, value in request.attrs.items():
        if name not in kinds:
            raise UsageError(f"{operator.type} has no attribute {name}")
        lines.append(f"attr {name} {_attribute(operator, name, kinds[name], value)}".rstrip(" "))
    return "\n".join(lines) + "\n"


def _as_list(given: Given) -> list[TensorSpec]:
    if given is None:
        return []
    return [given] if isinstance(given, TensorSpec) else list(given)


def _tensor_line(statement: str, name: str, tensor: TensorSpec) -> str:
    words = [statement, _word(name), _word(tensor.dtype), _word(tensor.format), _dims(tensor.shape)]
    if tensor.origin_shape is not None:
        words.append(f"origin={_dims(tensor.origin_shape)}")
    if tensor.origin_format is not None:
        words.append(f"origin_format={_word(tensor.origin_format)}")
    return " ".join(words)


def _dims(shape: Sequence[int]) -> str:
    return ",".join(str(int(dim)) for dim in shape) or "scalar"


def _attribute(operator: Operator, name: str, kind: str, value: Any) -> str:
    if value is None:
        return "none"
    try:
        return f"{kind} {_value(kind, value)}"
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            f"attribute {name} of {operator.type} is a {kind}, not {value!r}"
        ) from None


def _value(kind: str, value: Any) -> str:
    match kind:
        case "bool":
            return str(int(bool(value)))
        case "int":
            return str(int(value))
        case "float":
            return repr(float(value))
        case "str":
            return _checked_line(str(value))
        case "list_list_int":
            return ";".join(_value("list_int", row) for row in value)
        case _:
            element = kind.removeprefix("list_")
            return ",".join(_value(element, item) for item in value)


def _word(text: str) -> str:
    if not text or text.split() != [text]:
        raise UsageError(f"not a name: {text!r}")
    return text


def _checked_line(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise UsageError("text passed to host code must be one line")
    return text


def _outputs(answer: _Answer) -> tuple[OutputTensor, ...]:
    inferred = answer.inference.outputs
    outputs = []
    for index, item in enumerate(answer.outputs):
        output = OutputTensor(item.name, item.dtype, item.format, tuple(item.shape))
        if index < len(inferred):
            shape = inferred[index].shape
            output = replace(
                output,
                inferred_dtype=inferred[index].dtype,
                inferred_shape=None if shape is None else tuple(shape),
            )
        outputs.append(output)
    return tuple(outputs)
