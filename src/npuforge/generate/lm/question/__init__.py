# SPDX-License-Identifier: Apache-2.0
"""What a model is asked: a graph in names that carry no meaning, and in common operations."""
