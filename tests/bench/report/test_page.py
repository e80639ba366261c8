# SPDX-License-Identifier: Apache-2.0
"""The page and the table of a run: complete, alone, and safe whatever a task calls itself."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.bench.report.runs import EVIL, bad, ended, good, seven_categories, task

from npuforge.bench import report
from npuforge.bench.attempt import Attempt, Cheat
from npuforge.bench.report.blocks import blocks
from npuforge.bench.report.plots import Mark, distribution
from npuforge.bench.report.published import systems
from npuforge.bench.report.words import NOTHING, plain
from npuforge.bench.runner import place_of
from npuforge.bench.settings import Settings
from npuforge.bench.suite import Score
from npuforge.bench.suites import NAMES
from npuforge.bench.task import Task
from npuforge.verdict import Race, Side, Violation

SETTINGS = Settings(suite="multikernelbench", path="my checkout", shapes="v0")
TASKS = [task("activation/relu"), task("activation/elu"), task("loss/mse"), task("matmul/square")]
ATTEMPTS = [
    good("activation/relu", speedup=1.25),
    bad("activation/elu", published=True, reason="case signed: off by 0.3"),
    bad("loss/mse", published=True, cheats=[Cheat("torch", "calls torch.mean")]),
    ended("matmul/square", "unplanned", "no plan for aten.mm"),
]


class _Reader(HTMLParser):
    """Checks that tags nest, and keeps what could run or reach outside."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def page(
    folder: Path,
    tasks: Sequence[Task] = TASKS,
    attempts: Sequence[Attempt] = ATTEMPTS,
    scores: Sequence[Score] = (),
) -> str:
    return report.html("multikernelbench", SETTINGS, tasks, attempts, scores, folder)


def shown(
    suite: str, tasks: Sequence[Task], attempts: Sequence[Attempt], scores: Sequence[Score] = ()
) -> str:
    out = StringIO()
    Console(file=out, width=110).print(report.table(suite, tasks, attempts, scores))
    return out.getvalue()


def test_a_page_says_what_was_found(tmp_path: Path) -> None:
    text = page(tmp_path, scores=[Score("weighted", 61.25, 100.0, "by level"), Score("HAP", None)])
    words = " ".join(read(text).words)
    for part in (
        "1 of 4 passed",
        "npuforge bench multikernelbench --path 'my checkout' --shapes v0",
        "case signed: off by 0.3",
        "calls torch.mean",
        "no plan for aten.mm",
        "weighted",
        "measured",
        "wrong strictly",
    ):
        assert part in words, part


def test_a_page_needs_nothing_else(tmp_path: Path) -> None:
    text = page(tmp_path)
    reader = read(text)
    assert reader.tags.count("script") == 1
    assert not set(reader.tags) & {"link", "img", "iframe", "object"}
    assert not [name for name, _ in reader.attributes if name in ("src", "srcset", "action")]
    assert not re.search(r"https?:|url\(|@import", text)


