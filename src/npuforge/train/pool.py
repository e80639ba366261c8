# SPDX-License-Identifier: Apache-2.0
"""Processes that share out work which needs PyTorch, one thread each, and end with their parent."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor

from npuforge.sandbox.python import NO_DEVICES

_LOOK_S = 1.0


def pool(jobs: int) -> ProcessPoolExecutor:
    """So many processes: use it in a `with`."""
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (os.getpid(),))


def _begin(parent: int) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    os.environ.update(NO_DEVICES)
    import torch  # noqa: PLC0415 (takes seconds; workers only)

    torch.set_num_threads(1)  # there are as many processes as cores
    logging.getLogger("torch").setLevel(logging.ERROR)  # an extent of one is nothing to warn of


def _end_with(parent: int) -> None:
    """A parent that is killed takes nobody with it, and a pool's processes would wait for ever."""
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)
