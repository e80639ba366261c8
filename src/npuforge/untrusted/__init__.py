# SPDX-License-Identifier: Apache-2.0
"""Readers of files, documents and names of strangers: plain, bounded, and checked before use."""
