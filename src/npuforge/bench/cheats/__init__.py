# SPDX-License-Identifier: Apache-2.0
"""Cheating: what counts as it (`kinds.toml`), and how it shows in source, conduct and values."""

from npuforge.bench.cheats.conduct import judge
from npuforge.bench.cheats.kinds import KINDS, Kind
from npuforge.bench.cheats.source import inspect, inspect_cpp

__all__ = ["KINDS", "Kind", "inspect", "inspect_cpp", "judge"]
