# SPDX-License-Identifier: Apache-2.0
"""One thread for the arithmetic of each process, and no accelerator.

As many test processes as there are processors run at once: more threads in each only wait for one
another, and spin meanwhile. No test depends on a device that one machine has and another has not.
Libraries read this when they are loaded, so it is said before.
"""

from __future__ import annotations

import os

from npuforge.sandbox.python import NO_DEVICES

os.environ.update(NO_DEVICES)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