def test_the_page_lets_only_its_own_script_run(tmp_path: Path) -> None:
    text = page(tmp_path)
    (script,) = re.findall(r"<script>(.*)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


def test_nothing_from_outside_becomes_markup(tmp_path: Path) -> None:
    flaw = Violation(EVIL, "error", EVIL, 1, EVIL)
    race = Race(EVIL, Side(EVIL, 1, EVIL), Side(EVIL, 2, EVIL), EVIL)
    name = """a/<img src=x onerror='alert("1")'>&"""  # the worst that a task may be called
    judged = bad(name, reason=EVIL, cheats=[Cheat(EVIL, EVIL)], files={EVIL: EVIL})
    judged = replace(
        judged,
        published=True,
        verdict=replace(judged.verdict, violations=[flaw], races=[race], error=EVIL),
    )
    fine = good("a/b")
    fine = replace(fine, verdict=replace(fine.verdict, baseline_source=EVIL))
    tasks = [Task(name, EVIL, 1, Path(EVIL)), task("a/b", 2)]
    scores = [Score(EVIL, 1.0, None, EVIL)]
    settings = Settings(suite="forge", answers=EVIL, path=EVIL, tasks=EVIL)
    text = report.html("forge", settings, tasks, [judged, fine], scores, tmp_path)
    reader = read(text)
    assert reader.tags.count("script") == 1
    assert "img" not in reader.tags
    assert not [key for key, _ in reader.attributes if key.startswith("on")]
    printed = shown("forge", tasks, [judged, fine], scores)
    for foreign in ("\x1b", "\u202e"):
        assert foreign not in text
        assert foreign not in printed


def test_links_lead_to_what_is_there_and_stay_inside(tmp_path: Path) -> None:
    name = "activation/re lu"
    place = place_of(tmp_path, name, 0)
    place.mkdir(parents=True)
    (place / "answer #1.py").write_text("")
    (tmp_path / "secret").write_text("")
    files = {
        "answer": "answer #1.py",
        "log": "gone.txt",
        "up": "../../../../secret",
        "root": "/etc/passwd",
        "script": "javascript:alert(1)",
    }
    text = page(tmp_path, [task(name)], [good(name, files=files)])
    links = [value for key, value in read(text).attributes if key == "href"]
    assert links == ["attempts/activation/re%20lu/0/answer%20%231.py"]


def test_published_results_stand_beside_the_same_tasks() -> None:
    found = {block.title: block for block in blocks("multikernelbench", TASKS, ATTEMPTS)}
    assert list(found) == ["activation", "loss", "matmul", "all"]
    assert found["activation"].figures.published.value == 1.0
    # Theirs are over more tasks of the category than these few.
    assert not any(system.name == "AscendCraft" for b in found.values() for system, _ in b.beside)
    whole = [*seven_categories()[:15], task("matmul/x")]
    beside = {block.title: block.beside for block in blocks("multikernelbench", whole, [])}
    assert "AscendCraft" in [system.name for system, _ in beside["activation"]]
    assert "AscendCraft" not in [system.name for system, _ in beside["matmul"]]
    assert beside["all"] == []  # theirs are over other categories


def test_a_page_names_who_published_and_what_differs(tmp_path: Path) -> None:
    words = " ".join(read(page(tmp_path, seven_categories(), [])).words)
    assert "AscendCraft" in words
    assert "all tasks as denominator" in words


def test_a_total_stands_beside_all_its_categories() -> None:
    seven = seven_categories()
    blocked = blocks("multikernelbench", seven, [])
    assert blocked[-1].beside[0][0].name == "AscendCraft"
    more = blocks("multikernelbench", [*seven, task("matmul/x")], [])
    assert [block.kind for block in more][-2:] == ["scope", "all"]
    assert more[-2].figures.tasks == 52
    assert more[-1].beside == []


@pytest.mark.parametrize("suite", NAMES)
def test_published_figures_are_percent_and_have_a_source(suite: str) -> None:
    for system in systems(suite):
        assert system.source
        assert system.caveat
        assert system.result
        for result in system.result:
            assert result.categories or result.levels
            shares = (result.compile, result.pass_, result.accuracy, *result.fast.values())
            assert all(0 <= share <= 100 for share in shares if share is not None)
            if result.compile is not None and result.pass_ is not None:
                assert result.pass_ <= result.compile


def test_published_counts_are_whole_tasks() -> None:
    """AscendCraft's shares are counts over all tasks: their sums over categories say so."""
    (ours,) = [s for s in systems("multikernelbench") if s.name == "AscendCraft"]
    *parts, total = ours.result
    for name in ("compile", "pass", "0.2", "0.8", "1.0"):
        counts = [(part.share(name) or 0.0) * (part.tasks or 0) for part in parts]
        assert all(abs(count - round(count)) < 0.01 for count in counts)
        assert sum(map(round, counts)) / 52 == pytest.approx(total.share(name), abs=5e-4)


def test_the_table_has_levels_and_a_running_run() -> None:
    tasks = [task("a/x", 1), task("a/y", 2), task("b/z", 2)]
    text = shown("forge", tasks, [good("a/x", speedup=3.0)], [Score("score", 12.5, 100.0)])
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert " ".join(["level 2 0/2", *[NOTHING] * 6]) in lines
    assert "all 1/3 100 % 100 % 100 % 100 % 100 % 3.00x" in lines
    assert "score 12.5 of 100" in lines


def test_a_page_of_nothing_is_a_page(tmp_path: Path) -> None:
    text = page(tmp_path, attempts=[])
    assert "0 of 4 passed, 0 attempted" in text
    read(text)


def test_the_same_run_makes_the_same_page(tmp_path: Path) -> None:
    assert page(tmp_path) == page(tmp_path)


@given(
    st.lists(
        st.tuples(st.floats(1e-6, 1e9), st.sampled_from(["measured", "scaled", "x", "y", "z"])),
        max_size=60,
    )
)
def test_every_mark_lies_in_its_picture(drawn: list[tuple[float, str]]) -> None:
    marks = [Mark(value, kind, f"{value}") for value, kind in drawn]
    picture = distribution(marks, "speed-up", "times", {1.0: "eager"})
    if not marks:
        assert picture == ""
        return
    root = ElementTree.fromstring(picture)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for element in root.iter():
        for name, most in (("x", width), ("cx", width), ("x1", width), ("y", height)):
            if name in element.attrib:
                assert -1 <= float(element.attrib[name]) <= most + 1
    kinds = len({mark.kind for mark in marks})
    drawn_marks = [e for e in root if "mark" in e.attrib.get("class", "").split()]
    assert len(drawn_marks) == len(marks) + kinds  # and one each in the legend


@given(st.text(max_size=500))
def test_plain_text_is_one_printable_line(words: str) -> None:
    assert plain(words).isprintable()
    assert len(plain(words)) <= 400
