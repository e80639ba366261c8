# SPDX-License-Identifier: Apache-2.0
"""Which setting wins, and what bad ones say."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.models.endpoint import Endpoint

FILE = """
[model]
name = "from-file"
base_url = "http://file/v1"
temperature = 0.7
budget_tokens = 5000

[prices."from-file"]
prompt = 1.0
completion = 4.0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "npuforge.toml"
    path.write_text(FILE)
    return path


def test_flags_win_over_the_environment_and_that_over_the_file(file: Path) -> None:
    around = {"NPUFORGE_MODEL_BASE_URL": "https://around/v1", "NPUFORGE_MODEL_KEY": "key-said"}
    found = Endpoint.find({"temperature": 0.1, "concurrency": None}, around, file)
    assert (found.model, found.base_url, found.temperature) == (
        "from-file",
        "https://around/v1",
        0.1,
    )
    assert (found.budget_tokens, found.concurrency) == (5000, 4)
    assert found.price is not None
    assert found.key is not None
    assert found.key.reveal() == "key-said"
    other = Endpoint.find({"model": "flagged", "base_url": "https://flag/v1"}, around, file)
    assert (other.model, other.base_url, other.price) == ("flagged", "https://flag/v1", None)


def test_keys_come_from_the_environment_or_the_file(file: Path) -> None:
    own = 'name = "m"\nkey_env = "MINE"'
    file.write_text(FILE.replace('name = "from-file"', own).replace("http:", "https:"))
    found = Endpoint.find({}, {"MINE": "my-own-key", "OPENAI_API_KEY": "other"}, file)
    assert found.key is not None
    assert found.key.reveal() == "my-own-key"
    named = Endpoint.find({}, {"NPUFORGE_MODEL_KEY": "first", "MINE": "second"}, file)
    assert named.key is not None
    assert named.key.reveal() == "first"


def test_the_folder_chooses_a_model_and_the_user_everything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "home" / ".config" / "npuforge"
    own.mkdir(parents=True)
    (own / "npuforge.toml").write_text(FILE.replace("http:", "https:"))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "npuforge.toml").write_text('[model]\nname = "another"\nmax_tokens = 7\n')
    monkeypatch.chdir(folder)
    found = Endpoint.find({}, {"HOME": str(tmp_path / "home")})
    assert (found.model, found.max_tokens, found.temperature) == ("another", 7, 0.7)
    assert (found.base_url, found.budget_tokens) == ("https://file/v1", 5000)


def test_the_kind_follows_from_the_only_key_there_is() -> None:
    around = {"NPUFORGE_MODEL": "m", "ANTHROPIC_API_KEY": "k", "HOME": "/nonexistent"}
    found = Endpoint.find({}, around)
    assert (found.kind, found.base_url) == ("anthropic", "https://api.anthropic.com/v1")
    both = Endpoint.find({}, {**around, "OPENAI_API_KEY": "k"})
    assert both.kind == "openai"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[model", "npuforge.toml"),
        ("[model]\nname = 3\n", "str"),
        ('[model]\nnam = "x"\n', "nam"),
        ('[model]\nname = "m"\nkind = "other"\n', "other"),
        ('[model]\nname = "m"\nbase_url = "here"\n', "no address"),
        ('[model]\nname = "m"\nbudget_cost = 3.0\n', "prices"),
        ('[model]\nname = "m"\nconcurrency = 0\n', "at least 1"),
        ("", "no model is named"),
    ],
)
def test_bad_settings_are_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "npuforge.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        Endpoint.find({}, {}, path)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="no kind"):
        Endpoint.find({"kind": "x", "model": "m"}, {}, None)
