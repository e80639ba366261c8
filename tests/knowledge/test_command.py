# SPDX-License-Identifier: Apache-2.0
"""`npuforge knowledge` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.knowledge.entries import entry, proven
from tests.knowledge.programs import padded

from npuforge.cli import main
from npuforge.knowledge import shipped
from npuforge.knowledge.outcomes import Use, note
from npuforge.knowledge.situation import Situation
from npuforge.knowledge.store import Put, Store
from npuforge.knowledge.text import dump, read

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line on a store of its own, which begins with one shipped entry."""
    base = tmp_path / "base"
    base.mkdir()
    (base / "short-rows.md").write_text(dump(proven()), "utf-8")
    monkeypatch.setattr(shipped, "folder", lambda: base)
    monkeypatch.setenv("NPUFORGE_KNOWLEDGE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("NPUFORGE_EMBEDDINGS", "hashed")
    monkeypatch.chdir(tmp_path)

    def go(*words: str) -> tuple[int, str, str]:
        status = main(["knowledge", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return go


def _json(run: Run, *words: str) -> Any:
    status, out, _ = run(*words, "--json", "-")
    assert status == 0
    return json.loads(out)


def test_search_and_show(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("search", "DataCopyPad", "of", "a", "row")
    assert status == 0
    assert "short-rows" in out
    assert "// after" in out
    [found] = _json(run, "search", "ALN-01", "--form", "plain")
    assert (found["id"], found["name_rank"]) == ("short-rows", 1)
    assert "// after" not in found["text"]
    assert _json(run, "search", "ALN-01", "--language", "tile") == []
    assert _json(run, "search", "ALN-01", "--exclude", "short-rows") == []
    assert len(_json(run, "search", "ALN-01", "--fact", "row=7", "--dtype", "half")) == 1
    status, out, _ = run("show", "short-rows")
    assert out == dump(proven())
    shown = _json(run, "show", "short-rows")
    assert shown["state"] == "active"
    assert shown["entry"]["title"] == proven().title
    assert [change["action"] for change in shown["changes"]] == ["shipped"]
    assert (tmp_path / "store.sqlite").exists()


def test_add_verify_export(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "copy-short-rows-with-pad.md"
    file.write_text(dump(padded()), "utf-8")
    status, out, err = run("add", str(file))
    assert (status, err) == (0, "")
    assert "before, rule CPY-01" in out
    assert "after, right" in out
    assert "there already" in run("add", str(file))[1]
    status, out, _ = run("verify", "copy-short-rows-with-pad")
    assert status == 0
    assert run("export", "out")[1] == "2 entries written to out\n"
    exported = read(tmp_path / "out" / file.name)
    assert exported.verified
    false = tmp_path / "false" / "not-so.md"
    false.parent.mkdir()
    false.write_text(dump(padded(id="not-so", claim="race")), "utf-8")
    status, _, err = run("add", str(false))
    assert status == 1
    assert "the claim does not hold" in err
    status, out, err = run("import", str(false.parent))
    assert (status, out) == (1, "0 taken in, 1 refused\n")
    assert "the claim does not hold" in err
    status, out, _ = run("import", str(false.parent), "--later")
    assert (status, out) == (0, "1 kept for later, 0 refused\n")
    assert _json(run, "stats")["entries"]["unverified"] == 1
    status, _, err = run("verify", "not-so")
    assert status == 1
    assert _json(run, "stats")["entries"]["broken"] == 1


def _harm(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        uses = [
            Use(
                entry="short-rows",
                task=task,
                situation=Situation(language="ascendc"),
                cause_before="wrong",
                cause_after="rule",
                worth_before=(6.0,),
                worth_after=(4.0,),
            )
            for task in ("a", "b")
        ]
        note(store, uses)


def test_distill_stats_undo(run: Run, tmp_path: Path) -> None:
    steps = ("--step", "flawed", "--step", "misapplied")
    assert run("distill", *steps)[1] == "nothing to change\n"
    _harm(tmp_path)
    out = run("distill", *steps, "--dry-run")[1]
    assert out.startswith("flawed: purge short-rows: it harmed 2 times on 2 tasks")
    [decision] = _json(run, "distill", *steps)
    assert (decision["action"], decision["by"]) == ("purge", "rules")
    found = _json(run, "stats")
    assert found["entries"]["purged"] == 1
    assert found["uses"] == {"helped": 0, "nothing": 0, "harmed": 2}
    assert found["embedder"].startswith("hashed")
    assert _json(run, "search", "ALN-01") == []
    out = run("show", "short-rows", "--history")[1]
    assert out.startswith("# purged")
    assert "use: harmed on a (wrong -> rule)" in out
    assert "flawed short-rows: active -> purged" in run("undo", "--list")[1]
    assert run("undo")[1] == "taken back: flawed of short-rows\n"
    assert len(_json(run, "search", "ALN-01")) == 1
    out = run("stats")[1]
    assert "active 1" in out


def test_stores_by_option(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with Store.open(other) as store:
        store.change("add", "", [Put(proven("mine"))])
    assert {one["id"] for one in _json(run, "search", "ALN-01", "--store", str(other))} == {
        "mine",
        "short-rows",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "nobody"), "no entry 'nobody'"),
        (("search", "x", "--fact", "row"), "no fact 'row'"),
        (("search", "x", "--fact", "row=small"), "no fact 'row=small'"),
        (("search", "x", "--operator", "gelu"), "no operator 'gelu'"),
        (("search", "x", "--dtype", "float7"), "float7"),
        (("search", "x", "--soc", "h100"), "h100"),
        (("search",), "Missing argument"),
        (("search", "x", "--axes", "three"), "three"),
        (("add", "missing.md"), "missing.md"),
        (("add", "bad.md"), "begins with TOML"),
        (("import", "empty"), "no entry"),
        (("undo", "99"), "no change 99"),
        (("show", "x", "--store", "bad.md"), "no store of knowledge"),
        (("export", "bad.md"), "bad.md"),
        (("distill", "--ask"), "no model is named"),
    ],
)
def test_mistakes_are_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.delenv("NPUFORGE_MODEL", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "bad.md").write_text("not an entry, but long enough to be some file\n" * 9, "utf-8")
    (tmp_path / "empty").mkdir()
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_what_is_not_run_is_not_active(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "unproven.md"
    file.write_text(dump(entry(id="unproven")), "utf-8")
    run("import", str(file), "--later")
    assert [one["id"] for one in _json(run, "search", "ALN-01")] == ["short-rows"]
    assert run("show", "unproven")[1].startswith("# unverified\n")
