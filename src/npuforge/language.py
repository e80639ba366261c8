# SPDX-License-Identifier: Apache-2.0
"""What programs are written in."""

from typing import Literal

Language = Literal["tile", "ascendc"]
