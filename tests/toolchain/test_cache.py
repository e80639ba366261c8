# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.twin.cache import Cache, default_root, digest


def fill(cache: Cache, key: str, project: Path, text: str = "x", *needed: Path) -> Path:
    with cache.workspace() as made:
        (made / "artefact").write_text(text)
        return cache.store(key, made, needed, project)


def test_dependencies_decide(tmp_path: Path) -> None:
    cache, project = Cache(tmp_path / "cache"), tmp_path / "project"
    project.mkdir()
    header = project / "a.h"
    key = digest("k")
    assert cache.find(key, project) is None
    entries = {}
    for text in ("one", "two"):
        header.write_text(text)
        assert cache.find(key, project) is None
        entries[text] = fill(cache, key, project, text, header)
    for text in ("one", "two"):
        header.write_text(text)
        assert cache.find(key, project) == entries[text]
    header.unlink()
    assert cache.find(key, project) is None


def test_nothing_is_left_of_a_failed_build(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fail() -> None:
        with cache.workspace() as made:
            (made / "half").write_text("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_pruning_drops_the_longest_unused(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", max_bytes=2500)
    now = time.time()
    entries = []
    for number in range(4):
        entry = fill(cache, digest(str(number)), tmp_path, "x" * 1000)
        os.utime(entry, (now, now - 7200 - 100 * number))
        entries.append(entry)
    cache.find(digest("3"), tmp_path)  # used just now, though stored as the oldest
    cache.prune()
    assert [entry.exists() for entry in entries] == [True, False, False, True]


def test_pruning_spares_recent_entries(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", max_bytes=0)
    entry = fill(cache, digest("k"), tmp_path)
    cache.prune()
    assert entry.exists()


def _racer(root: str, start: object) -> None:
    cache, project = Cache(Path(root)), Path(root)
    start.wait()  # type: ignore[attr-defined]
    for number in range(20):
        key = digest(str(number))
        with cache.lock(key):
            if cache.find(key, project) is None:
                entry = fill(cache, key, project, f"{number}")
                with (Path(root) / "built").open("a") as log:
                    log.write(f"{number}\n")
                assert (entry / "artefact").read_text() == f"{number}"


def test_two_processes_build_each_entry_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    racers = [context.Process(target=_racer, args=(str(tmp_path), start)) for _ in range(2)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
        assert racer.exitcode == 0
    built = (tmp_path / "built").read_text().split()
    assert sorted(built, key=int) == [str(number) for number in range(20)]


def test_storing_the_same_twice_keeps_one(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert fill(cache, digest("k"), tmp_path) == fill(cache, digest("k"), tmp_path)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_place_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPUFORGE_CACHE", "/somewhere/of/mine")
    assert default_root() == Path("/somewhere/of/mine")
    monkeypatch.delenv("NPUFORGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/x")
    assert default_root() == Path("/var/x/npuforge")


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_digest_tells_part_boundaries(first: list[str], second: list[str]) -> None:
    assert (digest(*first) == digest(*second)) == (first == second)
