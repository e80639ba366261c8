# SPDX-License-Identifier: Apache-2.0
"""Answers of a model on the CPU."""
