# SPDX-License-Identifier: Apache-2.0
"""Names of a kernel: its parameters, and what the host passes for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npuforge.plan.values import Tensor
from npuforge.spec.size import Size


@dataclass
class Scope:
    """Parameters in the order of first use."""

    tensors: dict[int, Tensor] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)  # parameter: host expression
    _of_size: dict[Size, str] = field(default_factory=dict)

    def pointer(self, tensor: Tensor) -> str:
        """The kernel's name of a tensor."""
        owner = tensor.memory
        self.tensors.setdefault(id(owner), owner)
        return owner.name

    def size(self, size: Size, name: str | None = None) -> str:
        """Text of a size inside the kernel: a number, or a parameter."""
        if size.known is not None:
            return str(size.known)
        if size not in self._of_size:
            chosen = name or (str(size) if str(size).isidentifier() else f"e{len(self._of_size)}")
            self._of_size[size] = chosen
            self.numbers[chosen] = str(size)
        return self._of_size[size]

    def number(self, name: str, expression: str) -> str:
        """A parameter that the host computes."""
        self.numbers[name] = expression
        return name

    @property
    def parameters(self) -> list[str]:
        return [*(tensor.name for tensor in self.tensors.values()), *self.numbers]

    @property
    def arguments(self) -> list[str]:
        return [*(tensor.name for tensor in self.tensors.values()), *self.numbers.values()]


def decoded(scope: Scope, number: str, sizes: Sequence[Size], base: str) -> list[str]:
    """Lines that take a number apart into indices `base0`, `base1`...; the last is the fastest."""
    lines: list[str] = []
    for place in reversed(range(len(sizes))):
        if place == 0:
            lines.append(f"{base}0 = {number}")
            break
        extent = scope.size(sizes[place])
        lines.append(f"{base}{place} = {number} % {extent}")
        lines.append(f"{base}r{place} = {number} // {extent}")
        number = f"{base}r{place}"
    return lines


def product_text(*factors: str) -> str:
    """A product as text, ones and brackets left out where they can be."""
    kept = [factor for factor in factors if factor != "1"]
    if "0" in kept:
        return "0"
    return " * ".join(f"({f})" if any(c in f for c in "+- /%") else f for f in kept) or "1"


def sum_text(*terms: str) -> str:
    kept = [term for term in terms if term not in ("0", "")]
    return " + ".join(kept) or "0"
