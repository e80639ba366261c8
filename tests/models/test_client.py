# SPDX-License-Identifier: Apache-2.0
"""Asking over a real connection: both protocols, failures that pass and that stay, what is kept."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from tests.models.server import Answer, chat, message, serving

from npuforge.errors import UsageError
from npuforge.models import BudgetError, Client, Endpoint, Message, ModelError, Usage
from npuforge.models.cassette import FILE, Exchange, Recorder, read
from npuforge.models.endpoint import Price
from npuforge.models.exchange import Reply, Request
from npuforge.models.secret import Secret
from npuforge.models.transport import Transport

KEY = "sk-very-secret-0123"
ASKED = [Message("system", "You write kernels."), Message("user", "Write one.")]


def endpoint(base: str, **settings: object) -> Endpoint:
    given = {"model": "m", "base_url": base, "key": Secret(KEY), "retries": 3, **settings}
    return Endpoint(**given)  # type: ignore[arg-type]


def test_a_streamed_answer_is_put_together_and_counted() -> None:
    seen: list[int] = []
    with (
        serving(chat("Hel", "lo", usage=(11, 5))) as served,
        Client(endpoint(served.base)) as client,
    ):
        reply = client.ask(ASKED, seed=4, watch=seen.append)
        assert (reply.text, reply.stop, reply.model) == ("Hello", "end", "served")
        assert reply.usage == Usage(11, 5)
        assert client.ledger.usage.total == 16
        assert client.ledger.cost is None
    assert [letters for letters in seen if letters] == [3, 2]
    assert served.paths == ["/v1/chat/completions"]
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"
    body = served.requests[0]
    assert (body["seed"], body["stream"], body["messages"][1]["content"]) == (4, True, "Write one.")


def test_anthropic() -> None:
    with (
        serving(message("He", "llo", stop="max_tokens")) as served,
        Client(endpoint(served.base, kind="anthropic")) as client,
    ):
        reply = client.ask(ASKED)
    assert (reply.text, reply.thinking, reply.stop) == ("Hello", "hm", "length")
    assert reply.usage == Usage(10, 9)
    assert served.paths == ["/v1/messages"]
    assert served.headers[0]["x-api-key"] == KEY
    assert served.requests[0]["system"] == "You write kernels."
    assert [turn["role"] for turn in served.requests[0]["messages"]] == ["user"]


@pytest.mark.parametrize(
    ("answer", "stop", "text"),
    [
        (chat("cut", stop="length"), "length", "cut"),
        (chat("no", stop="content_filter"), "refused", "no"),
        (chat(stop="stop"), "end", ""),
        (
            Answer(body={"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}),
            "end",
            "x",
        ),
    ],
)
def test_what_a_model_says_is_never_asked_again(answer: Answer, stop: str, text: str) -> None:
    with serving(answer) as served, Client(endpoint(served.base)) as client:
        reply = client.ask(ASKED)
    assert (reply.stop, reply.text) == (stop, text)
    assert not reply.usage.counted
    assert len(served.requests) == 1


def test_failures_that_pass() -> None:
    """A busy server, one that breaks down, a stream that breaks off."""
    pauses: list[float] = []
    busy = Answer(status=429, body={"error": {"message": "slow"}}, headers={"Retry-After": "7"})
    down = Answer(status=503, body="down")
    with serving(busy, down, chat("broken", stop=None), chat("done")) as served:
        transport = Transport(endpoint(served.base), pauses.append)
        request = Request(messages=ASKED, model="m", temperature=0.0, max_tokens=9)
        reply, lost = transport.ask(request)
        transport.close()
    assert reply.text == "done"
    assert pauses[0] == 7.0
    assert len(pauses) == 3
    assert lost.total > 0  # of the stream that broke off
    assert len(served.requests) == 4


def test_requests_keep_their_pace() -> None:
    pauses: list[float] = []
    with serving(chat("x")) as served:
        transport = Transport(endpoint(served.base, requests_per_minute=6), pauses.append)
        request = Request(messages=ASKED, model="m", temperature=0.0, max_tokens=9)
        for _ in range(3):
            transport.ask(request)
        transport.close()
    assert [round(pause / 10) for pause in pauses] == [1, 2]  # nobody slept: they add up


def test_failures_that_stay_are_one_line_without_the_key() -> None:
    refused = Answer(status=401, body={"error": {"message": f"wrong key {KEY}\nask"}})
    with serving(refused) as served, Client(endpoint(served.base)) as client:
        with pytest.raises(ModelError, match=r"HTTP 401, wrong key \*\*\* ask") as caught:
            client.ask(ASKED)
        assert len(served.requests) == 1
    assert "\n" not in str(caught.value)
    down = Answer(status=500, body={})
    with (
        serving(down) as served,
        Client(endpoint(served.base, retries=0)) as client,
        pytest.raises(ModelError, match="HTTP 500"),
    ):
        client.ask(ASKED)
    gone = endpoint("http://127.0.0.1:9/v1", retries=0)
    with Client(gone) as client, pytest.raises(ModelError, match=r"127\.0\.0\.1:9"):
        client.ask(ASKED)


@pytest.mark.parametrize("data", ["{", '{"error": {"message": "no"}}', '{"choices": 3}'])
def test_a_stream_of_something_else(data: str) -> None:
    with (
        serving(Answer([f"data: {data}", ""])) as served,
        Client(endpoint(served.base)) as client,
        pytest.raises(ModelError),
    ):
        client.ask(ASKED)


def test_a_budget_ends_the_asking() -> None:
    with (
        serving(chat("x", usage=(60, 60))) as served,
        Client(endpoint(served.base, budget_tokens=100)) as client,
    ):
        client.ask(ASKED)
        with pytest.raises(BudgetError, match="100 tokens"):
            client.ask(ASKED)
    assert len(served.requests) == 1
    price = Price(prompt=1e6, completion=2e6)
    with (
        serving(chat("x", usage=(1, 1))) as served,
        Client(endpoint(served.base, price=price, budget_cost=3.0)) as client,
    ):
        client.ask(ASKED)
        assert client.ledger.cost == pytest.approx(3.0)
        with pytest.raises(BudgetError, match="budget of 3"):
            client.ask(ASKED)


def test_a_recorded_run_replays_without_a_network(tmp_path: Path) -> None:
    file = tmp_path / FILE
    with (
        serving(chat("one"), chat("two"), chat("three")) as served,
        Client(endpoint(served.base), record=file) as client,
    ):
        said = [client.ask(ASKED, purpose="coder").text for _ in range(2)]
        said.append(client.ask([*ASKED, Message("user", "Again.")]).text)
    assert KEY not in file.read_text()
    assert [exchange.purpose for exchange in read(file)] == ["coder", "coder", ""]
    with file.open("ab") as torn:
        torn.write(b'{"request": {"mess')
    nowhere = endpoint("http://127.0.0.1:9/v1", key=None)
    with Client(nowhere, replay=file) as client:
        again = client.ask([*ASKED, Message("user", "Again.")]).text
        assert [*(client.ask(ASKED).text for _ in range(2)), again] == said
        assert client.ledger.exchanges == 3
        with pytest.raises(ModelError, match="Write one"):
            client.ask(ASKED)


def test_many_threads_ask_no_more_at_once_than_allowed(tmp_path: Path) -> None:
    with (
        serving(chat("x", usage=(1, 1))) as served,
        Client(endpoint(served.base, concurrency=2), record=tmp_path / FILE) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        replies = list(pool.map(lambda n: client.ask(ASKED, seed=n), range(24)))
        assert client.ledger.usage.total == 48
    assert len(replies) == len(read(tmp_path / FILE)) == 24


def test_a_secret_stays_one() -> None:
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    assert KEY not in repr(endpoint("https://here/v1"))
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        msgspec.json.encode(endpoint("https://here/v1"))


def test_recordings_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read(tmp_path / "none")
    (tmp_path / "bad").write_text("{}\n")
    with pytest.raises(UsageError, match="no recording"):
        read(tmp_path / "bad")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make"):
        Recorder(tmp_path / "file" / "x")
    request = Request(messages=ASKED, model="m", temperature=0.5, max_tokens=3)
    exchange = Exchange(request=request, reply=Reply(text="y"))
    assert msgspec.json.decode(msgspec.json.encode(exchange), type=Exchange) == exchange
