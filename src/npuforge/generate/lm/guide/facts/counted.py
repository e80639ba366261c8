# SPDX-License-Identifier: Apache-2.0
"""Numbers of elements in symbols: sizes, and the factors of a product of extents."""

from __future__ import annotations

import ast
import re
from collections import Counter

from npuforge.spec.size import Size, SizeError

Count = Counter[str]

_TYPE = re.compile(r"\w+\[([^\[\]]*)\]")
_FACTOR = re.compile(r"n[a-z]{1,2}|\d+")


def elements_of(line: str) -> Count | None:
    """Of the one tensor that a line of a question is about."""
    extents = extents_of(line)
    return product(" * ".join(extents)) if extents else None


def extents_of(line: str) -> list[str]:
    """Of the one tensor that a line is about; nothing where there are several. A number has an
    axis of one."""
    found = _TYPE.findall(line.rpartition("): ")[2] if " = " in line else line)
    return (found[0] or "1").split(", ") if len(found) == 1 else []


def size_of(text: str) -> Size | None:
    """A size in symbols, whatever it is; nothing where the text is none."""
    try:
        return Size.parse(text)
    except SizeError:
        return None


def spelled(size: Size) -> str:
    """A size as an outline spells it."""
    return ast.unparse(ast.parse(str(size), mode="eval"))


def in_primes(count: Count) -> Count:
    """With the prime factors of numbers: 9 rows and 3 times 3 are as many."""
    found: Count = Counter()
    for factor, times in count.items():
        for one in _primes(int(factor)) if factor.isdigit() else [factor]:
            found[one] += times
    return found


def _primes(number: int) -> list[str]:
    found: list[str] = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(str(divisor))
            number //= divisor
        divisor += 1
    return [*found, str(number)] if number > 1 else found


def product(text: str) -> Count | None:
    """Factors of a product of extents; nothing where it is something else."""
    factors = text.split(" * ") if text else []
    if not factors or not all(_FACTOR.fullmatch(one) for one in factors):
        return None
    return Counter(one for one in factors if one != "1")
