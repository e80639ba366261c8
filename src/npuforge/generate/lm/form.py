# SPDX-License-Identifier: Apache-2.0
"""The form of the programs a model learns from: a planner's, without what it could not know.

Comments and headings go: they repeat what the reasoning says. Every value has a buffer of its own
(`single`), allocated where it is first used (`inline`), right after the line of the question that
it stands for (`quoted`); how many bytes a tile takes is left to the compiler (`fit`), and what a
kernel takes to its body (`heads`).
"""

from __future__ import annotations

import io
import re
import tokenize
from functools import lru_cache

from npuforge.generate.lm.fit import resolved, with_fits
from npuforge.generate.lm.heads import bare, filled
from npuforge.generate.lm.inline import Moved, hoisted, inlined
from npuforge.generate.lm.quoted import quoted
from npuforge.generate.lm.single import single

_HEAD = '"""'


def plain(program: str, asked: str) -> str:
    """A planner's program as the model is to write it for what was asked (`task_text`)."""
    return bare(quoted(with_fits(inlined(single(_without_comments(program)))), asked))


@lru_cache(maxsize=8)  # a program is compiled, then reasoned about
def complete(program: str, soc: str) -> Moved:
    """A model's program as the language has it, line for line; `UsageError` (`TileError`) where it
    is none."""
    moved = hoisted(filled(program))
    return Moved(resolved(moved.text, soc), moved.places)


def _without_comments(program: str) -> str:
    lines = program.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            before = lines[row - 1][:column].rstrip()
            if not before.lstrip().startswith("tl."):  # `single` reads remarks
                lines[row - 1] = before or "\0"
        elif token.type == tokenize.STRING and token.string.startswith(_HEAD):
            for row in range(token.start[0] - 1, token.end[0]):
                lines[row] = "\0"
    text = "\n".join(line for line in lines if line != "\0").strip("\n")
    return re.sub(r"\n{3,}", "\n\n\n", text) + "\n"
