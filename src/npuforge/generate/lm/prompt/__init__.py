# SPDX-License-Identifier: Apache-2.0
"""The canonical prompt: a graph in names that carry no meaning, and in common operations."""
