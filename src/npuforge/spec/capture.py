# SPDX-License-Identifier: Apache-2.0
"""Capture a module in the KernelBench form (`Model`, `get_inputs`, `get_init_inputs`)."""

from __future__ import annotations

from pathlib import Path

from npuforge.sandbox import Sandbox
from npuforge.spec.graph import Graph
from npuforge.spec.session import ModuleSession


def capture(file: Path, *, sandbox: Sandbox | None = None) -> Graph:
    """The graph of the module in `file`; `UsageError` says why there is none."""
    with ModuleSession(file, sandbox=sandbox) as session:
        return session.graph
