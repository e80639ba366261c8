# SPDX-License-Identifier: Apache-2.0
"""The report: complete, self-contained, safe to open, and drawn where it should be."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npuforge.eager import Baseline
from npuforge.generate import folder
from npuforge.generate.outcome import Candidate, Outcome, Stage
from npuforge.generate.report import charts, render, timeline
from npuforge.generate.report.code import listing
from npuforge.page import svg
from npuforge.plan import Plan, Variant
from npuforge.spec.graph import Graph, Source, TensorType
from npuforge.twin.timing.bottleneck import Bottleneck
from npuforge.twin.timing.report import PipeTimes, TimingReport
from npuforge.twin.timing.roofline import Roofline
from npuforge.verdict import Advice, Case, Race, Side, Verdict, Violation

EVIL = '</script><img src=x onerror="alert(1)">&<b>'


def trace(tiles: int = 3) -> bytes:
    """One core that loads, computes and stores tile after tile."""
    names = [(0, "SCALAR"), (1, "VECTOR"), (2, "MTE2"), (3, "MTE3")]
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "core0.veccore0"}}
    ]
    events += [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": tid, "args": {"name": name}}
        for tid, name in names
    ]
    for tile in range(tiles):
        for tid, name in ((2, "DataCopyPad"), (1, "Exp"), (3, "DataCopyPad")):
            start = tile + 0.3 * tid
            events.append({"ph": "X", "name": name, "pid": 0, "tid": tid, "ts": start, "dur": 0.25})
    return json.dumps({"traceEvents": events}).encode()


def timing(time_us: float = 10.0) -> TimingReport:
    return TimingReport(
        time_us=time_us,
        pipes={"V": PipeTimes(3.0, 1.0, 40), "MTE2": PipeTimes(8.0, 0.0, 6)},
        bottleneck=Bottleneck("memory", "transfers are busy"),
        roofline=Roofline(
            best_us=8.0, memory_us=7.5, compute_us=2.5, launch_us=0.5, share=8.0 / time_us
        ),
        op_summary={},
        stall=None,
    )


def outcome(**changes: object) -> Outcome:
    variants = tuple(Variant(f"variant {n}", f"# program {n}", f"reason {n}") for n in range(3))
    kind = TensorType((64, 128), "float32", ("64", "128"))
    made = Outcome(
        name="softmax",
        graph=Graph("softmax", [Source("x", kind, "input", 0)], [], [], []),
        plan=Plan("softmax", variants, ()),
        reference="class Model: pass",
        candidates=(
            Candidate(variants[0], "slower", 12.5, "1.25 times"),
            Candidate(variants[1], "chosen", 10.0),
            Candidate(variants[2], "failed", None, "does not compile"),
        ),
        verdict=Verdict(
            "softmax",
            soc="910b2",
            compiled=True,
            correct=True,
            cases=[Case([[64, 128]], ["float32"], True, 1e-7, 1e-6, "given")],
            time_us=10.0,
            roofline=0.8,
            bottleneck="memory",
            baseline_us=25.0,
            baseline_source="measured",
            speedup=2.5,
            seconds=4.0,
        ),
        form="msopgen",
        files={"op_kernel/softmax.cpp": "__aicore__ void f();", "build.sh": "#!/bin/sh"},
        timing=timing(),
        trace=trace(),
        stages=(Stage("capture", 1.0),),
        baseline=Baseline(25.0, "measured", "somewhere"),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


class _Reader(HTMLParser):
    """Checks that tags nest and notes everything that could reach outside."""

    VOID = ("meta", "br", "rect", "line", "path", "circle")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_a_report_says_what_was_found() -> None:
    text = render(outcome())
    for words in (
        "proven",
        "2.50",
        "eager takes 25.0 us (measured)",
        "bound by memory",
        "variant 1",
        "reason 2",
        "float32[64, 128]",
        "does not compile",
        "op_kernel/softmax.cpp",
    ):
        assert words in text, words
    read(text)


def test_a_report_needs_nothing_else() -> None:
    text = render(outcome())
    reader = read(text)
    assert not reader.tags & {"script", "link", "img", "iframe", "object"}
    assert not [name for name, _ in reader.attributes if name in ("src", "href", "xlink:href")]
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_nothing_from_outside_becomes_markup() -> None:
    verdict = replace(
        outcome().verdict,
        name=EVIL,
        violations=[Violation(EVIL, "error", EVIL, 3, EVIL, EVIL)],
        advice=[Advice(EVIL, "advice", EVIL, 1, EVIL)],
        races=[Race(EVIL, Side(EVIL, 1, EVIL), Side(EVIL, 2, EVIL), EVIL)],
        cases=[Case([[1]], [EVIL], False, None, None, EVIL)],
        error=EVIL,
        baseline_source=EVIL,
    )
    variant = Variant(EVIL, EVIL, EVIL)
    text = render(
        outcome(
            name=EVIL,
            verdict=verdict,
            reference=EVIL,
            form=EVIL,
            files={EVIL: EVIL + "__aicore__"},
            candidates=(Candidate(variant, "chosen", 10.0, EVIL),),
            trace=trace().replace(b'"Exp"', json.dumps(EVIL).encode()),
            notes=(EVIL,),
            stages=(Stage(EVIL, 1.0),),
            baseline=Baseline(25.0, "measured", EVIL),
        )
    )
    reader = read(text)
    assert "img" not in reader.tags
    assert "script" not in reader.tags
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"compiled": False}, "does not compile"),
        ({"error": "deadlock"}, "did not run"),
        ({"correct": False}, "wrong"),
        ({"races": [Race("R", Side("a", 1, "V"), Side("a", 2, "MTE3"), "m")]}, "race"),
        ({"violations": [Violation("ALN-01", "error", "a", 1, "m")]}, "breaks a rule"),
        ({"correct": None}, "not compared"),
    ],
)
def test_the_badge_names_what_is_wrong(changes: dict[str, object], words: str) -> None:
    verdict = replace(outcome().verdict, **changes)  # type: ignore[arg-type]
    text = render(outcome(verdict=verdict))
    assert f'<span class="badge bad">{words}</span>' in text


def test_a_report_without_times_has_no_pictures_of_them() -> None:
    verdict = Verdict("softmax", compiled=False)
    bare = outcome(verdict=verdict, timing=None, trace=b"", baseline=None, files={}, stages=())
    text = render(bare)
    assert 'id="time"' not in text
    assert 'id="pipes"' not in text
    read(text)


def shapes(drawing: str) -> tuple[float, float, list[dict[str, str]]]:
    root = ElementTree.fromstring(drawing)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    return width, height, [dict(element.attrib) for element in root.iter("rect")]


@pytest.mark.parametrize("tiles", [1, 3, 5000])
def test_the_timeline_lies_in_its_picture(tiles: int) -> None:
    drawing = timeline.draw(trace(tiles))
    width, height, rects = shapes(drawing)
    for rect in rects:
        x, y = float(rect["x"]), float(rect["y"])
        assert 0 <= x <= x + float(rect["width"]) <= width
        assert 0 <= y <= y + float(rect["height"]) <= height
    assert len(rects) < 600  # a long run is merged and cut, not drawn in full


def test_the_close_up_keeps_order_and_proportion() -> None:
    _, _, rects = shapes(timeline.draw(trace(3)))
    loads = [rect for rect in rects if rect.get("class") == "p-mte2"][3:]  # after the strip's
    starts = [float(rect["x"]) for rect in loads]
    assert len(starts) == 3
    assert starts[1] - starts[0] == pytest.approx(starts[2] - starts[1], abs=0.1)


def test_a_text_that_is_no_trace_draws_nothing() -> None:
    assert timeline.draw(b"") == ""
    assert timeline.draw(b"{}") == ""
    assert timeline.draw(b'{"traceEvents": []}') == ""


def test_stretches_of_work_are_merged() -> None:
    spans = [timeline.Span("c", "V", "n", start, start + 1.0) for start in (0.0, 1.05, 4.0)]
    assert timeline.merged(spans, 0.1) == [(0.0, 2.05), (4.0, 5.0)]


@given(
    st.floats(1e-3, 1e6),
    st.floats(1e-4, 1e5),
    st.floats(1e-4, 1e5),
    st.floats(1e-2, 1e7) | st.none(),
)
def test_the_roofline_is_drawn_for_any_kernel(
    slack: float, memory: float, compute: float, eager: float | None
) -> None:
    best = 0.5 + max(memory, compute)
    total = best + slack
    roof = Roofline(best, memory, compute, 0.5, best / total)
    drawing = charts.roofline(replace(timing(total), roofline=roof), eager)
    root = ElementTree.fromstring(drawing)
    dots = [element for element in root if element.tag == "circle"]
    assert len(dots) == (1 if eager is None else 2)
    for dot in dots:
        assert 58 <= float(dot.attrib["cx"]) <= 522
        assert 16 <= float(dot.attrib["cy"]) <= 284.1


def test_the_longest_bar_is_the_slowest_candidate() -> None:
    _, _, rects = shapes(charts.candidates(outcome()))
    widths = {rect["class"]: float(rect["width"]) for rect in rects}
    assert widths["bar eager"] > widths["bar slower"] > widths["bar chosen"]
    assert widths["bar slower"] == pytest.approx(1.25 * widths["bar chosen"], rel=0.01)


def test_eager_is_not_set_beside_variants_of_another_size() -> None:
    verdict = replace(outcome().verdict, time_us=20.0, speedup=1.25)
    text = render(outcome(verdict=verdict))
    assert "bar eager" not in text
    assert "in full the chosen one takes 20.0 us" in text


def test_lines_are_numbered_and_strings_do_not_cross_them() -> None:
    text = listing('def f():\n    """two\n    lines"""\n    return "<a>"  # why\n', "f.py")
    assert re.findall(r'value="(\d+)"', text) == ["1", "2", "3", "4"]
    assert "&lt;a&gt;" in text
    assert '<span class="c-comment"># why</span>' in text
    for line in re.findall(r"<li.*?</li>", text):
        assert line.count("<span") == line.count("</span>")


@given(st.floats(-1e3, 1e6), st.floats(1e-6, 1e6), st.integers(1, 12))
def test_ticks_are_inside_and_ordered(low: float, width: float, about: int) -> None:
    found = svg.ticks(low, low + width, about)
    assert found == sorted(found)
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in found)
    assert len(found) <= about + 2


def test_the_folder_holds_the_report(tmp_path: Path) -> None:
    folder.write(outcome(), tmp_path / "softmax_op")
    assert (tmp_path / "softmax_op" / "report.html").read_text("utf-8") == render(outcome())
