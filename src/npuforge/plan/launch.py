# SPDX-License-Identifier: Apache-2.0
"""One kernel with the host code that launches it, and the program they are put together to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from npuforge.plan.values import Tensor
from npuforge.spec.size import Size


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel's name, and what the names of its numbers in the host function begin with."""

    name: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Launch:
    """`kernel` is the text of an `@ascend_kernel` function, less the decorator; `host` the lines of
    the host function, the launch last. Names in `host` that are no tensors and no symbols of sizes
    begin with the kernel's name or a prefix of its own, so that launches do not meet. A `tuned`
    kernel has a parameter `tile`, and `whole` names the parameter with the other extent of its
    tiles, which is `span` in the example: the unified buffer it takes is asked of the compiler, and
    a tile of `least` must fit.
    """

    kernel: str
    host: Sequence[str]
    tuned: str | None = None
    whole: str | None = None
    span: int = 1
    least: int = 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tensor of the host function."""

    tensor: Tensor
    role: Literal["input", "output", "inout"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What the plan takes for granted about extents: `left` is (`==`, `>=`) `right`, and why."""

    left: Size
    relation: Literal["==", ">="]
    right: Size
    why: str

    @property
    def text(self) -> str:
        return f'tl.require({self.left} {self.relation} {self.right}, "{self.why}")'


@dataclass
class Program:
    """Launches in order over the operator's tensors and temporaries."""

    name: str
    summary: str
    parameters: list[Parameter]
    symbols: dict[str, str]  # a size's symbol: how the host function reads it
    workspaces: list[Tensor] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)

    def text(self) -> str:
        """The program in the tile language."""
        kernels: list[str] = []
        for launch in self.launches:
            if launch.kernel not in kernels:
                kernels.append(launch.kernel)
        parts = ["# SPDX-License-Identifier: Apache-2.0", f'"""{self.summary}"""', ""]
        parts += ["import tile.language as tl", ""]
        for kernel in kernels:
            parts += ["", "@ascend_kernel", kernel.rstrip(), ""]
        parts += ["", *self._host()]
        return "\n".join(parts) + "\n"

    def _host(self) -> Iterable[str]:
        yield f"def {self.name}_host("
        for parameter in self.parameters:
            tensor = parameter.tensor
            kind = f"tl.{tensor.dtype}"
            if parameter.role == "output":
                kind += f", {self._shape(tensor)}"
            yield f"    {tensor.name}: tl.{parameter.role}({kind}),"
        yield "):"
        lines = [line for launch in self.launches for line in launch.host]
        extents = [str(size) for tensor in self.workspaces for size in tensor.shape]
        used = set(re.findall(r"\w+", " ".join(lines + extents)))
        sizes = [size for tensor in self._read for size in tensor.shape]
        sizes += [size for demand in self.demands for size in (demand.left, demand.right)]
        used |= {name for size in sizes for name in size.names}
        for symbol, reading in self.symbols.items():
            if symbol in used:
                yield f"    {symbol} = {reading}"
        yield from self._requirements()
        yield from (f"    {demand.text}" for demand in self.demands)
        for tensor in self.workspaces:
            shape = _tuple(map(str, tensor.shape))
            yield f"    {tensor.name} = tl.workspace({shape}, tl.{tensor.dtype})"
        yield from (f"    {line}" for line in lines)

    @property
    def _read(self) -> list[Tensor]:
        return [item.tensor for item in self.parameters if item.role != "output"]

    def _requirements(self) -> Iterable[str]:
        """Shapes that the program was planned for: extents that others fix, or numbers."""
        own = set(self.symbols.items())
        for tensor in self._read:
            places = [f"{tensor.name}.shape[{axis}]" for axis in range(len(tensor.shape))]
            pairs = zip(places, tensor.shape, strict=True)
            wrong = [f"{place} == {size}" for place, size in pairs if (str(size), place) not in own]
            if wrong:
                expected = ", ".join(map(str, tensor.shape))
                condition = " and ".join(wrong)
                yield f'    tl.require({condition}, "{tensor.name} has shape ({expected})")'

    def _shape(self, tensor: Tensor) -> str:
        """Shapes in annotations read extents from the inputs themselves."""
        return _tuple(str(size.renamed(self.symbols)) for size in tensor.shape)


def _tuple(items: Iterable[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items).strip()})"
