# SPDX-License-Identifier: Apache-2.0
"""How long a verdict takes: build, check and compare an Add kernel on 1 MB, cold and cached.

    python benchmarks/source_to_verdict.py [ROUNDS]

Cold: the kernel was never built (its text is new in every round); the runtime library and the
precompiled header are there. Cached: the same source again, in the same process.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from npuforge.twin import launch
from npuforge.twin.execute import execute
from npuforge.twin.kernel import Kernel
from npuforge.twin.toolchain import Toolchain

_SOURCE = Path(__file__).parent.parent / "tests" / "twin" / "driver" / "kernels" / "add.cpp"
_COUNT = 8 * 4096 * 8  # floats: 1 MB per tensor
_BLOCKS = 8


def verdict(source: Path, x: launch.TensorArgument, y: launch.TensorArgument) -> float:
    """Seconds from source to a checked, compared result."""
    started = time.perf_counter()
    build = Kernel.build(source)
    call = launch.Launch(
        _BLOCKS,
        [x, y, launch.output("z", (_COUNT,), "float32"), launch.scalar("n", _COUNT, "uint32")],
    )
    result = execute(build, call, mode="check")
    assert result.error is None, result.error
    assert x.data is not None
    assert y.data is not None
    assert np.array_equal(result.outputs["z"], x.data.data + y.data.data)
    return time.perf_counter() - started


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    random = np.random.default_rng(0)
    x, y = (
        launch.tensor(name, random.standard_normal(_COUNT, dtype=np.float32)) for name in ("x", "y")
    )
    Toolchain.find().runtime()
    text = _SOURCE.read_text("utf-8")
    cold: list[float] = []
    cached: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        verdict(_SOURCE, x, y)  # precompiled header, imports
        for number in range(rounds):
            source = Path(folder) / f"add{number}.cpp"
            source.write_text(f"{text}\n// {time.time_ns()}\n", "utf-8")
            cold.append(verdict(source, x, y))
            cached.append(verdict(source, x, y))
    print(f"cold    median {statistics.median(cold):.3f} s  {[round(t, 3) for t in cold]}")
    print(f"cached  median {statistics.median(cached):.3f} s  {[round(t, 3) for t in cached]}")


if __name__ == "__main__":
    main()
