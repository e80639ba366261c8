# SPDX-License-Identifier: Apache-2.0
"""The command: recordings are cached, damage is noticed, and a changed constant is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from tests.replay.trees import calls_of, make_tree
from tools.recording.interpreter import interpreter_for
from tools.recording.store import Store
from tools.recording.tree import CallError, checkout, resolve_revision, source_digest
from tools.replay import main


def record(tree: Path, out: Path, cache: Path, *more: str) -> int:
    places = ["--tree", str(tree), "--out", str(out), "--cache", str(cache)]
    return main(["record", *places, "--items", "tile/*", *more])


def test_a_recording_is_cached_by_content_and_damage_is_mended(tmp_path: Path) -> None:
    tree, cache = make_tree(tmp_path / "tree"), tmp_path / "cache"
    assert record(tree, tmp_path / "first", cache) == 0
    assert calls_of(tree) == 1
    kept = tmp_path / "first" / "items" / "tile" / "softmax"
    assert "12288" in (kept / "op_kernel" / "one.cpp").read_text()
    assert "bytes = 3" in (kept / "tiling1.txt").read_text()
    assert "seconds" not in (kept / "check1.json").read_text()

    assert record(tree, tmp_path / "second", cache) == 0
    assert calls_of(tree) == 1
    (entry,) = cache.rglob("*.json")
    entry.write_text(entry.read_text().replace("12288", "12289"))
    assert Store(cache).find(entry.stem) is None
    assert record(tree, tmp_path / "third", cache) == 0
    assert calls_of(tree) == 2
    assert record(tree, tmp_path / "third", cache, "--fresh") == 0
    assert calls_of(tree) == 3
    assert main(["compare", str(tmp_path / "first"), str(tmp_path / "third")]) == 0


def test_trees_that_differ_in_one_emitted_constant_are_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    for name, constant in (("one", "12288"), ("other", "8192")):
        assert record(make_tree(tmp_path / name, constant), tmp_path / f"of_{name}", cache) == 0
    assert main(["compare", str(tmp_path / "of_one"), str(tmp_path / "of_other")]) == 1
    said = capsys.readouterr().out
    assert (
        "1 items, 0 identical, 0 equal but for names, 0 equal but for comments, 1 changed" in said
    )
    assert "-const int64_t bytes = 12288;" in said
    assert "+const int64_t bytes = 8192;" in said


def test_sandboxed_programs_import_the_tree_and_the_libraries_of_here(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    asked = "import npuforge, numpy; print(npuforge.__file__); print(numpy.__file__)"
    with interpreter_for(tree) as python:
        done = subprocess.run(
            [python, "-I", "-c", asked], capture_output=True, text=True, check=True
        )
        assert Path(python).is_relative_to(sys.prefix)
    own, library = done.stdout.splitlines()
    assert Path(own).is_relative_to(tree)
    assert library == numpy.__file__
    assert not Path(python).exists()


@pytest.mark.parametrize(
    "words",
    [
        ["record", "--tree", "nowhere", "--out", "out"],
        ["compare", "no-such-revision", "HEAD"],
        ["record", "--out", "out", "--items", "nothing/*"],
        ["record", "--out", "out", "--jobs", "0"],
    ],
)
def test_bad_calls_are_one_line(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_that_was_edited_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert record(make_tree(tmp_path / "tree"), out, tmp_path / "cache") == 0
    (out / "items" / "tile" / "softmax" / "op_kernel" / "one.cpp").write_text("")
    assert main(["compare", str(out), str(out)]) == 2
    assert "tile/softmax was changed since it was recorded" in capsys.readouterr().err


def test_a_revision_is_checked_out_for_as_long_as_it_is_needed(tmp_path: Path) -> None:
    repository = make_tree(tmp_path / "tree")

    def git(*words: str) -> None:
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(repository), *author, *words], check=True)

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "all")
    commit = resolve_revision(repository, "HEAD")
    with checkout(repository, commit) as tree:
        assert source_digest(tree) == source_digest(repository)
    assert not tree.exists()
    with pytest.raises(CallError, match="rev-parse"):
        resolve_revision(repository, "elsewhere")
