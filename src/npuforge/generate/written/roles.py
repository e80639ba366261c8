# SPDX-License-Identifier: Apache-2.0
"""Who is asked besides the coder: each a prompt of its own, and each may be left out.

planner   before the first program: a schedule in words, which the coder gets
tester    before the first program: sizes and values at which kernels for the module go wrong; they
          become cases of the proof
reviewer  before a program is built: faults that it sees are repaired first
profiler  on a program that is right: where its time goes and what to change, for the coder
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from npuforge.errors import UsageError
from npuforge.generate.cases import ProofCase, counter, free_symbols
from npuforge.generate.written.answer import blocks
from npuforge.generate.written.attempt import Attempt
from npuforge.generate.written.prompts import render
from npuforge.generate.written.task import Prompts
from npuforge.models import Client, Message
from npuforge.spec.graph import Graph, Symbol

Role = Literal["planner", "tester", "reviewer", "profiler"]
ROLES: tuple[Role, ...] = get_args(Role)
_MOST_CASES = 6
_MOST_ELEMENTS = 2_000_000
_LONGEST = 6_000
_APPROVED = re.compile(r"\s*(\W*)approved?\b", re.IGNORECASE)
_FIRST_SEED = 100


class _Proposed(msgspec.Struct, forbid_unknown_fields=True):
    """A case as a tester writes it; `sizes` are by extent: `x[0]`."""

    sizes: dict[str, int]
    values: Literal["own", "signed", "large", "special"] = "own"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Roles:
    """Those that take part."""

    client: Client
    present: frozenset[Role] = frozenset()
    prompts: Prompts = None

    def plan(self, brief: Sequence[Message]) -> list[Message]:
        """The brief, with a planner's schedule where there is one."""
        if "planner" not in self.present:
            return list(brief)
        asked = render("planner", self.prompts)
        said = self._ask("planner", [*brief, Message("user", asked)])
        told = Message("user", render("planned", self.prompts, plan=said))
        return [*brief, told] if said else list(brief)

    def cases(self, graph: Graph, module: str) -> list[ProofCase]:
        """What a tester wants proven besides; what it proposes and cannot be run is left out."""
        symbols = free_symbols(graph)
        if "tester" not in self.present or not symbols:
            return []
        text = render(
            "tester",
            self.prompts,
            module=module.strip(),
            symbols=[(_called(s), s.example, s.least) for s in symbols],
            most=_MOST_CASES,
        )
        said = self._ask("tester", [Message("user", text)])
        return proposed_cases(said, graph)

    def review(self, brief: Sequence[Message], code: str, fence: str) -> str | None:
        """What a reviewer finds wrong; None where that is nothing."""
        if "reviewer" not in self.present:
            return None
        text = render("reviewer", self.prompts, program=code, fence=fence)
        said = self._ask("reviewer", [*brief, Message("user", text)])
        return None if not said or _APPROVED.match(said) else said

    def profile(self, brief: Sequence[Message], origin: Attempt, fence: str) -> str | None:
        """What a profiler reads from the time of a right program."""
        if "profiler" not in self.present or not origin.right or origin.trial is None:
            return None
        text = render(
            "profiler",
            self.prompts,
            program=origin.trial.variant.program,
            fence=fence,
            feedback=origin.feedback.text,
        )
        return self._ask("profiler", [*brief, Message("user", text)]) or None

    def _ask(self, purpose: Role, messages: Sequence[Message]) -> str:
        return self.client.ask(messages, purpose=purpose).text.strip()[:_LONGEST]


def roles_of(names: Collection[str]) -> frozenset[Role]:
    """`all`, or some of them; `UsageError` for a name that is none."""
    if "all" in names:
        return frozenset(ROLES)
    for name in names:
        if name not in ROLES:
            raise UsageError(f"no role {name!r}; roles: {', '.join(ROLES)}, all")
    return frozenset(role for role in ROLES if role in names)


def _called(symbol: Symbol) -> str:
    """What a tester calls a size."""
    return f"{symbol.source}[{symbol.axis}]"


def proposed_cases(said: str, graph: Graph) -> list[ProofCase]:
    """The cases in a tester's answer, as far as they are cases."""
    text = next((block.text for block in blocks(said) if "[" in block.text), said)
    start, end = text.find("["), text.rfind("]")
    try:
        found = msgspec.json.decode(text[start : end + 1], type=list[_Proposed])
    except msgspec.MsgspecError:
        return []
    symbols = free_symbols(graph)
    names = {_called(symbol) for symbol in symbols}
    count = counter(graph)
    kept: list[ProofCase] = []
    for number, one in enumerate(found[:_MOST_CASES]):
        sizes = {s.name: one.sizes.get(_called(s), s.example) for s in symbols}
        known = one.sizes.keys() <= names
        large_enough = all(sizes[s.name] >= max(1, s.least) for s in symbols)
        if known and large_enough and count(sizes) <= _MOST_ELEMENTS:
            name = f"tester {number + 1}" + (f", {one.why[:60]}" if one.why else "")
            kept.append(ProofCase(name, (sizes,), _FIRST_SEED + number, values=one.values))
    return kept
