# SPDX-License-Identifier: Apache-2.0
"""One piece of knowledge: what it is about, why it is so, and programs that show it.

An `Entry` that exists is well formed: everything is checked when it is made. Whether it is true is
another matter (`verify`); `verified` says whether its evidence belongs to its programs.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from npuforge import dtypes, rules
from npuforge.errors import UsageError
from npuforge.knowledge.boundary import Boundary
from npuforge.knowledge.scope import VERSIONS, Scope
from npuforge.knowledge.words import words
from npuforge.language import Language
from npuforge.soc.data import available
from npuforge.untrusted.documents import parse_toml

# Took two rounds or more; the documents are wrong; faster; a better derivation.
Criterion = Literal["difficulty", "correction", "speed", "derivation"]

LEAST_RATIO = 1.10  # a smaller speed-up is not worth an entry
LONGEST_CODE = 60_000
_LONGEST_LINE = 200
LONGEST_RATIONALE = 6_000
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_RULE = re.compile(r"[A-Z]{2,4}-\d{2}")
_SLOWER = re.compile(r"slower (\d+(?:\.\d+)?)")
_PLAIN_CLAIMS = ("does not compile", "does not run", "wrong", "race")
_DATA_WORDS = ("random", "normal", "zeros", "ones", "arange")
_MARKS = {"ascendc": "//", "tile": "#"}


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is decided (`subject`), and how. Entries of one subject conflict or repeat."""

    subject: str
    choice: str


