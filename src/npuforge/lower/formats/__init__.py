# SPDX-License-Identifier: Apache-2.0
"""Layouts of the emitted code: a format turns a lowered program into files."""
