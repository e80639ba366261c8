# SPDX-License-Identifier: Apache-2.0
"""Bounds that hold for the values of all options: they are text, finite, and of a sane size."""

from __future__ import annotations

from typing import Any

import click

from npuforge.errors import UsageError

_LONGEST = 100_000  # letters of an argument
_LARGEST = 10**9
_LARGEST_FREE = (1 << 63) - 1  # of an integer without a range: a seed


def check_argument(argument: str) -> None:
    """Refuse what no file is called and no option says."""
    if len(argument) > _LONGEST:
        raise UsageError(f"an argument has {len(argument)} letters; at most {_LONGEST} are read")
    if "\0" in argument:
        raise UsageError("an argument holds a NUL")
    if any("\ud800" <= letter <= "\udfff" for letter in argument):
        raise UsageError(f"an argument is not text in UTF-8: {argument[:80]}")


def bound_values(command: click.Command) -> None:
    """Give the numbers among a command's options bounds, where they have none of their own."""
    for parameter in command.params:
        parameter.type = _bounded(parameter.type)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            bound_values(below)


class NumberOrInfinity(click.FloatRange):
    """A number in a range, or infinity, where that has a meaning; NaN has none."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse NaN, which is in no range and outside none."""
        number = super().convert(value, param, ctx)
        if number != number:  # noqa: PLR0124 (NaN)
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class _FiniteFloat(click.FloatRange):
    """A number that is no infinity and no NaN, in a range."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse what a user wrote; a default may be infinite."""
        number = super().convert(value, param, ctx)
        if isinstance(value, str) and not -_LARGEST <= number <= _LARGEST:
            self.fail(f"{value[:40]!r} is not between -1e9 and 1e9.", param, ctx)
        return number


class _BoundedInt(click.IntRange):
    """An integer in a range; a number of too many digits is named by its first ones."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse a number before Python reads all of its digits."""
        if isinstance(value, str) and len(value) > len(str(_LARGEST_FREE)) + 1:
            self.fail(f"{value[:40]!r} is no number of a sane size.", param, ctx)
        return super().convert(value, param, ctx)


def _bounded(kind: click.ParamType[Any]) -> click.ParamType[Any]:
    if isinstance(kind, click.IntRange):
        most = _LARGEST if kind.max is None else kind.max
        return _BoundedInt(kind.min, most, kind.min_open, kind.max_open, kind.clamp)
    if isinstance(kind, NumberOrInfinity):
        return kind
    if isinstance(kind, click.FloatRange):
        return _FiniteFloat(kind.min, kind.max, kind.min_open, kind.max_open, kind.clamp)
    if isinstance(kind, type(click.INT)):
        return _BoundedInt(-_LARGEST_FREE, _LARGEST_FREE)
    if isinstance(kind, type(click.FLOAT)):
        return _FiniteFloat()
    return kind