class Claim(msgspec.Struct, frozen=True):
    """How Before falls short of After: `rule` names the one it breaks, `ratio` how much it lags."""

    text: str
    kind: Literal["rule", "does not compile", "does not run", "wrong", "race", "slower"]
    rule: str = ""
    ratio: float = 0.0


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the twin found, written by `verify` alone. `digest` is of what was run; times are those
    of the first case."""

    digest: str
    soc: str
    version: str
    cases: int
    after: str
    before: str = ""
    after_us: float | None = None
    before_us: float | None = None
    ratio: float | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Empty `operators`, `dtypes` and `soc` mean any. `before` is optional and goes with `claim`;
    `launch` is a launch file (for tile programs in the form of operators); `auto_sync` is off for
    kernels that order their pipes by hand, as in `npuforge check --no-auto-sync`."""

    id: str
    title: str
    criterion: Criterion
    language: Language
    rationale: str
    after: str
    launch: str
    claim: str = ""
    before: str = ""
    operators: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    soc: tuple[str, ...] = ()
    cann: str = ">=8.0"
    tags: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    advises: Advice | None = None
    auto_sync: bool = True
    boundary: tuple[Boundary, ...] = ()
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        for name in ("before", "after", "launch"):
            text = getattr(self, name)
            msgspec.structs.force_setattr(self, name, text.strip("\n") + "\n" if text else "")
        msgspec.structs.force_setattr(self, "rationale", self.rationale.strip())
        problem = next(_problems(self), None)
        if problem is not None:
            raise UsageError(f"entry {self.id!r}: {problem}")

    @property
    def digest(self) -> str:
        """Of everything that `verify` runs or judges by."""
        order = "ordered by the compiler" if self.auto_sync else "ordered by hand"
        parts = (self.language, order, self.claim, self.before, self.after, self.launch)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    @property
    def verified(self) -> bool:
        return self.evidence is not None and self.evidence.digest == self.digest

    @property
    def claims(self) -> Claim | None:
        """The claim in parts; None where nothing is claimed of Before."""
        return claim_of(self.claim) if self.claim else None

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of the catalogue that it is about."""
        return tuple(word for word in self.identifiers if _RULE.fullmatch(word))

    @property
    def scope(self) -> Scope:
        return Scope(
            language=self.language,
            operators=self.operators,
            dtypes=self.dtypes,
            soc=self.soc,
            cann=self.cann,
            boundary=self.boundary,
        )

    def shown(self, code: str) -> str:
        """What a prompt shows of a program: the stretches between `// [` and `// ]` lines (`# [` in
        tile programs), else all of it."""
        mark = _MARKS[self.language]
        kept: list[list[str]] = []
        inside = False
        for line in code.splitlines():
            word = line.strip()
            if word == f"{mark} [":
                inside = True
                kept.append([])
            elif word == f"{mark} ]":
                inside = False
            elif inside:
                kept[-1].append(line)
        return f"\n{mark} ...\n".join("\n".join(part) for part in kept) + "\n" if kept else code


def claim_of(text: str) -> Claim:
    """`UsageError` where it is none of the forms there are."""
    for plain in _PLAIN_CLAIMS:
        if text == plain:
            return msgspec.convert({"text": text, "kind": plain}, Claim)
    if text.startswith("rule "):
        _known_rule(text.removeprefix("rule "))
        return Claim(text, "rule", rule=text.removeprefix("rule "))
    if (match := _SLOWER.fullmatch(text)) is not None:
        if float(match[1]) < LEAST_RATIO:
            raise UsageError(f"a claim of {match[1]} is below the threshold {LEAST_RATIO}")
        return Claim(text, "slower", ratio=float(match[1]))
    known = ", ".join((*_PLAIN_CLAIMS, "rule ID", "slower RATIO"))
    raise UsageError(f"no claim {text!r}; there are {known}")


def _known_rule(rule: str) -> None:
    try:
        rules.get(rule)
    except KeyError:
        raise UsageError(f"no rule {rule!r} in the catalogue") from None


def _problems(entry: Entry) -> Iterator[str]:
    """What is wrong with it, the first first."""
    if not _ID.fullmatch(entry.id) or len(entry.id) > 80:
        yield "an id is made of small letters, digits and single hyphens, 80 at most"
    yield from _line("title", entry.title)
    if not entry.rationale:
        yield "there is no rationale"
    if len(entry.rationale) > LONGEST_RATIONALE:
        yield f"the rationale has {len(entry.rationale)} characters of {LONGEST_RATIONALE}"
    if any(line.startswith(("## ", "```")) for line in entry.rationale.split("\n")):
        yield "no line of the rationale begins with '## ' or '```'"
    for name in ("rationale", "before", "after", "launch"):
        yield from _text(name, getattr(entry, name))
    yield from _metadata(entry)
    yield from _artifact(entry)
    yield from _evidence(entry.evidence)


def _metadata(entry: Entry) -> Iterator[str]:
    known = words()
    for name, used, allowed in (
        ("operator", entry.operators, known.operators),
        ("tag", entry.tags, tuple(known.tags)),
        ("chip", entry.soc, tuple(available())),
    ):
        for word in used:
            if word not in allowed:
                yield f"no {name} {word!r}; there are {', '.join(allowed)}"
    if not entry.tags:
        yield "it needs a tag"
    for dtype in entry.dtypes:
        try:
            if dtypes.find(dtype).name != dtype:
                yield f"the element type {dtype!r} is called {dtypes.find(dtype).name!r}"
        except UsageError as error:
            yield str(error)
    if not VERSIONS.fullmatch(entry.cann):
        yield f"no range of versions: {entry.cann!r}; one is '>=8.0'"
    for word in entry.identifiers:
        if not word or word.split() != [word] or not word.isprintable() or len(word) > 80:
            yield f"no identifier: {word!r}"
        elif _RULE.fullmatch(word) and word not in {rule.id for rule in rules.all_rules()}:
            yield f"no rule {word!r} in the catalogue"
    if entry.advises is not None:
        yield from _line("subject", entry.advises.subject)
        yield from _line("choice", entry.advises.choice)
    for name in ("operators", "dtypes", "soc", "tags", "identifiers", "boundary"):
        used = getattr(entry, name)
        if len(set(used)) < len(used):
            yield f"{name} repeats itself"


def _artifact(entry: Entry) -> Iterator[str]:
    if not entry.after.strip():
        yield "there is no program under After"
    if bool(entry.claim) != bool(entry.before):
        yield "a claim and a program under Before go together"
    if entry.language == "tile" and not entry.auto_sync:
        yield "the compiler orders tile programs: auto_sync is not theirs to switch off"
    if entry.claim:
        try:
            claim_of(entry.claim)
        except UsageError as error:
            yield str(error)
    for name in ("before", "after", "launch"):
        if len(getattr(entry, name)) > LONGEST_CODE:
            yield f"{name} has more than {LONGEST_CODE} characters"
    try:
        table = parse_toml(entry.launch, "Launch is no TOML")
    except UsageError as error:
        yield str(error)
        return
    if not table:
        yield "Launch says nothing"
    yield from _files(table)


def _files(value: Any, key: str = "") -> Iterator[str]:
    """An entry stands alone and may come from anybody: its launch reads no file."""
    if key in ("file", "reference"):
        yield f"Launch has {key!r}: an entry reads no files"
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _files(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _files(inner)
    elif isinstance(value, str) and key == "data" and value not in _DATA_WORDS:
        yield f"Launch has data {value!r}: an entry reads no files"
    elif isinstance(value, str) and value.endswith((".npy", ".bin")):
        yield f"Launch names {value!r}: an entry reads no files"


def _evidence(evidence: Evidence | None) -> Iterator[str]:
    if evidence is None:
        return
    for name in ("digest", "soc", "version", "after"):
        yield from _line(f"evidence: {name}", getattr(evidence, name))
    if evidence.before and not evidence.before.isprintable():
        yield "evidence: before is one line"
    figures = (evidence.after_us, evidence.before_us, evidence.ratio)
    if any(figure is not None and not math.isfinite(figure) for figure in figures):
        yield "evidence: a figure is not finite"


def _line(name: str, text: str) -> Iterator[str]:
    if not text.strip() or not text.isprintable() or len(text) > _LONGEST_LINE:
        yield f"{name} is one line of at most {_LONGEST_LINE} characters"


def _text(name: str, text: str) -> Iterator[str]:
    odd = next((char for char in text if not char.isprintable() and char not in "\n\t"), None)
    if odd is not None:
        yield f"{name} has the character {odd!a}"
