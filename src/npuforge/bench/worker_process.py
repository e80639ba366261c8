# SPDX-License-Identifier: Apache-2.0
"""The process of an attempt: `python -m npuforge.bench.worker_process JOB.json`.

Whoever started this process holds its standard input open: when that ends, so does this process
with everything it started, and nothing goes on behind the back of a run that was killed. That holds
from the first moment: the imports of an attempt take seconds, and come after.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from npuforge.interruption import run_process


def _end_with_parent() -> None:
    def wait() -> None:
        while os.read(0, 1):  # nobody writes: it ends with the parent
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def _make() -> int:
    from npuforge.bench.worker import make  # noqa: PLC0415 (slow)

    make(Path(sys.argv[1]))
    return 0


def main() -> int:
    _end_with_parent()
    return run_process(_make)


if __name__ == "__main__":
    sys.exit(main())
