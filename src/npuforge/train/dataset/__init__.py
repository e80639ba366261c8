# SPDX-License-Identifier: Apache-2.0
"""Operators planned, proven and timed on the twin, as records to learn from."""
