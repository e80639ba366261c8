# SPDX-License-Identifier: Apache-2.0
"""Attacks by templates of prompts and of models' files: they are text, and run nothing."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.generate.lm.engine import model
from npuforge.generate.written.prompts import render
from npuforge.models.templates import rendered

_ATTACKS = [
    "{{ cycler.__init__.__globals__.os.popen('touch OWNED').read() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ self.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].system('touch OWNED') }}",
    "{{ values.append(1) }}",
    "{{ 'a' * 10 ** 10 }}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ 'a'.ljust(10 ** 10) }}",
    "{{ 'a'.ljust(10000000000) }}",
    "{{ '%10000000000d' % 1 }}",
    "{{ '{:>10000000000}'.format(1) }}",
    "{{ 'a' | center(10000000000) }}",
    "{{ [0] * 10000000000 }}",
    "{% for a in range(90000) %}{% for b in range(90000) %}"
    + "x" * 200
    + "{% endfor %}{% endfor %}",
    "{{ range(10 ** 9) | list }}",
    "{{ 1 / 0 }}",
    "{{ values.nothing.at.all }}",
    "{% include '../secret.txt' %}",
    "{% include '/etc/hostname' %}",
    "{% include 'link.txt' %}",
    "{% include 'pipe.txt' %}",
    "{% include 'attack.md.j2' %}",
    "{% unknown %}",
]


@pytest.mark.parametrize("text", _ATTACKS)
def test_a_template_runs_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, folder = tmp_path / "own", tmp_path / "prompts"
    own.mkdir()
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / "attack.md.j2").write_text(text)
    with pytest.raises(UsageError):
        rendered(own, "attack", folder, values=[1])
    assert not (tmp_path / "OWNED").exists()


def test_a_linked_template_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "planned.md.j2").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(UsageError, match="leads out"):
        render("planned", folder, plan="")


def test_templates_of_a_folder_replace_ours_and_include_their_own(tmp_path: Path) -> None:
    (tmp_path / "part.txt").write_text("of mine: {{ plan }}")
    (tmp_path / "planned.md.j2").write_text("{% include 'part.txt' %} {{ 3 * 4 }}")
    assert render("planned", tmp_path, plan="x") == "of mine: x 12"


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


_HEAD = b"GGUF" + struct.pack("<IQ", 3, 0)
_FILES = {
    "empty": b"",
    "short": b"GGUF\x03",
    "no entries of so many": _HEAD + struct.pack("<Q", 1 << 63),
    "long key": _HEAD + struct.pack("<QQ", 1, 1 << 62),
    "no kind": _HEAD + struct.pack("<Q", 1) + _text("k") + struct.pack("<I", 99),
    "long list": _HEAD
    + struct.pack("<Q", 2)
    + _text("k")
    + struct.pack("<IIQ", 9, 4, (1 << 64) - 1),
    "list of lists": _HEAD + struct.pack("<Q", 1) + _text("k") + struct.pack("<IIQ", 9, 9, 1 << 60),
    "long texts": _HEAD
    + struct.pack("<Q", 2)
    + _text("k")
    + struct.pack("<IIQQ", 9, 8, 9, 1 << 63),
    "no text": _HEAD + struct.pack("<QQ", 1, 2) + b"\xff\xfe" + bytes(100),
}


@pytest.mark.parametrize("name", sorted(_FILES))
def test_a_damaged_model_file_is_one_line(name: str, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(_FILES[name])
    with pytest.raises(UsageError, match="GGUF"):
        model.read(file)


def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.gguf")
    with pytest.raises(UsageError, match="plain file"):
        model.read(tmp_path / "model.gguf")


@pytest.mark.parametrize("key", [model.END, model.TOKENIZER, "llama.context_length"])
def test_odd_values_of_a_model_file_are_one_line(key: str, tmp_path: Path) -> None:
    found = model.ModelFile(tmp_path / "model.gguf", {model.END: 1, key: float("nan")})
    ask = (lambda: found.context) if key.startswith("llama") else found.vocabulary
    with pytest.raises(UsageError):
        ask()
