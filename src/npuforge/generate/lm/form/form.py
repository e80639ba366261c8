# SPDX-License-Identifier: Apache-2.0
"""The form of the programs a model learns from: a planner's, without what it could not know.

Comments and headings go: they repeat what the reasoning says. What kernels leave for one another is
numbered in the order in which they do. Every value has a buffer of its own
(`single`), allocated where it is first used (`inline`), right after the line of the question that
it stands for (`quoted`); how many bytes a tile takes is left to the compiler (`fit`), and what a
kernel takes to its body (`heads`).
"""

from __future__ import annotations

import io
import re
import tokenize
from functools import lru_cache

from npuforge.generate.lm.form.fit import resolved, with_fits
from npuforge.generate.lm.form.heads import bare, filled
from npuforge.generate.lm.form.inline import Moved, hoisted, inlined
from npuforge.generate.lm.form.quoted import quoted
from npuforge.generate.lm.form.single import single

_HEAD = '"""'
_LEFT = re.compile(r"\bw\d+(?![^\W_])")  # a workspace, alone or in a buffer's name: `w0`, `w0_in`
_ROOMS = re.compile(r"(?:^ +w\d+ = tl\.workspace\(.*\n)+", re.MULTILINE)


def plain(program: str, asked: str) -> str:
    """A planner's program as the model is to write it for what was asked (`task_text`)."""
    text = _in_order(_without_comments(program))
    return bare(quoted(with_fits(inlined(single(text))), asked))


@lru_cache(maxsize=8)  # a program is compiled, then reasoned about
def complete(program: str, soc: str) -> Moved:
    """A model's program as the language has it, line for line; `UsageError` (`TileError`) where it
    is none."""
    moved = hoisted(filled(program))
    return Moved(resolved(moved.text, soc), moved.places)


def _in_order(program: str) -> str:
    """With workspaces numbered as they come: the planner names what is asked for last first."""
    found = {name: f"w{place}" for place, name in enumerate(dict.fromkeys(_LEFT.findall(program)))}
    text = _LEFT.sub(lambda one: found[one[0]], program)
    return _ROOMS.sub(lambda some: "".join(sorted(some[0].splitlines(True), key=_number)), text)


def _number(line: str) -> int:
    return int(line.split(maxsplit=1)[0][1:])


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
