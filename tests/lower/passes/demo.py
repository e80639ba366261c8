# SPDX-License-Identifier: Apache-2.0
"""A kernel of a few lines and the forms that the passes give it.

Tests write the body of `demo_kernel`; its buffers, its host function and the launch are the same
everywhere unless a test says otherwise.
"""

from __future__ import annotations

from functools import cache
from textwrap import dedent, indent

from npuforge.lower.compiler import Lowered, lower
from npuforge.lower.kernel_class import KernelCode
from npuforge.lower.passes import show
from npuforge.tile import read_program
from npuforge.tile.ir import Kernel

SOC = "910b2"
HOST = """
def demo_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    demo_kernel[4](x, y, n)
"""


def program(body: str, buffers: str = "a b", host: str = HOST) -> str:
    """The program whose kernel has `body`; each name in `buffers` is a tile of 64 floats."""
    tiles = [f"{name} = tl.alloc_ub(64, dtype=tl.float32)\n" for name in buffers.split()]
    kernel = "".join(tiles) + dedent(body).strip("\n") + "\n"
    head = "import tile.language as tl\n\n\n@ascend_kernel\ndef demo_kernel(x, y, n):\n"
    return f"{head}{indent(kernel, '    ')}\n{host}"


def typed(body: str, buffers: str = "a b", host: str = HOST) -> Kernel:
    """The kernel before the first pass of the compiler."""
    (launch,) = read_program(program(body, buffers, host), SOC).launches()
    return launch.kernel


@cache
def lowered(body: str, buffers: str = "a b", host: str = HOST) -> Lowered:
    """The program after the last pass."""
    return lower(program(body, buffers, host), SOC)


def code(body: str, buffers: str = "a b", host: str = HOST) -> KernelCode:
    """The class of the one kernel."""
    (kernel,) = lowered(body, buffers, host).kernels
    return kernel


def form(after: str, body: str, buffers: str = "a b", host: str = HOST) -> list[str]:
    """Lines that `npuforge lower --after PASS` prints."""
    return show(program(body, buffers, host), after, SOC).splitlines()


def statements(after: str, body: str, buffers: str = "a b", host: str = HOST) -> list[str]:
    """Lines of the kernel's statements in the printed form, without parameters and buffers."""
    kernel = typed(body, buffers, host)
    printed = form(after, body, buffers, host)
    (head,) = (place for place, line in enumerate(printed) if line.startswith("kernel "))
    declared = len(kernel.parameters) + len(kernel.buffers)
    return [line.removeprefix("    ") for line in printed[head + 1 + declared :]]


def process(body: str, buffers: str = "a b", host: str = HOST) -> list[str]:
    """Lines of the emitted `Process`."""
    return code(body, buffers, host).body.process


def function(name: str, body: str, buffers: str = "a b", host: str = HOST) -> list[str]:
    """Lines of the function that a block became."""
    functions = code(body, buffers, host).body.functions
    (lines,) = (function.lines for function in functions if function.name == name)
    return lines


def lines(text: str) -> list[str]:
    """Expected lines, each behind a bar that says where it begins."""
    return [line.split("|", 1)[1] for line in text.strip().splitlines()]
