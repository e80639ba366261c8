# SPDX-License-Identifier: Apache-2.0
"""Programs around a few operations: every array is loaded whole, every result stored whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npuforge.dtypes import HostTensor
from npuforge.tile import read_program
from npuforge.tile.interpret import interpret

Array = np.ndarray[Any, Any]


def run_ops(
    lines: Sequence[str],
    inputs: Mapping[str, Array | HostTensor],
    outputs: Mapping[str, tuple[str, tuple[int, ...]]],
    masks: Mapping[str, int] | None = None,
) -> dict[str, Array]:
    """Run `lines` in a compute block; buffers are named like the tensors."""
    held = {name: HostTensor.of(value) for name, value in inputs.items()}
    sizes = {name: (tensor.dtype.name, tensor.shape) for name, tensor in held.items()}
    allocations = [
        f"    {name} = tl.alloc_ub({shape}, dtype=tl.{dtype})"
        for name, (dtype, shape) in {**sizes, **outputs}.items()
    ]
    allocations += [f"    {name} = tl.alloc_mask({size})" for name, size in (masks or {}).items()]
    tensors = [f"{name}_gm" for name in (*sizes, *outputs)]
    text = "\n".join(
        [
            "@ascend_kernel",
            f"def run({', '.join(tensors)}):",
            *allocations,
            "    with tl.copyin():",
            *(f"        {_move('load', name, shape)}" for name, (_, shape) in sizes.items()),
            "        pass",
            "    with tl.compute():",
            *(f"        {line}" for line in lines),
            "    with tl.copyout():",
            *(f"        {_move('store', name, shape)}" for name, (_, shape) in outputs.items()),
            "",
            "",
            f"def run_host({', '.join([*_inputs(sizes), *_outputs(outputs)])}):",
            f"    run[1]({', '.join(tensors)})",
        ]
    )
    given = {f"{name}_gm": tensor for name, tensor in held.items()}
    found = interpret(read_program(text), given)
    return {name: found[f"{name}_gm"].data for name in outputs}


def _move(verb: str, name: str, shape: tuple[int, ...]) -> str:
    strides = [str(int(np.prod(shape[axis + 1 :]))) for axis in range(len(shape) - 1)]
    stride = f", stride=({', '.join(strides)},)" if strides else ""
    return f"tl.{verb}({name}_gm, {name}{stride})"


def _inputs(sizes: Mapping[str, tuple[str, tuple[int, ...]]]) -> list[str]:
    return [f"{name}_gm: tl.input(tl.{dtype})" for name, (dtype, _) in sizes.items()]


def _outputs(sizes: Mapping[str, tuple[str, tuple[int, ...]]]) -> list[str]:
    return [f"{name}_gm: tl.output(tl.{dtype}, {shape})" for name, (dtype, shape) in sizes.items()]
