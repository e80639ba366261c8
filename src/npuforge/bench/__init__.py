# SPDX-License-Identifier: Apache-2.0
"""Judges whoever writes kernels, on public suites and our own."""
