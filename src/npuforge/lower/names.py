# SPDX-License-Identifier: Apache-2.0
"""Names of the emitted code: `tile_in` becomes `tileIn`, `softmax_kernel` `SoftmaxKernel`."""

from __future__ import annotations

# Words a variable of the emitted code may not be called: C++ keywords and names of the API.
_RESERVED = frozenset(
    """
    alignas alignof and asm auto bool break case catch char class const constexpr continue default
    delete do double else enum explicit export extern false float for friend goto half if inline
    int long mutable namespace new noexcept not operator or private protected public register
    return short signed sizeof static struct switch template this throw true try typedef typeid
    typename union unsigned using virtual void volatile while xor pipe tiling workspace
    op plan stream problem argc argv main
    """.split()  # noqa: SIM905  # a list of words reads better
)


# Functions of the C library that host code sees: no kernel with C linkage may be called so.
_C_LIBRARY = frozenset(
    """
    abs acos acosh asin asinh atan atan2 atanh bind cbrt ceil clock close connect copysign cos cosh
    div erf erfc exit exp exp2 expm1 fabs floor fma fmax fmin fmod free gamma hypot index j0 j1 jn
    ldexp lgamma link listen log log10 log1p log2 logb lrint lround malloc modf nan pause pipe poll
    pow rand random read realloc recv remainder remove rename rindex rint round select send signal
    sin sinh sleep sqrt strlen sync system tan tanh tgamma time trunc wait write y0 y1 yn
    """.split()  # noqa: SIM905
)


def clashes_with_c(name: str) -> bool:
    """Whether a kernel of this name cannot be declared beside the C library."""
    return name in _C_LIBRARY


def camel(name: str) -> str:
    """`rows_per_core` as `rowsPerCore`."""
    head, *rest = [part for part in name.replace(" ", "_").split("_") if part] or ["value"]
    word = head + "".join(part[:1].upper() + part[1:] for part in rest)
    return word + "Value" if word in _RESERVED or not word.isascii() else word


def pascal(name: str) -> str:
    """`softmax_kernel` as `SoftmaxKernel`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_") if part) or "Kernel"


class Namer:
    """Gives each thing of a scope a name of its own."""

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, key: str, suffix: str = "") -> str:
        """The name for `key`, the same on every call; `suffix` tells kinds apart."""
        whole = f"{key}\0{suffix}"
        if whole not in self._by_key:
            self._by_key[whole] = self.fresh(camel(key) + suffix)
        return self._by_key[whole]

    def fresh(self, wanted: str) -> str:
        """`wanted`, or with a number if it is taken."""
        unique = wanted
        number = 2
        while unique in self._taken:
            unique = f"{wanted}{number}"
            number += 1
        self._taken.add(unique)
        return unique
