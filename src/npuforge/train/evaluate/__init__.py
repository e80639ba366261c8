# SPDX-License-Identifier: Apache-2.0
"""Rates of a model: compiled and correct at k, by level, on operators it never saw."""
