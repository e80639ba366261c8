# SPDX-License-Identifier: Apache-2.0
"""What the passes decide, seen in small programs: queues, sharing, fusion, placement, streams."""

from __future__ import annotations

import pytest

from npuforge.lower.buffers import Kind
from npuforge.lower.compiler import Lowered, lower
from npuforge.lower.formats import direct
from npuforge.tile.source import TileError

HOST = """

def demo_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    n = x.numel()
    demo_kernel[4](x, y, n)
"""


def program(allocations: str, body: str, host: str = HOST) -> str:
    def indented(text: str) -> str:
        return "\n".join(f"    {line}" for line in text.strip().splitlines())

    head = "import tile.language as tl\n\n\n@ascend_kernel\ndef demo_kernel(x, y, n):"
    return f"{head}\n{indented(allocations)}\n{indented(body)}\n{host}"


def lowered(allocations: str, body: str) -> Lowered:
    return lower(program(allocations, body))


def kinds(result: Lowered) -> dict[str, tuple[Kind, int]]:
    plan = result.kernels[0].plan
    return {name: (planned.kind, planned.depth) for name, planned in plan.buffers.items()}


TWO = """
a = tl.alloc_ub(64, dtype=tl.float32)
b = tl.alloc_ub(64, dtype=tl.float32)
"""


def test_a_tile_loaded_and_used_in_a_loop_is_a_double_queue() -> None:
    result = lowered(
        TWO,
        """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp(b, a)
    with tl.copyout():
        tl.store(y + t * 64, b)
""",
    )
    assert kinds(result) == {"a": (Kind.IN, 2), "b": (Kind.OUT, 2)}


def test_a_tile_loaded_before_the_loop_is_one_queue_held_across_it() -> None:
    result = lowered(
        TWO,
        """
with tl.copyin():
    tl.load(x, a)
for t in range(n):
    with tl.compute():
        tl.exp(b, a)
    with tl.copyout():
        tl.store(y + t * 64, b)
""",
    )
    assert kinds(result) == {"a": (Kind.IN, 1), "b": (Kind.OUT, 2)}
    process = "\n".join(result.kernels[0].body.process)
    assert process.index("DeQue") < process.index("for (") < process.index("FreeTensor")


def test_a_tile_moved_through_is_bound() -> None:
    result = lowered(
        "a = tl.alloc_ub(64, dtype=tl.float32)",
        """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.copyout():
        tl.store(y + t * 64, a)
""",
    )
    assert kinds(result) == {"a": (Kind.BIND, 2)}


@pytest.mark.parametrize(
    "body",
    [
        # changed in place between load and store
        """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp(a, a)
    with tl.copyout():
        tl.store(y + t * 64, a)
""",
        # carries its contents from round to round
        """
for t in range(n):
    with tl.compute():
        if t == 0:
            tl.fill(a, 0.0)
        tl.add(a, a, 1.0)
    with tl.copyout():
        tl.store(y + t * 64, a)
""",
    ],
)
def test_other_uses_make_the_pipes_take_turns(body: str) -> None:
    result = lowered("a = tl.alloc_ub(64, dtype=tl.float32)", body)
    assert kinds(result) == {"a": (Kind.EXCLUSIVE, 1)}
    assert "WaitFor<HardEvent::V_MTE3>();" in direct.kernel_source(result.host)


def test_working_buffers_with_disjoint_lives_share_memory() -> None:
    allocations = TWO + "c = tl.alloc_ub(64, dtype=tl.float32)\nd = tl.alloc_ub(64, tl.float32)\n"
    body = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp(c, a)
        tl.add(b, a, c)
        tl.log(d, a)
        tl.add(b, b, d)
    with tl.copyout():
        tl.store(y + t * 64, b)
"""
    result = lowered(allocations, body)
    assert result.kernels[0].plan.memory == {"d": "c"}
    both = body.replace("tl.add(b, b, d)", "tl.add(b, b, d)\n        tl.add(b, b, c)")
    assert not lowered(allocations, both).kernels[0].plan.memory


FUSED = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.copyout():
        tl.store(y + t * 64, a)
for u in range(n):
    with tl.copyin():
        tl.load(x + u * 64, b)
    with tl.compute():
        tl.exp(c, b)
"""


def test_independent_loops_over_the_same_rounds_fuse() -> None:
    allocations = TWO + "c = tl.alloc_ub(64, dtype=tl.float32)"
    process = lowered(allocations, FUSED).kernels[0].body.process
    assert sum("for (" in line for line in process) == 1
    dependent = FUSED.replace("tl.load(x + u * 64, b)", "tl.load(y + u * 64, b)")
    process = lowered(allocations, dependent).kernels[0].body.process
    assert sum("for (" in line for line in process) == 2


def test_operands_of_one_instruction_start_in_different_halves() -> None:
    result = lowered(
        TWO + "c = tl.alloc_ub(64, dtype=tl.float32)",
        """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
        tl.load(x + t * 64, b)
    with tl.compute():
        tl.add(c, a, b)
    with tl.copyout():
        tl.store(y + t * 64, c)
""",
    )
    start = 0
    starts = {}
    for slot in result.kernels[0].slots:
        starts[slot.name] = start % 512
        size = result.kernels[0].kernel.facts.bounds(slot.size)[0]
        assert size is not None
        start += size * slot.copies
    assert abs(starts["a"] - starts["b"]) == 256


def test_an_input_read_once_streams_and_one_read_again_does_not() -> None:
    once = """
for t in range(n):
    with tl.copyin():
        tl.load(x + t * 64, a)
    with tl.compute():
        tl.exp(b, a)
    with tl.copyout():
        tl.store(y + t * 64, b)
"""
    assert list(lowered(TWO, once).kernels[0].streamed) == ["x"]
    again = once.replace("x + t * 64", "x")
    assert not lowered(TWO, again).kernels[0].streamed


def test_buffers_that_can_never_fit_are_refused_with_their_sizes() -> None:
    with pytest.raises(TileError) as caught:
        lowered(
            "a = tl.alloc_ub(60000, dtype=tl.float32)",
            "with tl.copyin():\n    tl.load(x, a)\nwith tl.copyout():\n    tl.store(y, a)",
        )
    finding = caught.value.findings[0]
    assert finding.rule == "TL-10"
    assert "240128" in finding.message


def test_a_conversion_that_the_hardware_has_not_is_an_error_of_the_program() -> None:
    buffers = "a = tl.alloc_ub(64, dtype=tl.uint32)\nb = tl.alloc_ub(64, dtype=tl.int32)"
    with pytest.raises(TileError) as caught:
        lowered(buffers, "with tl.compute():\n    tl.fill(a, 1)\n    tl.cast(b, a)")
    (finding,) = caught.value.findings
    assert finding.rule == "TL-09"
    assert finding.message == "there is no conversion from uint32 to int32"
