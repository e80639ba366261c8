# SPDX-License-Identifier: Apache-2.0
"""A program held against the outline of its kernels.

A kernel loads, quotes and stores what its outline says, in that order, in buffers of the shapes
that follow from it, and is launched with what its parameters were said to stand for. What leaves no
choice is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from npuforge.generate.lm.form.heads import taken
from npuforge.generate.lm.form.quoted import MARK, about, indentation, is_quote
from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.given_kernels import body_of
from npuforge.generate.lm.guide.facts.meaning import SHARED, Meaning
from npuforge.generate.lm.guide.facts.purpose import ROWS, STREAM, Purpose
from npuforge.generate.lm.guide.rules.blocks import foreign, read_enough
from npuforge.generate.lm.guide.rules.buffers import misshapen, overrun
from npuforge.generate.lm.guide.rules.casts import wide_already
from npuforge.generate.lm.guide.rules.extremes import beginning
from npuforge.generate.lm.guide.rules.finished import finish_first, unfinished
from npuforge.generate.lm.guide.rules.left import left_first, too_early
from npuforge.generate.lm.guide.rules.loads import loading
from npuforge.generate.lm.guide.rules.masks import masked
from npuforge.generate.lm.guide.rules.parted import block, pointers
from npuforge.generate.lm.guide.rules.parts import unread
from npuforge.generate.lm.guide.rules.ranges import alone, counted
from npuforge.generate.lm.guide.rules.reads import (
    LOAD,
    loop,
    numbers_first,
    opening,
    read_next,
)
from npuforge.generate.lm.guide.rules.rooms import misplaced
from npuforge.generate.lm.guide.rules.shares import shared_out
from npuforge.generate.lm.guide.rules.sized import sized
from npuforge.generate.lm.guide.rules.stated import instruction
from npuforge.generate.lm.guide.rules.stores import stored
from npuforge.generate.lm.guide.rules.wide import cast_first

_STORE = re.compile(r"^ +tl\.store\((\w+)", re.MULTILINE)
_QUOTED = re.compile(rf"^ +{MARK}(\w+) = ", re.MULTILINE)
_LEAVING = re.compile(r"^ +(\w+?)_out\w* = tl\.alloc")
_COPYOUT = "with tl.copyout():"
_LAUNCH = re.compile(r"^ +(\w+)\[((?:(\w+)_cores)|[^\]]*)\]\(.*\)$")
_EXTENT = re.compile(r"n[a-z]{1,2}|w\d+")
# What kernels take besides what their outlines say: shares of the work, extents, workspaces.
_USUAL = re.compile(r"per_core|tiles?|units|rounds|share|n[a-z]{1,2}|w\d+")


@dataclass(frozen=True, slots=True)
class Intent:
    """The kernels of an outline, as far as they can be."""

    kernels: Mapping[str, Purpose]

    def parameters(self, kernel: str) -> Set[str]:
        """Names that a kernel has for tensors and sizes which are called otherwise outside."""
        purpose = self.kernels.get(kernel)
        return purpose.parameters.keys() if purpose is not None else frozenset[str]()

    def opening(self, kernel: str, meaning: Meaning) -> str:
        """The lines that a kernel begins with, where there is no choice."""
        purpose = self.kernels.get(kernel)
        known = purpose is not None and purpose.leaves and not kernel.endswith(SHARED)
        if purpose is None:
            return ""
        whole = body_of(purpose, meaning)
        return whole or (opening(purpose, meaning) if known else "")

    def following(self, program: str, last: str, kernel: str, meaning: Meaning) -> str:
        """The lines after another one, where there is no choice: the head of a loop, or stores; how
        a tensor is read that was quoted; after the quote of a value which is only looked at
        otherwise, and has no instructions, that of the next."""
        purpose = self.kernels.get(kernel)
        if purpose is None or kernel.endswith(SHARED):
            return ""
        if not is_quote(last):
            body = program.rpartition(f"def {kernel}(")[2]
            return (
                loop(last, purpose, meaning)
                or block(last, purpose, meaning)
                or stored(body, last, purpose, meaning)
            )
        value = about(last)
        if purpose.way.startswith(STREAM) and (all_ := alone(last, value, meaning)):
            return all_
        if value in meaning.results.values():
            return ""
        if not meaning.operations.get(value):
            return loading(last, purpose, meaning)
        body = program.rpartition(f"def {kernel}(")[2]
        if range_ := counted(last, value, body, purpose, meaning):
            return range_
        if value not in purpose.computes or not meaning.is_look(value):
            return ""
        following = purpose.computes[purpose.computes.index(value) + 1 :]
        known = following and following[0] in meaning.lines
        return f"{indentation(last)}{MARK}{meaning.lines[following[0]]}\n" if known else ""

    def instead(self, program: str, last: str, kernel: str, meaning: Meaning) -> str | None:
        """What must stand instead of the last line of a kernel, where it is not what is read or
        computed next."""
        purpose = self.kernels.get(kernel)
        body = program.rpartition(f"def {kernel}(")[2]
        if purpose is None or kernel.endswith(SHARED):
            return None
        return (
            beginning(last, purpose, meaning)
            or _next(body, last, purpose, meaning)
            or finish_first(body, last, purpose, meaning)
            or read_next(body, last, purpose, meaning)
            or read_enough(body, last, purpose, meaning)
            or numbers_first(body, last, purpose, meaning)
            or left_first(body, last, purpose, meaning)
            or cast_first(body, last, purpose, meaning)
            or sized(body, last, purpose, meaning)
        )

    def instruction(self, program: str, kernel: str, meaning: Meaning) -> str | None:
        """What must stand instead of a line that was refused, the last one of a kernel."""
        purpose = self.kernels.get(kernel)
        body = program.rpartition(f"def {kernel}(")[2]
        if purpose is None or kernel.endswith(SHARED):
            return None
        return instruction(body, purpose, meaning) or masked(body, purpose, meaning)

    def line(self, program: str, last: str, kernel: str, meaning: Meaning) -> str | None:
        """What is wrong with the last line of a kernel, the last part of a program."""
        purpose = self.kernels.get(kernel)
        if purpose is None or kernel.endswith(SHARED) or not purpose.leaves:
            return None
        body = program.rpartition(f"def {kernel}(")[2]
        if (stray := _stray(body, purpose, meaning)) is not None:
            return f"{stray} has no value in {kernel}"
        if not last:
            left = {purpose.tensor(name) for name in _STORE.findall(body)}
            missing = purpose.leaves.keys() - left
            return f"{kernel} leaves {min(missing)} too" if missing else None
        if (load := LOAD.match(last)) is not None and purpose.tensor(load[1]) not in purpose.reads:
            return f"{kernel} does not read {load[1]}"
        if (wrong := misplaced(last, purpose) or foreign(last, purpose)) is not None:
            return wrong
        store = _STORE.match(last)
        if store is not None and purpose.tensor(store[1]) not in purpose.leaves:
            return f"{kernel} does not leave {store[1]}"
        if (value := unfinished(body, last, purpose, meaning)) is not None:
            return f"{value} is not finished"
        for check in (unread, too_early):
            if (said := check(body, last, purpose, meaning)) is not None:
                return said
        if _QUOTED.match(last):
            named = _in_order(_QUOTED.findall(body), meaning)
            if named != _in_order(purpose.computes, meaning)[: len(named)]:
                return f"{named[-1]} is not what {kernel} computes next"
        return (
            misshapen(last, purpose, meaning) or overrun(last, body) or wide_already(last, meaning)
        )

    def pointers(self, kernel: str, meaning: Meaning) -> dict[str, str]:
        """Values that are parts of tensors, by the pointers that a kernel reads them at."""
        purpose = self.kernels.get(kernel)
        known = purpose is not None and not kernel.endswith(SHARED)
        return pointers(purpose, meaning) if purpose is not None and known else {}

    def counted(self, last: str, kernel: str, meaning: Meaning) -> str | None:
        """What must stand instead of a line of the host that counts the work of a kernel."""
        purpose = self.kernels.get(kernel)
        known = purpose is not None and not kernel.endswith(SHARED)
        return shared_out(last, purpose, meaning) if purpose is not None and known else None

    def launch(self, last: str, kernel: str, names: list[str], meaning: Meaning) -> str | None:
        """What must stand instead of a launch of a kernel of these parameters: it leaves no choice.
        All 14,287 taught ones give tensors and extents by their names, what the outline says for
        what it speaks of, and for the rest what was counted for this kernel."""
        found = _LAUNCH.match(last)
        purpose = self.kernels.get(kernel)
        if found is None or found[1] != kernel or purpose is None:
            return None
        if kernel.endswith(SHARED):
            return _with_said(last, names, purpose)
        counted = f"{found[3]}_" if found[3] else ""
        given = [
            purpose.parameters.get(name) or (name if _is_given(name, meaning) else counted + name)
            for name in names
        ]
        right = f"{indentation(last)}{kernel}[{found[2]}]({', '.join(given)})"
        return right if right != last else None


def _with_said(last: str, names: list[str], purpose: Purpose) -> str | None:
    """The launch of a kernel that is the same for many operators, with what its outline says."""
    head, _, rest = last.partition("](")
    given = arguments(rest.removesuffix(")"))
    if len(given) != len(names):
        return None
    said = [purpose.parameters.get(name, one) for name, one in zip(names, given, strict=True)]
    right = f"{head}]({', '.join(said)})"
    return right if right != last else None


def _is_given(name: str, meaning: Meaning) -> bool:
    """Whether a parameter is a tensor or an extent."""
    tensor = name in meaning.results or meaning.operations.get(name) == ""
    return tensor or _EXTENT.fullmatch(name) is not None


def _next(body: str, last: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """The quote that must stand instead of a line that leaves what is not computed yet: a block
    that leaves results comes after all values, and the buffer of a result after its own."""
    if not purpose.way.startswith((ROWS, STREAM)) or not purpose.leaves:
        return None
    quoted = _QUOTED.findall(body)
    waiting = [one for one in _in_order(purpose.computes, meaning) if one not in quoted]
    if not waiting:
        return None
    if last.endswith(_COPYOUT):
        return f"{indentation(last)}    {MARK}{meaning.lines[waiting[0]]}"
    found = _LEAVING.match(last)
    result = meaning.results.get(found[1]) if found is not None else None
    if result is None or meaning.moves:
        return None
    made = (one for one in meaning.between(result, ()) if meaning.operations[one])
    value = next(filter(meaning.computes, made), None)
    return f"{indentation(last)}{MARK}{meaning.lines[waiting[0]]}" if value in waiting else None


def _stray(body: str, purpose: Purpose, meaning: Meaning) -> str | None:
    """A name that nothing gives a value and that is no parameter: neither a tensor, nor an extent,
    nor what the outline says that the kernel counts in, nor what every host gives."""
    if not purpose.way:
        return None  # a kernel that is the same for many operators, with names of its own
    for name in taken(line for line in body.splitlines() if line.startswith(" ")):
        tensor = name in meaning.results or meaning.operations.get(name) == ""
        if not tensor and name not in purpose.parameters and not _USUAL.fullmatch(name):
            return name
    return None


def _in_order(values: Iterable[str], meaning: Meaning) -> list[str]:
    """Each once, without those that need no instructions: these are quoted where they are used."""
    return [one for one in dict.fromkeys(values) if one in meaning.lines and meaning.computes(one)]
