# SPDX-License-Identifier: Apache-2.0
"""The means of isolation, and the permission to do without one that protects files.

The permission is the user's (`--isolation weak`). It reaches worker processes of this machine with
the environment, and those of other machines with the settings of a run.
"""

from __future__ import annotations

import os
from typing import Literal

Means = Literal["bubblewrap", "landlock+seccomp", "seccomp", "rlimits only"]
# The strongest first.
MEANS: tuple[Means, ...] = ("bubblewrap", "landlock+seccomp", "seccomp", "rlimits only")
WEAK: tuple[Means, ...] = ("seccomp", "rlimits only")  # files of the user are not protected

Isolation = Literal["strong", "weak"]
ISOLATIONS: tuple[Isolation, ...] = ("strong", "weak")
VARIABLE = "NPUFORGE_ISOLATION"


def permit(isolation: Isolation) -> None:
    """Say which means this process and its children may use: "weak" allows every one."""
    os.environ[VARIABLE] = isolation


def permitted() -> Isolation:
    """Return what was permitted; nothing said is "strong"."""
    return "weak" if os.environ.get(VARIABLE) == "weak" else "strong"
