# SPDX-License-Identifier: Apache-2.0
"""The forms in which kernels come, and how to tell them apart."""

from npuforge.twin.sources.recognise import Source, recognise

__all__ = ["Source", "recognise"]
