# SPDX-License-Identifier: Apache-2.0
"""The PyTorch module that calls an operator, `ModelNew`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from npuforge.tile.ir import Attribute, Host

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class ModelShape:
    """How the module is made and called, where that differs from the operator's own order.

    init        arguments of `__init__`, as Python writes them: "dim: int", "eps: float = 1e-5"
    parameters  what the module owns, made in this order: name and expression over `init`
    forward     names of the arguments of `forward`
    inputs      operator input: expression in `forward` ("self.weight"); its own name if not given
    attributes  operator attribute: expression in `__init__`; its own name if not given
    returns     which of the operator's outputs `forward` returns; all if not given
    definitions code that `parameters` need, put before the module
    """

    init: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    forward: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    returns: tuple[int, ...] | None = None
    definitions: str = ""

    @staticmethod
    def of(host: Host) -> ModelShape:
        """Attributes to `__init__`, required ones first; tensors to `forward` in their order."""
        ordered = sorted(host.attributes, key=lambda attribute: attribute.default is not None)
        return ModelShape(
            init=tuple(_argument(attribute) for attribute in ordered),
            forward=tuple(tensor.name for tensor in host.inputs),
        )


def _argument(attribute: Attribute) -> str:
    text = f"{attribute.name}: {attribute.type.value}"
    return text if attribute.default is None else f"{text} = {attribute.default!r}"


def model_source(
    host: Host, shape: ModelShape, module: str, function: str, *, preamble: tuple[str, ...] = ()
) -> str:
    """A Python file with `ModelNew`, which calls `module.function`."""
    made = [f"self.{name} = {value}" for name, value in shape.parameters]
    made += [
        f"self.{attribute.name} = {shape.attributes.get(attribute.name, attribute.name)}"
        for attribute in host.attributes
    ]
    passed = [shape.inputs.get(tensor.name, tensor.name) for tensor in host.inputs]
    passed += [f"self.{attribute.name}" for attribute in host.attributes]
    lines = [
        *preamble,
        "import torch",
        "import torch_npu",
        f"import {module}",
        *(["", "", *shape.definitions.strip("\n").splitlines()] if shape.definitions else []),
        "",
        "",
        "class ModelNew(torch.nn.Module):",
        *_wrapped("    def __init__(", ["self", *shape.init], ") -> None:"),
        "        super().__init__()",
        *(f"        {line}" for line in made),
        "",
        *_wrapped("    def forward(", ["self", *shape.forward], "):"),
        *_returned(f"{module}.{function}(", passed, shape.returns),
    ]
    return "\n".join(lines) + "\n"


def _returned(call: str, passed: list[str], returns: tuple[int, ...] | None) -> list[str]:
    if returns is None:
        return _wrapped(f"        return {call}", passed, ")")
    picked = ", ".join(f"made[{number}]" for number in returns)
    return [*_wrapped(f"        made = {call}", passed, ")"), f"        return {picked}"]


def _wrapped(head: str, items: list[str], tail: str) -> list[str]:
    """A call or definition on one line, or with its arguments on lines of their own."""
    line = f"{head}{', '.join(items)}{tail}"
    if len(line) <= _WIDTH:
        return [line]
    indent = " " * (len(head) - len(head.lstrip()))
    return [head, *(f"{indent}    {item}," for item in items), f"{indent}{tail}"]
