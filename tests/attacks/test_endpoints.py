# SPDX-License-Identifier: Apache-2.0
"""An endpoint that means harm, and a folder that wants to choose the endpoint."""

from __future__ import annotations

import gzip
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from tests.models.server import Answer, chat, flooding, serving

from npuforge.cli import main
from npuforge.errors import UsageError
from npuforge.models import Client, Endpoint, Message, ModelError
from npuforge.models.secret import Secret
from npuforge.models.transport import Transport

KEY = "sk-endpoint-attack-0123456789"
ASKED = [Message("user", "Write one.")]
MIB = 1 << 20
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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's folder as the current one, and a user with a home and keys."""
    place = tmp_path / "stranger"
    place.mkdir()
    (place / "module.py").write_text(MODULE)
    monkeypatch.chdir(place)
    for name in ("XDG_CONFIG_HOME", "NPUFORGE_MODEL", "NPUFORGE_MODEL_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("BANK_PASSWORD", KEY)
    return place


def own_file(text: str, mode: int = 0o600) -> Path:
    """The user's own configuration."""
    file = Path(os.environ["HOME"]) / ".config" / "npuforge" / "npuforge.toml"
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.mark.parametrize(
    "text",
    [
        'name = "m"\nbase_url = "{base}"\nkey_env = "BANK_PASSWORD"',
        'name = "m"\nbase_url = "{base}"',
        'name = "m"\nkey_env = "BANK_PASSWORD"',
        'name = "m"\nkind = "anthropic"',
        'name = "m"\nbudget_tokens = 1000000000',
        'name = "m"\nretries = 100',
        'name = "m"\nheaders = {{ X-Key = "$BANK_PASSWORD" }}',
        'name = "m"\nproxy = "{base}"',
        'name = "m"\n[embeddings]\nbase_url = "{base}"\nkey_env = "BANK_PASSWORD"',
        'name = "m"\n[prices.m]\nprompt = 0.0\ncompletion = 0.0',
    ],
)
def test_a_folder_names_no_address_and_no_key(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    with serving(chat("x")) as served:
        (folder / "npuforge.toml").write_text("[model]\n" + text.format(base=served.base))
        status = main(["generate", "module.py", "--strategy", "tile", "--rounds", "1"])
    assert status == 2
    assert not served.requests
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "only your own configuration" in said


@pytest.mark.parametrize(
    "hostile",
    ["x = " + "[" * 50_000, "a." * 30_000 + "b = 1", "x = 1" + "0" * 6000, "\0", "[model]"],
)
def test_a_malformed_file_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], hostile: str
) -> None:
    (folder / "npuforge.toml").write_text(hostile)
    assert main(["generate", "module.py", "--strategy", "tile"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "npuforge.toml")
    with pytest.raises(UsageError, match="not a plain file"):
        Endpoint.find({"model": "m"})


def test_a_file_that_others_can_write_is_not_the_users(folder: Path) -> None:  # noqa: ARG001
    file = own_file('[model]\nname = "m"\n', 0o666)
    with pytest.raises(UsageError, match="can be written by others"):
        Endpoint.find()
    file.chmod(0o644)
    assert Endpoint.find().model == "m"
    file.parent.chmod(0o777)
    with pytest.raises(UsageError, match="can be written by others"):
        Endpoint.find()
    file.parent.chmod(0o700)
    file.write_text(f'[model]\nname = "m"\nkey = "{KEY}"\n')
    with pytest.raises(UsageError, match="can be read by others"):
        Endpoint.find()
    if os.getuid() == 0:
        os.chown(file, 12345, 12345)
        with pytest.raises(UsageError, match="somebody else"):
            Endpoint.find()


def test_a_key_goes_to_its_own_address_only(folder: Path) -> None:  # noqa: ARG001
    assert Endpoint.find({"model": "m"}).key == Secret(KEY)
    with serving(chat("x")) as served:
        with Client(Endpoint.find({"model": "m", "base_url": served.base})) as client:
            client.ask(ASKED)
        assert "authorization" not in served.headers[0]
    own_file('[model]\nname = "m"\nbase_url = "https://own.test/v1"\nkey_env = "BANK_PASSWORD"')
    assert Endpoint.find().key == Secret(KEY)
    for other in ("https://other.test/v1", "https://own.test:444/v1", "https://own.test/v2"):
        assert Endpoint.find({"base_url": other}).key is None
    assert Endpoint.find({"base_url": "https://OWN.test:443/v1/"}).key == Secret(KEY)


@pytest.mark.parametrize(
    "base",
    [
        "http://far.test/v1", "http://10.0.0.1/v1", "http://127.0.0.1.far.test/v1",
        "http://localhost.far.test/v1", "http://[::ffff:8.8.8.8]/v1",
    ],
)  # fmt: skip
def test_no_key_goes_over_a_network_in_the_clear(base: str) -> None:
    with pytest.raises(UsageError, match="no TLS"):
        Endpoint(model="m", base_url=base, key=Secret(KEY))
    assert Endpoint(model="m", base_url=base).key is None


@pytest.mark.parametrize(
    "base",
    [
        f"https://user:{KEY}@far.test/v1", f"https://far.test/v1?key={KEY}", "file:///etc/passwd",
        "https://far.test\r\nX: y", "https://", "https://far.test:99999/", "https://far.test\\@x",
    ],
)  # fmt: skip
def test_addresses_that_are_none(base: str) -> None:
    with pytest.raises(UsageError) as caught:
        Endpoint(model="m", base_url=base)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with serving(chat("stolen")) as thief:
        away = Answer(status=status, body={}, headers={"Location": f"{thief.base}/x"})
        endpoint = {"model": "m", "key": Secret(KEY), "retries": 0}
        with (
            serving(away) as served,
            Client(Endpoint(base_url=served.base, **endpoint)) as client,  # type: ignore[arg-type]
            pytest.raises(ModelError, match="redirects are not followed"),
        ):
            client.ask(ASKED)
        assert not thief.requests


def test_requests_without_tls_pass_by_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(chat("by proxy")) as proxy, serving(chat("direct")) as served:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.base.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with Client(Endpoint(model="m", base_url=served.base, key=Secret(KEY))) as client:
            assert client.ask(ASKED).text == "direct"
        assert not proxy.headers


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def said(text: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'delta': {'content': text}}]})}\n\n".encode()


