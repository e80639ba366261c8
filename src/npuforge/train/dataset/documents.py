# SPDX-License-Identifier: Apache-2.0
"""Questions and answers from this project's own documentation.

The language page section by section, each of its operations, each rule of the catalogue in several
wordings, and the entries of the knowledge base, whose programs the twin ran. Answers are what the
documents say; what an entry claims, its evidence bears out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from npuforge.knowledge import shipped
from npuforge.knowledge.entry import Claim, Entry
from npuforge.rules.catalogue import Rule, all_rules
from npuforge.tile import texts
from npuforge.train.dataset.record import Chat, Origin
from npuforge.train.records import Message

_SYSTEM = Message("system", "You know Ascend NPUs, AscendC and the tile language.")
_SECTION = re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE)
_OPERATION = re.compile(r"^\| `(tl\.(\w+)\(.*?\))` \| (.+?) \| (.+?) \|$", re.MULTILINE)
_CONSEQUENCES = {
    "CE": "it does not compile",
    "RE": "it ends in an exception or hangs",
    "WR": "results are wrong",
    "SL": "it is slow",
    "NOP": "nothing happens, silently",
}


def document_records() -> Iterator[Chat]:
    """All of them, in a fixed order."""
    yield from _sections(texts.reference())
    yield from _operations(texts.reference())
    for rule in all_rules():
        yield from _rule(rule)
    for entry in shipped.entries():
        yield from _entry(entry)


def _sections(page: str) -> Iterator[Chat]:
    places = list(_SECTION.finditer(page))
    outer = ""
    for place, match in enumerate(places):
        end = places[place + 1].start() if place + 1 < len(places) else len(page)
        body = page[match.end() : end].strip()
        outer = match[2] if len(match[1]) == 2 else outer
        title = match[2] if match[2] == outer else f"{outer}, {match[2].lower()}"
        if body:
            yield _record(f"In the tile language, explain: {title}.", body)
            yield _record(f"What does the documentation of the tile language say on {title}?", body)


def _operations(page: str) -> Iterator[Chat]:
    for call, name, types, meaning in _OPERATION.findall(page):
        yield _record(
            f"What does tl.{name} do, and how is it called?",
            f"`{call}`: {meaning} Element types: {types}.",
        )
        yield _record(f"Which element types does tl.{name} take?", f"`{call}` takes {types}.")


def _rule(rule: Rule) -> Iterator[Chat]:
    ends = ", ".join(_CONSEQUENCES[code] for code in rule.consequence)
    answer = f"{rule.text} Otherwise {ends}. {rule.fix}"
    yield _record(f"What does rule {rule.id} say, and how is it kept?", answer)
    yield _record(f"A kernel breaks {rule.id}. What happens, and what is to be done?", answer)
    yield _record(f"A check reports {rule.id}: {rule.text} How is it repaired?", f"{rule.fix}")


def _entry(entry: Entry) -> Iterator[Chat]:
    """A lesson with the programs that showed it."""
    if not entry.verified or entry.claims is None:
        return
    language = "cpp" if entry.language == "ascendc" else "python"
    before = f"```{language}\n{entry.shown(entry.before)}\n```"
    after = f"```{language}\n{entry.shown(entry.after)}\n```"
    yield _record(
        f"{before}\n{_shortcoming(entry.claims)} Why, and how is it written instead?",
        f"{entry.rationale}\n{after}",
        family="knowledge",
    )


def _shortcoming(claim: Claim) -> str:
    """What is claimed of a program, as a sentence."""
    match claim.kind:
        case "rule":
            return f"This breaks rule {claim.rule}."
        case "wrong":
            return "Its results are wrong."
        case "race":
            return "It has a race."
        case "slower":
            return f"It takes at least {claim.ratio:g} times as long as it needs to."
        case "does not compile" | "does not run":
            return f"This {claim.kind}."


def _record(question: str, answer: str, family: str = "document") -> Chat:
    return Chat(
        messages=[_SYSTEM, Message("user", question), Message("assistant", answer)],
        source="document",
        origin=Origin(family=family),
    )
