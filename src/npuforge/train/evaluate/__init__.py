# SPDX-License-Identifier: Apache-2.0
"""How well a model writes: compiled and correct at k, by level, on operators it never saw."""