def forever(head: bytes, part: bytes) -> Iterator[bytes]:
    yield head + b"\r\n"
    yield from itertools.repeat(part, 512 * MIB // len(part))


def bomb() -> Iterator[bytes]:
    yield JSON + b"Content-Encoding: gzip\r\n\r\n"
    yield gzip.compress(b'{"choices": [' + b" " * (32 * MIB) + b"]}", 1)


def whole(body: bytes) -> list[bytes]:
    return [JSON + f"Content-Length: {len(body)}\r\n\r\n".encode(), body]


FLOODS: dict[str, tuple[Callable[[], Iterable[bytes]], str]] = {
    "an answer without end": (lambda: forever(HEAD, said("x" * 60_000)), "letters"),
    "events that say nothing": (lambda: forever(HEAD, said("") * 500), "events"),
    "comments for ever": (lambda: forever(HEAD, b": wait\n\n" * 9000), "events"),
    "a line without end": (lambda: forever(HEAD, b"x" * 65536), "line of more than"),
    "an event without end": (lambda: forever(HEAD, b"data: xxxxxxxxxxxxxxx\n" * 4000), "event of"),
    "a document without end": (lambda: forever(JSON, b"x" * 65536), "bytes"),
    "headers without end": (lambda: forever(HEAD, b"X-Header: " + b"y" * 999 + b"\r\n"), "1 tries"),
    "a bomb": (bomb, "compressed"),
    "a million answers": (lambda: whole(b'{"choices": [' + b"{}," * 999_999 + b"{}]}"), "answers"),
    "nesting": (lambda: whole(b'{"x": ' + b"[" * 400_000 + b"]" * 400_000 + b"}"), "no chat"),
    "a nested error": (
        lambda: whole(b'{"error":' + b'{"message":' * 900 + b'"x"' + b"}" * 901),
        "complains|no chat",
    ),
    "tokens that are paid back": (
        lambda: whole(b'{"choices":[],"usage":{"prompt_tokens":-99999999}}'),
        "no chat",
    ),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_an_answer_is_bounded(kind: str) -> None:
    parts, told = FLOODS[kind]
    with (
        flooding(parts) as flood,
        Client(Endpoint(model="m", base_url=flood.base, retries=0)) as client,
        pytest.raises(ModelError, match=told) as caught,
    ):
        client.ask(ASKED)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert flood.sent < 80 * MIB


def test_a_refusal_is_bounded() -> None:
    head = b"HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\n"
    with (
        flooding(lambda: forever(head, b"x" * 65536)) as flood,
        Client(Endpoint(model="m", base_url=flood.base, retries=0)) as client,
        pytest.raises(ModelError, match="HTTP 400"),
    ):
        client.ask(ASKED)
    assert flood.sent < 8 * MIB


@pytest.mark.parametrize("first", [HEAD + b"\r\n", HEAD, b""], ids=["body", "headers", "silence"])
def test_a_slow_drip_ends(first: bytes) -> None:
    def drip() -> Iterator[bytes]:
        import time  # noqa: PLC0415

        yield first
        for _ in range(3000):
            yield b": w\n" if first.endswith(b"\r\n\r\n") else b"X: y\r\n" if first else b""
            time.sleep(0.01)

    with (
        flooding(drip) as flood,
        Client(Endpoint(model="m", base_url=flood.base, retries=1, limit_s=0.5)) as client,
        pytest.raises(ModelError, match=r"more than 0\.5 s \(2 tries\)"),
    ):
        client.ask(ASKED)
    assert len(flood.requests) == 2


@pytest.mark.parametrize(
    "asked", ["31536000", "1e400", "nan", "-5", "Fri, 31 Dec 2100 00:00:00 GMT"]
)
def test_nobody_waits_for_a_year(asked: str) -> None:
    pauses: list[float] = []
    busy = Answer(status=429, body={}, headers={"Retry-After": asked})
    from npuforge.models.exchange import Request  # noqa: PLC0415

    with serving(busy) as served:
        transport = Transport(Endpoint(model="m", base_url=served.base, retries=2), pauses.append)
        with pytest.raises(ModelError, match="3 tries"):
            transport.ask(Request(messages=ASKED, model="m", temperature=0.0, max_tokens=9))
        transport.close()
    assert len(pauses) == 2
    assert all(0 <= pause <= 60 for pause in pauses)


def test_words_of_a_server_are_no_orders_to_a_terminal() -> None:
    refused = Answer(status=400, body={"error": {"message": "\x1b]0;title\x07\x1b[2J\u202e\nno"}})
    with (
        serving(refused) as served,
        Client(Endpoint(model="m", base_url=served.base)) as client,
        pytest.raises(ModelError) as caught,
    ):
        client.ask(ASKED)
    assert str(caught.value).isprintable()
