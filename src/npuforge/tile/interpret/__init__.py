# SPDX-License-Identifier: Apache-2.0
"""The reference interpreter: what a tile program means, over NumPy.

    interpret(program, {"x": x}, {"eps": 1e-5})["y"]

Every core runs after the other, every statement in the order of the source. Elements of buffers and
of outputs are undefined until written, and using an undefined one is an error; so is an access
outside a buffer or tensor, an output left incomplete, and cores that touch the same elements.
"""

from npuforge.tile.interpret.hosts import interpret, require_sizes

__all__ = ["interpret", "require_sizes"]
