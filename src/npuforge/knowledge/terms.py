# SPDX-License-Identifier: Apache-2.0
"""Texts as terms for the index of identifiers: whole names, and what they are made of.

DataCopyPad -> datacopypad data copy pad        ALN-01 -> aln_01 aln
tl.num_cores -> tl_num_cores tl num cores       GM_ADDR -> gm_addr gm addr
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from npuforge import rules
from npuforge.knowledge.entry import Entry
from npuforge.knowledge.words import words

_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|-(?=\d))\w+)*|\d{2,}")
_RULE = re.compile(r"\b[A-Z]{2,4}-\d{2}\b")
_MOST_RULES = 2  # whose text a description repeats
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_JOINTS = re.compile(r"\W+|_{2,}")
_COMMENT = re.compile(
    r"//[^\n]*|/\*.*?\*/|^\s*#(?!\s*(?:include|define|if|pragma))[^\n]*", re.S | re.M
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def terms(text: str) -> Iterator[str]:
    """Of any text, names in the order in which they come; parts of compound names follow them."""
    for name in _NAME.findall(text):
        whole = _JOINTS.sub("_", name).strip("_").lower()
        parts = [part.lower() for part in _PART.findall(name)]
        if whole and whole not in _common():
            yield whole
        if len(parts) > 1:
            yield from (
                part for part in parts if len(part) > 1 and part not in _common() and part.isalpha()
            )


@cache
def _common() -> frozenset[str]:
    return frozenset(words().common)


def code_terms(code: str) -> Iterator[str]:
    """Of a program: its names without comments and strings."""
    yield from terms(_STRING.sub(" ", _COMMENT.sub(" ", code)))


def indexed(entry: Entry) -> tuple[str, str]:
    """What the index holds of an entry, every term once: those of its identifiers and its title,
    then those that only its programs have."""
    named = (*rules_of(entry), *entry.identifiers, entry.title)
    head = dict.fromkeys(terms(" ".join(named)))
    code = entry.shown(entry.after) + (entry.shown(entry.before) if entry.before else "")
    rest = dict.fromkeys(term for term in code_terms(code) if term not in head)
    return " ".join(head), " ".join(rest)


def description(entry: Entry) -> str:
    """What is embedded: the title, what the rules say that it is about, how the program before
    failed and its themes, both in words of the hardware, the reasons."""
    known = words()
    said = [f"{entry.title}.", *(rules.get(rule).text for rule in rules_of(entry)[:_MOST_RULES])]
    if entry.claims is not None:
        cause = {"slower": "slow"}.get(entry.claims.kind, entry.claims.kind)
        said.append(f"{known.causes[cause]}.")
    said += [f"{known.tags[tag]}." for tag in entry.tags]
    return " ".join([*said, entry.rationale])


def rules_of(entry: Entry) -> list[str]:
    """The rules that it is about: of its claim, its identifiers, and those that Before broke."""
    claimed = [entry.claims.rule] if entry.claims is not None and entry.claims.rule else []
    broke = _RULE.findall(entry.evidence.before) if entry.evidence is not None else []
    return list(dict.fromkeys((*claimed, *entry.rules, *broke)))
