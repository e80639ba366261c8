# SPDX-License-Identifier: Apache-2.0
"""The tile language: parsed, typed, checked and interpreted here; `npuforge.lower` compiles it."""

from __future__ import annotations

from npuforge.soc.data import load_soc
from npuforge.tile.hosts import typed_program
from npuforge.tile.ir import TileProgram
from npuforge.tile.parse import parse

# The system keeps this much of the unified buffer for itself (rule CAP-01).
_RESERVED_UB_BYTES = 256 + 8 * 1024


def chip_constants(soc: str) -> dict[str, int]:
    """What a program may ask of the chip (`cores`, `ub_bytes`), and what the compiler knows."""
    chip = load_soc(soc)
    return {
        "cores": chip.aiv_cores,
        "ub_bytes": int(chip.number("ub.bytes")) - _RESERVED_UB_BYTES,
        "l2_bytes": int(chip.number("l2.bytes")),
    }


def read_program(text: str | bytes, soc: str = "910b2") -> TileProgram:
    """The typed program in `text`; raises `TileError` with everything that is wrong."""
    return typed_program(parse(text), chip_constants(soc))
