# SPDX-License-Identifier: Apache-2.0
"""Each counter on small sources."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest
from tools.counters import imports, names, patterns, programs, prose, tilecode
from tools.counters.figures import figures
from tools.counters.tree import Source


def source(path: str, text: str) -> Source:
    return Source(f"src/npuforge/{path}", textwrap.dedent(text))


def lines(places: Sequence[object]) -> list[str]:
    return [str(place).removeprefix("src/npuforge/") for place in places]


# ---- files --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "area", "language"),
    [
        ("src/npuforge/plan/tiles.py", "src", "Python"),
        ("src/npuforge/twin/cpp/npu/copy.h", "src", "C++"),
        ("src/npuforge/bench/suites/forge/level1/math/exp.py", "src", "tasks"),
        ("examples/tile/gelu.py", "examples", "tile programs"),
        ("docs/tile.md", "docs", "pages"),
        ("README.md", "README.md", "pages"),
        ("tests/plan/test_planner.py", "tests", "Python"),
        ("src/npuforge/tile/ops.toml", "src", "data"),
    ],
)
def test_area_and_language(path: str, area: str, language: str) -> None:
    made = Source(path, "")
    assert (made.area, made.language) == (area, language)


def test_folders_are_two_levels_at_most() -> None:
    assert source("errors.py", "").folders == [""]
    assert source("lower/fuse.py", "").folders == ["", "lower"]
    assert source("generate/lm/guide/facts/rows.py", "").folders == ["", "generate", "generate/lm"]


# ---- prose --------------------------------------------------------------------------------------
def test_docstrings_that_begin_badly() -> None:
    made = source(
        "a.py",
        '''\
        """Whether it is so."""

        class Table:
            """A table of numbers."""

            def row(self) -> int:
                """`what` stands in its row."""

        def first() -> str:
            """Return the first."""

        async def other() -> str:
            """Of two, the other."""

        TEXT = """What is no docstring."""
        ''',
    )
    assert len(list(prose.docstrings(made))) == 5
    assert lines(prose.badly_opened(made)) == [
        "a.py:1: a docstring begins with 'Whether'",
        "a.py:7: a docstring begins with 'what'",
        "a.py:13: a docstring begins with 'Of'",
    ]


def test_sentences_of_a_page() -> None:
    page = """\
    # A heading is none. Really.

    The first ends here. The second (see C++ 2.0) goes on
    in another line!

    * an item
    * another, of `Apache-2.0` and so on...
      with its second line. And more

    | a table | is none. |

    ```
    Code. Is none.
    ```

    Last before code:

        x = 1. + 2.
    """
    assert list(prose.sentences(textwrap.dedent(page))) == [
        "The first ends here.",
        "The second (see C++ 2.0) goes on in another line!",
        "an item",
        "another, of `Apache-2.0` and so on... with its second line.",
        "And more",
        "Last before code:",
    ]


def test_words_of_sentences() -> None:
    counts = prose.lengths(["One two - three. Four.", "Five `six` seven"])
    assert counts == [3, 1, 3]
    assert prose.median(counts) == 3
    assert prose.median([]) is None


# ---- regular expressions ------------------------------------------------------------------------
def test_places_of_regular_expressions() -> None:
    first = source(
        "a.py",
        """\
        import re
        import re as other
        from re import sub as replace

        WORD = re.compile(r"\\w+")
        RULES = ((re.compile("a"), "text"), (re.compile("b"), "x y"))

        def work(text: str, given: re.Pattern[str], parts: list[str]) -> None:
            re.sub("a", "b", text)
            other.search("a", text)
            replace("a", "b", text)
            WORD.findall(text)
            list(map(WORD.sub, parts))
            given.match(text)
            re.compile("a").split(text)
            for pattern, words in RULES:
                pattern.search(text)
                words.split()
            text.split("a")
            re.escape(text)
        """,
    )
    second = source(
        "b/c.py",
        """\
        from npuforge.a import WORD as NAME

        def split(text: str) -> list[str]:
            return NAME.split(text)
        """,
    )
    found = patterns.applied([first, second])
    assert lines(found[first.path]) == [
        "a.py:9: re.sub",
        "a.py:10: other.search",
        "a.py:11: re.sub",
        "a.py:12: WORD.findall",
        "a.py:13: WORD.sub",
        "a.py:14: given.match",
        "a.py:15: re.compile().split",
        "a.py:17: pattern.search",
    ]
    assert lines(found[second.path]) == ["b/c.py:4: NAME.split"]


def test_attributes_and_fields_that_are_patterns() -> None:
    made = source(
        "a.py",
        """\
        import re

        class Rule:
            word: re.Pattern[str]

            def __init__(self) -> None:
                self.end = re.compile("$")
                self.all = {"a": re.compile("a"), "b": re.compile("b")}

            def work(self, text: str) -> None:
                self.word.match(text)
                self.end.search(text)
                for key, one in self.all.items():
                    one.match(key)
        """,
    )
    assert [place.line for place in patterns.applied([made])[made.path]] == [11, 12, 14]


# ---- tile code ----------------------------------------------------------------------------------
def test_lines_of_tile_code() -> None:
    made = source(
        "a.py",
        '''\
        """tl.add(a, b, c) in a docstring is none."""

        def kernel(name: str, rows: int, lines: list[str]) -> str:
            """Write a kernel: tl.mul(a, b, c)."""
            lines += [f"{name}_rows = {rows}", "a plain text", "tl.inf", "float(x)", "x = y;"]
            lines.append(f"tl.{name}({rows}, {{}})")
            if rows > 8:
                raise ValueError("tl.load(x) stands in tl.copyin(): move it")
            return f"""
        for t in range({rows:>4}):
            with tl.compute():
                tl.add(y, x, {rows})
            # a comment
        else:
            y = x
        """
        ''',
    )
    assert [(place.line, place.what) for place in tilecode.tile_lines(made)] == [
        (5, "hole_rows = hole"),
        (6, "tl.hole(hole, {})"),
        (9, "for t in range(hole):"),
        (9, "with tl.compute():"),
        (9, "tl.add(y, x, hole)"),
        (9, "else:"),
        (9, "y = x"),
    ]


def test_statements_of_other_programs_are_none() -> None:
    assert tilecode.tile_lines(source("a.py", 'TEXT = "x = torch.exp(y)"')) == []


# ---- programs -----------------------------------------------------------------------------------
def test_lines_of_a_program_do_not_depend_on_its_layout() -> None:
    wide = '''\
    """A kernel."""

    import tile.language as tl


    def double(x, y, rows):  # doubles
        # with a tile
        tile = tl.alloc_ub(rows, dtype=tl.float32); tl.load(x, tile)
        tl.store(
            y,
            tile,
        )
    '''
    narrow = """\
    import tile.language as tl
    def double(
        x, y, rows,
    ):
        tile = tl.alloc_ub(
            rows, dtype=tl.float32,
        )
        tl.load(x, tile)

        tl.store(y, tile)
    """
    counts = [programs.program_lines(source("a.py", text)) for text in (wide, narrow)]
    assert counts == [4, 4]


# ---- names --------------------------------------------------------------------------------------
def test_names() -> None:
    text = """\
    def _read(found: int) -> int:
        found = found + 1
        def _inner() -> None: ...
        return found

    class Reader:
        def _read(self) -> None: ...
    """
    made = [source("a.py", text), source("b.py", text)]
    assert names.private_functions(made) == {"_read": 2}
    assert names.occurrences(made, "found") == 2 * 4


# ---- imports ------------------------------------------------------------------------------------
def graph(**texts: str) -> imports.Graph:
    return imports.graph(
        source(f"{name.replace('__', '/')}.py", text) for name, text in texts.items()
    )


def test_circles() -> None:
    known = graph(
        top="from npuforge import a\n",
        a="from npuforge.b import f\n",
        b="def f():\n    from npuforge.c import g\n",
        c="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import npuforge.a\n",
        d="from npuforge.e import x\nfrom npuforge.a import y\n",
        e="import npuforge.d\nimport npuforge.bottom\n",
        bottom="import npuforge.bottom\n",
    )
    assert imports.circles(known) == [
        ["npuforge.a", "npuforge.b", "npuforge.c"],
        ["npuforge.d", "npuforge.e"],
    ]


def test_imports_that_go_up() -> None:
    known = graph(
        low__a="from npuforge.high.b import f\nfrom npuforge.low.c import x\n",
        low__c="from npuforge.other import x\n",
        high__b="import npuforge.low.a\nfrom npuforge.high import c\n",
        high__c="",
        beside="\nfrom npuforge.high.b import f\n",
        other="",
    )
    order = {"low": 0, "high": 1, "beside": 1}
    assert lines(imports.upward(known, order)) == [
        "low/a.py:1: low imports high: it is not in a lower layer",
        "low/c.py:1: low imports other: other has no layer",
        "beside.py:2: beside imports high: it is not in a lower layer",
    ]


# ---- all of it ----------------------------------------------------------------------------------
def test_figures_of_a_tree() -> None:
    made = [
        source("plan/a.py", '"""What it is."""\n\nX = "tl.exp(y, x)"\n'),
        source("plan/special/b.py", '"""A writer."""\n' + "\n" * 260),
        Source("docs/a.md", "A page. " + "word " * 30 + "\n"),
        Source("examples/tile/a.py", "def a():\n    x = 1\n"),
        Source("examples/tile/b.py", "def b(): return 1\n"),
    ]
    found = figures(made)
    assert found.lines == {
        "docs": {"pages": 1},
        "examples": {"tile programs": 3},
        "src": {"Python": 264},
    }
    assert list(found.folders) == ["", "plan", "plan/special"]
    plan = found.folders["plan"]
    assert (plan.files, plan.lines, plan.crumbs, plan.large) == (2, 264, 1, 1)
    assert (plan.docstrings, plan.badly_opened, plan.tile_lines) == (2, 1, 1)
    assert found.folders["plan/special"].tile_lines == 0
    assert (found.pages["docs"].sentences, found.pages["docs"].long) == (2, 1)
    assert (found.programs.median, found.programs.total) == (2, 4)
