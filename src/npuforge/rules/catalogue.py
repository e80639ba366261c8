# SPDX-License-Identifier: Apache-2.0
"""Load `catalogue.toml` and answer questions about single rules."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Severity = Literal["error", "warning", "advice"]
Consequence = Literal["CE", "RE", "WR", "SL", "NOP"]
Place = Literal["compile", "lint", "check", "time", "host", "tile", "later", "no"]
Origin = Literal["reference", "ours"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the hardware, the compiler or the programming model."""

    id: str
    text: str
    fix: str
    consequence: tuple[Consequence, ...]
    severity: Severity
    enforced: tuple[Place, ...]
    reason: str = ""
    pipes: tuple[tuple[str, str], ...] = ()
    origin: Origin = "reference"

    @property
    def family(self) -> str:
        """The letters of the id: `ALN` of `ALN-01`."""
        return self.id.partition("-")[0]


def get(rule_id: str) -> Rule:
    """The rule with this id; `KeyError` for an id that is not in the catalogue."""
    return _catalogue()[rule_id]


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the catalogue."""
    return tuple(_catalogue().values())


def for_pipes(first: str, second: str) -> Rule | None:
    """The rule broken when pipe `second` does not wait for pipe `first`."""
    return _by_pipes().get((first, second))


@cache
def _catalogue() -> Mapping[str, Rule]:
    text = files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    return {rule_id: _rule(rule_id, entry) for rule_id, entry in tomllib.loads(text).items()}


@cache
def _by_pipes() -> Mapping[tuple[str, str], Rule]:
    return {pair: rule for rule in all_rules() for pair in rule.pipes}


def _rule(rule_id: str, entry: Mapping[str, Any]) -> Rule:
    rule = Rule(
        id=rule_id,
        text=entry["rule"],
        fix=entry["fix"],
        consequence=tuple(entry["consequence"]),
        severity=entry["severity"],
        enforced=tuple(entry["enforced"]),
        reason=entry.get("reason", ""),
        pipes=tuple((first, second) for first, second in entry.get("pipes", ())),
        origin=entry.get("origin", "reference"),
    )
    _validate(rule)
    return rule


def _validate(rule: Rule) -> None:
    """A catalogue with a misspelt word must not load."""
    if (
        rule.severity not in get_args(Severity)
        or not set(rule.consequence) <= set(get_args(Consequence))
        or not rule.enforced
        or not set(rule.enforced) <= set(get_args(Place))
        or rule.origin not in get_args(Origin)
    ):
        raise ValueError(f"catalogue.toml: {rule.id} has an unknown word")
    if {"no", "later"} & set(rule.enforced) and not rule.reason:
        raise ValueError(f"catalogue.toml: {rule.id} must say why it is not enforced")
