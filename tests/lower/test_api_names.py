# SPDX-License-Identifier: Apache-2.0
"""Every name of the device API in emitted kernels is one that the public reference has."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.lower.api_use import ApiUse
from tests.lower.format_programs import BLEND, CENTRE, EXAMPLES, LAST

from npuforge.errors import UsageError
from npuforge.lower import library
from npuforge.lower.compiler import lower
from npuforge.lower.formats.msopgen import kernel_source

KNOWN: dict[str, Any] = tomllib.loads(Path(__file__).with_name("api_names.toml").read_text())
_LANGUAGE = {"static_cast", "reinterpret_cast"}


@pytest.fixture(scope="module")
def used() -> ApiUse:
    found = ApiUse()
    programs = [path.read_text() for path in sorted(EXAMPLES.glob("*.py"))]
    for text in (*programs, BLEND, CENTRE, LAST):
        found.add(kernel_source(lower(text).host))
    for name in library.names():
        found.add("\n".join(library.closure([name])))
    return found


def test_functions_have_the_documented_numbers_of_arguments(used: ApiUse) -> None:
    known = {**KNOWN["functions"], **KNOWN["macros"], **KNOWN["structures"]}
    for name, counts in used.functions.items():
        if name not in _LANGUAGE:
            assert counts <= set(known.get(name, ())), (name, counts)


def test_members_have_the_documented_numbers_of_arguments(used: ApiUse) -> None:
    for name, counts in used.members.items():
        assert counts <= set(KNOWN["members"].get(name, ())), (name, counts)


def test_enumerations_have_the_values(used: ApiUse) -> None:
    for scope, name in used.scoped:
        assert name in KNOWN["enumerations"].get(scope, ()), (scope, name)


def test_types_exist(used: ApiUse) -> None:
    values = {value for names in KNOWN["enumerations"].values() for value in names}
    known = {name for names in KNOWN["types"].values() for name in names}
    assert used.types <= known | values | set(KNOWN["constants"]["values"])


def test_constants_exist(used: ApiUse) -> None:
    """What is left: capital letters are macros and constants of the API."""
    values = {value for names in KNOWN["enumerations"].values() for value in names}
    known = values | set(KNOWN["constants"]["values"]) | set(KNOWN["macros"])
    left = {name for name in used.names if name.isupper() and len(name) > 1}
    assert left <= known


def test_an_invented_name_is_noticed() -> None:
    use = ApiUse()
    use.add("void F() { NoSuchCall(1, 2); queue.Nothing(); PipeBarrier<PIPE_NONE>(); }")
    assert use.functions["NoSuchCall"] == {2}
    assert use.members["Nothing"] == {0}
    assert "NoSuchCall" not in KNOWN["functions"]
    with pytest.raises(UsageError):
        library.helper("NoSuchCall")
