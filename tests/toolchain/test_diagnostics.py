# SPDX-License-Identifier: Apache-2.0
"""Forms of message that the compilers at hand may not print; the others are tested for real."""

from __future__ import annotations

from pathlib import Path

from npuforge.twin.diagnostics import parse, relative
from npuforge.verdict import Diagnostic

ROOTS = [(Path("/p"), ""), (Path("/npuforge"), "npuforge")]


def test_paths_are_shown_from_their_root() -> None:
    assert relative("/p/op_kernel/../k.cpp", ROOTS) == "k.cpp"
    assert relative("/npuforge/a.h", ROOTS) == "npuforge/a.h"
    assert relative("/usr/include/c.h", ROOTS) == "/usr/include/c.h"


def test_lld_names_symbol_and_place() -> None:
    log = (
        "ld.lld: error: undefined symbol: missing()\n"
        ">>> referenced by k.cpp:7 (./k.cpp:7)\n"
        ">>>               /cache/unit.o:(kernel)\n"
    )
    assert parse(log, ROOTS) == [Diagnostic("k.cpp", 7, "undefined symbol: missing()")]


def test_include_chain_leads_to_the_error() -> None:
    log = (
        "In file included from /p/b.h:3,\n"
        "                 from /p/k.cpp:1:\n"
        "/p/a.h:9:5: error: bad\n"
        "/p/a.h:2:1: note: declared here\n"
        "/p/k.cpp:20:1: error: another\n"
    )
    assert parse(log, ROOTS) == [
        Diagnostic("a.h", 9, "bad"),
        Diagnostic("b.h", 3, "note: included from here"),
        Diagnostic("k.cpp", 1, "note: included from here"),
        Diagnostic("a.h", 2, "note: declared here"),
    ]


def test_driver_error_has_no_place() -> None:
    assert parse("g++: fatal error: no input files\n", ROOTS) == [
        Diagnostic(None, None, "no input files")
    ]


def test_warnings_are_no_errors() -> None:
    assert parse("/p/k.cpp:3:1: warning: odd\n", ROOTS) == []
