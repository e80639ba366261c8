# SPDX-License-Identifier: Apache-2.0
"""One ATen operation with a kernel of its own, as a program, on the twin against PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from npuforge.lower.compiler import lower
from npuforge.lower.on_twin import TwinProgram
from npuforge.plan.expand.expander import load_rules
from npuforge.plan.expand.rules import RULES
from npuforge.plan.launch import Parameter, Program
from npuforge.plan.special import Job, writer_of
from npuforge.plan.values import Load, Special, Tensor, load
from npuforge.spec.graph import Node, TensorType
from npuforge.spec.size import Size

TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


@dataclass
class Operation:
    """An operation on tensors of given example shapes.

    `symbols` are extents of the first input that the program leaves open, by axis; `extents` those
    of the result over them.
    """

    op: str
    inputs: Sequence[torch.Tensor]
    arguments: Sequence[Any] = ()
    symbols: dict[int, str] = field(default_factory=dict)
    extents: Sequence[str] | None = None

    @property
    def function(self) -> Callable[..., Any]:
        _, name, overload = self.op.split(".")
        return getattr(getattr(torch.ops.aten, name), overload)  # type: ignore[no-any-return]

    def expected(self, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
        found = self.function(*inputs, *self.arguments)
        result: torch.Tensor = found[0] if isinstance(found, tuple) else found
        return result

    def program(self) -> str:
        load_rules()
        result = self.expected(self.inputs)
        tensors = [
            Tensor(f"x{place}", self._shape(place, tensor), dtype_name(tensor))
            for place, tensor in enumerate(self.inputs)
        ]
        extents = tuple(self.extents or map(str, result.shape))
        kind = TensorType(tuple(result.shape), dtype_name(result), extents)
        node = Node("node", self.op, [], {}, [kind, None])
        values = RULES[self.op](node, *map(load, tensors), *self.arguments)
        value = values[0] if isinstance(values, tuple) else values
        assert isinstance(value, Load)
        special = value.tensor.memory.producer
        assert isinstance(special, Special)
        return self._text(special, tensors, Tensor("y", kind.sizes, kind.dtype))

    def _text(self, special: Special, tensors: list[Tensor], y: Tensor) -> str:
        example = {name: self.inputs[0].shape[axis] for axis, name in self.symbols.items()}
        symbols = {name: f"x0.shape[{axis}]" for axis, name in self.symbols.items()}
        parameters = [Parameter(tensor, "input") for tensor in tensors]
        program = Program("probe", "A test.", [*parameters, Parameter(y, "output")], symbols)

        def workspace(shape: tuple[Size, ...], dtype: str) -> Tensor:
            made = Tensor(f"w{len(program.workspaces)}", shape, dtype)
            program.workspaces.append(made)
            return made

        arguments = []
        for value in special.args:
            assert isinstance(value, Load)
            arguments.append(Tensor(value.tensor.name, value.shape, value.dtype))
        results = [Tensor("y", special.shapes[0], special.dtypes[0])]
        job = Job(special, arguments, results, "probe_kernel", example, workspace)
        program.launches += writer_of(special)(job)
        return program.text()

    def _shape(self, place: int, tensor: torch.Tensor) -> tuple[Size, ...]:
        names = self.symbols if place == 0 else {}
        return tuple(
            Size.symbol(names[axis]) if axis in names else Size.of(extent)
            for axis, extent in enumerate(tensor.shape)
        )


def agree(
    operation: Operation, *others: Sequence[torch.Tensor], tolerance: float | None = None
) -> None:
    """The program computes what PyTorch does, for the example and for further inputs."""
    text = operation.program()
    twin = TwinProgram(lower(text))
    assert twin.build.ok, (twin.build.diagnostics[:3], text)
    for inputs in (operation.inputs, *others):
        wanted = operation.expected(inputs)
        given = {f"x{place}": tensor for place, tensor in enumerate(inputs)}
        result = twin.launch(given, mode="check")
        assert result.error is None, (result.error, text)
        assert not result.violations, (result.violations[0], text)
        assert not result.races, (result.races[0], text)
        assert not any(result.unwritten.values()), text
        found = torch.from_numpy(result.tensors["y"].values().astype("float32"))
        allowed = tolerance or TOLERANCES[wanted.dtype]
        torch.testing.assert_close(
            found.reshape(wanted.shape),
            wanted.float(),
            rtol=allowed,
            atol=allowed,
            equal_nan=True,
            msg=lambda message: f"{message}\n{operation.op}{operation.arguments}\n{text}",
        )
