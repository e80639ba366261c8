# SPDX-License-Identifier: Apache-2.0
"""Operations of the cube unit, which is not planned for yet."""

from __future__ import annotations

# As PyTorch dispatches them; none is decomposed into anything else by a capture.
CUBE = frozenset(
    f"aten.{name}.default"
    for name in (
        "addbmm",
        "addmm",
        "baddbmm",
        "bmm",
        "convolution",
        "convolution_backward",
        "mm",
        "_int_mm",
        "_scaled_mm",
    )
)
