# SPDX-License-Identifier: Apache-2.0
"""How text, files and names of strangers are read: plain, bounded, and checked before use."""
