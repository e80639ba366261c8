# SPDX-License-Identifier: Apache-2.0
"""What the device runs for an operation of eager PyTorch: kernels of a class, with their work.

A view costs nothing. An input that is not contiguous is copied first, as torch_npu does, unless the
operation reads strides itself. Everything else is one kernel of the class that `model.toml` gives
the operation; a class that behaves differently along other axes than the last names a second one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from npuforge.eager.parameters import Class, Parameters
from npuforge.spec.graph import EagerOp, EagerTensor

_BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "float16": 2, "bfloat16": 2}
_WIDE = {"int64": 8, "float64": 8, "complex64": 8}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch: class, work in the class's unit, bytes it reads and writes, steps in a row."""

    kind: str
    work: float
    read: float
    written: float
    steps: float = 0.0


def kernels(entry: EagerOp, parameters: Parameters, cores: int) -> list[Kernel]:
    """The launches of one dispatch of `entry`."""
    name = base_name(entry.op)
    if name in parameters.free:
        return []
    kind = parameters.class_of(name)
    found = []
    if kind.relayout is not None and not all(tensor.contiguous for tensor in entry.inputs):
        kind = parameters.classes[kind.relayout]
    if not kind.strided:
        found += [
            Kernel("copy", numel(tensor), size(tensor), size(tensor))
            for tensor in entry.inputs
            if not tensor.contiguous and numel(tensor) > 1
        ]
    axes = _axes(entry, kind)
    if kind.outer is not None and entry.inputs and len(entry.inputs[0].shape) - 1 not in axes:
        kind = parameters.classes[kind.outer]
    read, written = sum(map(size, entry.inputs)), sum(map(size, entry.outputs))
    work, steps = _work(entry, kind, axes, cores)
    found.append(Kernel(kind.name, work, read, written, steps))
    return found


def base_name(op: str) -> str:
    """`aten.add_.Tensor` is `add`: an update in place costs what the operation costs."""
    name = op.split(".")[1] if op.count(".") else op
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def numel(tensor: EagerTensor) -> int:
    return math.prod(tensor.shape)


def size(tensor: EagerTensor) -> int:
    """Bytes of the tensor."""
    return numel(tensor) * (_BYTES.get(tensor.dtype) or _WIDE.get(tensor.dtype, 4))


def _axes(entry: EagerOp, kind: Class) -> list[int]:
    """The axes of the first input that the operation works along: all, where it names none."""
    rank = len(entry.inputs[0].shape) if entry.inputs else 0
    given = entry.args[kind.axis] if kind.axis < len(entry.args) else None
    named = [given] if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(named, list) or not named or rank == 0:
        return list(range(rank))
    return [axis % rank for axis in named if isinstance(axis, int)]


def _work(entry: EagerOp, kind: Class, axes: list[int], cores: int) -> tuple[float, float]:
    """Units of work, and steps that follow each other."""
    outputs = max(map(numel, entry.outputs), default=0)
    elements = max(outputs, max(map(numel, entry.inputs), default=0))
    match kind.unit:
        case "elements":
            wide = any(tensor.dtype in _WIDE for tensor in entry.outputs[:1])
            return elements * (kind.wide if wide else 1.0), 0.0
        case "outputs":
            return outputs, 0.0
        case "window":
            window = entry.args[1] if len(entry.args) > 1 else None
            return outputs * (_product(window) if isinstance(window, list) else 1), 0.0
        case "macs":
            half = any(_BYTES.get(tensor.dtype) == 2 for tensor in entry.inputs)
            return _macs(entry) * (kind.half if half else 1.0), 0.0
        case "rows":
            rows = _rows(entry, axes)
            busiest = math.ceil(rows / cores)
            return busiest * elements / max(rows, 1), busiest
        case "axis":
            return elements, math.prod(entry.inputs[0].shape[axis] for axis in axes)


def _rows(entry: EagerOp, axes: list[int]) -> int:
    """How many independent parts the operation has, which is what it spreads over cores."""
    name = base_name(entry.op)
    shape = entry.inputs[0].shape
    if name == "native_layer_norm":
        normal = entry.args[1]
        return math.prod(shape[: len(shape) - len(normal)]) if isinstance(normal, list) else 1
    if name == "native_group_norm":
        batch, groups = entry.args[3], entry.args[6]
        return batch * groups if isinstance(batch, int) and isinstance(groups, int) else 1
    return math.prod(extent for axis, extent in enumerate(shape) if axis not in axes)


def _product(values: Sequence[object]) -> int:
    return math.prod(value for value in values if isinstance(value, int))


def _macs(entry: EagerOp) -> float:
    """Multiplications of a matrix product or convolution."""
    tensors = [tensor for tensor in entry.inputs if len(tensor.shape) >= 2]
    if len(tensors) < 2:
        return 0.0
    first, second = tensors[-2:]
    outputs = max(map(numel, entry.outputs), default=0)
    if base_name(entry.op) != "convolution":
        return float(outputs * first.shape[-1])
    transposed = len(entry.args) > 6 and entry.args[6] is True
    # each input of a transposed convolution, each output of a plain one, meets one filter
    return float((numel(first) if transposed else outputs) * math.prod(second.shape[1:]))
