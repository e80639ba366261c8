# SPDX-License-Identifier: Apache-2.0
"""Recordings of what a source tree emits and how it judges, and their comparison."""
