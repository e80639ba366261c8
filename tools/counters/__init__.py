# SPDX-License-Identifier: Apache-2.0
"""Figures of the repository that should fall or rise: `python -m tools.counters`."""
