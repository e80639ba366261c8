# SPDX-License-Identifier: Apache-2.0
"""Keys that a server echoes, and every place where they must not come out."""

from __future__ import annotations

import ast
import base64
import copy
import json
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from tests.models.server import Answer, serving

import npuforge
from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.keys import keyless
from npuforge.models import Client, Endpoint, Message, ModelError
from npuforge.models.cassette import FILE
from npuforge.models.secret import Secret

KEY = "sk-Zq7/v9+WmX3=tR_5yB8nLpD2"
ASKED = [Message("user", "Write one.")]
MODULE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.randn(8, 8)]


def get_init_inputs():
    return []
"""
FORMS = {
    "whole": KEY,
    "beginning": KEY[:9],
    "middle": KEY[7:16],
    "end": KEY[-8:],
    "url": quote(KEY, safe=""),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(f"Authorization: Bearer {KEY}\n".encode()).decode(),
    "base64 of basic": base64.urlsafe_b64encode(f"user:{KEY}".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "twice": KEY * 2,
}


def shows_key(text: str) -> bool:
    """Look for eight letters of the key, as they are or encoded."""
    encoded = [base64.b64encode(b"x" * shift + KEY.encode()).decode() for shift in range(3)]
    forms = [KEY, quote(KEY, safe=""), KEY.encode().hex()]
    forms += [form[2 * shift : -4] for shift, form in enumerate(encoded)]
    parts = [form[at : at + 8] for form in forms for at in range(len(form) - 7)]
    return any(part in text for part in parts)


def endpoint(base: str, **settings: Any) -> Endpoint:
    return Endpoint(model="m", base_url=base, key=Secret(KEY), retries=0, **settings)


def complaining(words: str) -> Iterator[Answer]:
    """Ways of a server to say it with the status 200, and with others."""
    error = {"error": {"message": f"bad key {words}"}}
    yield Answer(body=error)
    yield Answer([f"data: {json.dumps(error)}", ""])
    yield Answer([f"data: {{{words}", ""])
    yield Answer(body={"error": f"bad {words}"}, status=401)
    yield Answer(body={"detail": f"bad {words}"}, status=500)
    yield Answer(body={"choices": words})
    yield Answer(body={"choices": [{"finish_reason": 3}], words: words})


@pytest.mark.parametrize("form", FORMS)
def test_no_error_shows_a_key(form: str) -> None:
    for answer in complaining(FORMS[form]):
        with (
            serving(answer) as served,
            Client(endpoint(served.base)) as client,
            pytest.raises(ModelError) as caught,
        ):
            client.ask(ASKED)
        error: BaseException | None = caught.value
        while error is not None:
            assert not shows_key(f"{error} {error!r} {error.args}")
            error = error.__cause__ or error.__context__
        kept = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        assert not shows_key("".join(line for line in kept.format() if "/tests/" not in line))


@pytest.mark.parametrize("form", FORMS)
def test_no_recording_holds_a_key(tmp_path: Path, form: str) -> None:
    echo = FORMS[form]
    delta = {"content": f"a {echo} b", "reasoning_content": f"they gave me {echo}"}
    halves = [{"content": f"{KEY[:9]}"}, {"content": f"{KEY[9:]}"}]
    chunks: list[Any] = [
        {"model": f"m-{echo}", "choices": [{"delta": one}]} for one in [delta, *halves]
    ]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    lines = [line for chunk in chunks for line in (f"data: {json.dumps(chunk)}", "")]
    file = tmp_path / "made" / FILE
    with (
        serving(Answer(lines)) as served,
        Client(endpoint(served.base), record=file) as client,
    ):
        reply = client.ask([*ASKED, Message("user", f"the prompt had it: {echo}")])
    assert not shows_key(f"{reply}")
    assert "***" in reply.text
    assert not shows_key(file.read_text())
    assert "the prompt had it" in file.read_text()


def test_the_command_line_shows_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPUFORGE_MODEL_KEY", KEY)
    (tmp_path / "module.py").write_text(MODULE)
    with serving(Answer(body={"error": {"message": f"no such key: {KEY}"}})) as served:
        command = ["generate", "module.py", "--strategy", "tile", "--knowledge", "off"]
        assert main([*command, "--model", "m", "--base-url", served.base]) == 2
        assert served.headers[0]["authorization"] == f"Bearer {KEY}"
    shown = capsys.readouterr()
    assert "no such key: ***" in shown.err
    assert not shows_key(shown.out + shown.err)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(shows_key(path.read_text(errors="replace")) for path in files)


def test_a_secret_is_not_written() -> None:
    secret = Secret(KEY)
    for text in (f"{secret}", f"{secret!r}", f"{[secret]} {(secret,)}"):
        assert not shows_key(text)
    for write in (
        pickle.dumps,
        copy.deepcopy,
        msgspec.json.encode,
        msgspec.to_builtins,
        json.dumps,
    ):
        with pytest.raises(TypeError):
            write(secret)
    with pytest.raises(TypeError):
        vars(secret)


@pytest.mark.parametrize(
    "text", ["sk-one\r\nX-Other: two-0123", "sk-\u00e9-0123456789", "sk-a b-0123", ""]
)
def test_a_key_that_no_header_takes_is_refused_unseen(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Secret(text)
    assert "sk-" not in str(caught.value)


def test_children_get_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "NPUFORGE_MODEL_KEY",
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "MINE",
    ):
        monkeypatch.setenv(name, KEY)
    Endpoint.find({"model": "m"}, {"MINE": KEY, "HOME": "/nonexistent"})
    assert {name for name, value in keyless().items() if value == KEY} == {"MINE"}
    code = "import os; print(sorted(os.environ.values()))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=keyless(), capture_output=True, text=True, check=True
    )
    assert done.stdout.count(KEY) == 1
    assert os.environ["PATH"] in done.stdout


def test_a_variable_that_the_configuration_names_is_a_key_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "npuforge.toml"
    file.write_text('[model]\nname = "m"\nkey_env = "SAYS_NOTHING"\n')
    monkeypatch.setenv("SAYS_NOTHING", KEY)
    assert Endpoint.find({}, None, file).key == Secret(KEY)
    assert KEY not in keyless().values()


def test_every_child_gets_an_environment_that_somebody_chose() -> None:
    """A call without `env` hands over all of ours."""
    calls = []
    for file in Path(npuforge.__file__).parent.rglob("*.py"):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "subprocess." in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = ast.unparse(node.func)
                if name in ("subprocess.run", "subprocess.Popen", "subprocess.check_output"):
                    named = {keyword.arg for keyword in node.keywords}
                    calls.append((file.name, node.lineno, "env" in named))
    assert len(calls) > 5
    assert [call for call in calls if not call[2]] == []
