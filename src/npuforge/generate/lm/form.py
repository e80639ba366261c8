# SPDX-License-Identifier: Apache-2.0
"""The form of the programs a model learns from: a planner's, without what it could not know.

Comments and headings go: they repeat what the reasoning says. What a kernel takes of the unified
buffer whatever its tile, the planner asked of the compiler to the byte; a model would have to learn
it by heart, so it is rounded up, which costs a tile a few elements and nothing else.
"""

from __future__ import annotations

import io
import re
import tokenize

_HEAD = '"""'
_FIXED = re.compile(r"(tl\.ub_bytes\(\) - \(?(?:\d+ \* \w+ \+ )?)(\d+)(\)?\) // )")
_STEP = 8192
_FINE = 1024  # of the step's multiples that leave too little


def plain(program: str) -> str:
    """A planner's program as the model is to write it."""
    without = _without_comments(program)
    return _FIXED.sub(lambda found: found[1] + str(_rounded(int(found[2]))) + found[3], without)


def _rounded(fixed: int) -> int:
    step = _STEP if fixed <= 8 * _STEP else _FINE
    return -(-fixed // step) * step


def _without_comments(program: str) -> str:
    lines = program.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() or "\0"
        elif token.type == tokenize.STRING and token.string.startswith(_HEAD):
            for row in range(token.start[0] - 1, token.end[0]):
                lines[row] = "\0"
    text = "\n".join(line for line in lines if line != "\0").strip("\n")
    return re.sub(r"\n{3,}", "\n\n\n", text) + "\n"
