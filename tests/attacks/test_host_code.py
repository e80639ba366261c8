# SPDX-License-Identifier: Apache-2.0
"""Attacks by host code: it runs in the process whose standard output is its answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.compilers import find_compiler
from npuforge.twin.host.description import describe

_SOURCE = """
#include <unistd.h>
__attribute__((constructor)) static void answer() {
    const char *text = %s;
    for (long i = 0; i < %d; ++i) write(1, text, __builtin_strlen(text));
    _exit(0);
}
"""
_OPERATOR = {
    "type": "Op", "kernel": "op", "inputs": [], "outputs": [], "attrs": [], "socs": {},
    "tiling": True, "infer_shape": True, "infer_data_type": True, "value_depend": [],
}  # fmt: skip
_FINE = {"status": "ok", "operators": [], "tiling_classes": [], "templates": {}, "log": []}
_FIELD = {
    "type": "int", "name": "f", "offset": 0, "size": 4, "array_length": 0, "is_struct": False,
    "is_padding": False, "members": [],
}  # fmt: skip


def _nested(depth: int) -> dict[str, object]:
    field: dict[str, object] = dict(_FIELD)
    for _ in range(depth):
        field = {**_FIELD, "is_struct": True, "members": [field]}
    return field


def _with_field(field: dict[str, object]) -> dict[str, object]:
    struct = {
        "registered_as": "Op", "struct": "S", "size": 4, "library": False, "fields": [field],
    }  # fmt: skip
    return {**_FINE, "tiling_classes": [struct]}


_ANSWERS: dict[str, tuple[object, int]] = {
    "nothing": ("", 1),
    "no object": ([], 1),
    "empty": ({}, 1),
    "a status alone": ({"status": "ok"}, 1),
    "another status": ({"status": "fine", "message": ["x"] * 1000}, 1),
    "a long message": ({"status": "failed", "message": "x\n\x1b[2J" * 30_000}, 1),
    "a name that is code": ({**_FINE, "operators": [{**_OPERATOR, "type": "x; int y"}]}, 1),
    "an operator short of fields": ({**_FINE, "operators": [{"type": "Op"}]}, 1),
    "a field outside": (_with_field({**_FIELD, "offset": 1 << 62}), 1),
    "a field that is negative": (_with_field({**_FIELD, "size": -1}), 1),
    "fields that are nested": (_with_field(_nested(200)), 1),
    "two answers": (_FINE, 2),
    "without end": ("[" * 1000, 10_000_000),
    "deep": ("[" * 1000, 100),
}  # fmt: skip


@pytest.mark.parametrize("name", _ANSWERS)
def test_a_forged_description_is_one_line(name: str, tmp_path: Path) -> None:
    answer, times = _ANSWERS[name]
    text = answer if isinstance(answer, str) else json.dumps(answer)
    (tmp_path / "host.cpp").write_text(_SOURCE % (json.dumps(text), times))
    command = [*find_compiler().command, "-shared", "-fPIC", "-w", "host.cpp", "-o", "host.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with pytest.raises(UsageError) as caught:
        describe(tmp_path / "host.so")
    assert str(caught.value).isprintable()
