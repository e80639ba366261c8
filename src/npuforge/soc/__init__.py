# SPDX-License-Identifier: Apache-2.0
"""The chips npuforge knows: one readable TOML file each, plus what their architecture shares."""

from npuforge.soc.data import Soc, available, constants_text, load_soc

__all__ = ["Soc", "available", "constants_text", "load_soc"]
