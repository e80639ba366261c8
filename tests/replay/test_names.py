# SPDX-License-Identifier: Apache-2.0
"""Texts that differ in names alone, and differences that only look so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.recording.comparison import compare_items
from tools.recording.worker import lowered_texts

EXAMPLES = Path(__file__).parents[2] / "examples" / "tile"
TILE = "variant1/program.tile.py"
KERNEL = "variant1/op_kernel/add.cpp"
HEADER = "variant1/op_host/add_tiling.h"

PROGRAM = """\
@ascend_kernel
def add(x, y, cols):
    # cols elements
    a = tl.alloc_ub(cols, dtype=tl.float32)
    b = tl.alloc_ub(cols, dtype=tl.float32)
    for t in range(2):
        tl.load(x + t, a[:cols], stride=cols)
        tl.add(b[:cols], a[:cols], a[:cols])
        tl.store(y + t, b[:cols])


def add_host(x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape)):
    add[1](x, y, x.shape[1])
"""

SOURCE = """\
template <typename T>
__aicore__ inline void LoadTile(const LocalTensor<T>& dst, int64_t n)
{
    DataCopy(dst, n);
}

class AddKernel {
public:
    __aicore__ inline void Process(int64_t n)
    {
        const int64_t first = n * cols;  // first of cols
        LoadTile(in0Local, first);
        Add(in0Local, in0Local, first);
    }

    LocalTensor<float> in0Local;
    int64_t cols;
};
"""


def state(path: str, first: str, second: str, also: str | None = None) -> str:
    texts = {} if also is None else {KERNEL: also}
    return compare_items("one", {path: first, **texts}, {path: second, **texts}).state


def renamed(text: str, **names: str) -> str:
    for name, other in names.items():
        text = re.sub(rf"\b{name}\b", other, text)
    return text


def test_names_of_a_program() -> None:
    assert state(TILE, PROGRAM, PROGRAM) == "identical"
    assert state(TILE, PROGRAM, renamed(PROGRAM, cols="width", a="left", t="turn")) == "names"
    swapped = renamed(PROGRAM, a="first", b="a").replace("first", "b")
    assert state(TILE, PROGRAM, swapped) == "names"
    assert state(TILE, PROGRAM, PROGRAM.replace("# cols elements", "# other")) == "comments"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.add(", "tl.sub("),  # an operation is no name of the program's
        ("range(2)", "range(3)"),
        ("a[:cols], a[:cols])", "a[:cols], b[:cols])"),  # another tensor
        ("stride=cols", "pitch=cols"),
        ("x.shape[1]", "x.extent[1]"),
        ("range(2)", "reversed(2)"),
    ],
)
def test_what_changes_a_program(old: str, new: str) -> None:
    assert old in PROGRAM
    assert state(TILE, PROGRAM, PROGRAM.replace(old, new)) == "changed"


def test_two_names_for_one_are_a_change() -> None:
    merged = renamed(PROGRAM, b="a")
    assert state(TILE, PROGRAM, merged) == "changed"
    assert state(TILE, merged, PROGRAM) == "changed"


def test_names_of_ascendc() -> None:
    other = renamed(SOURCE, AddKernel="SumKernel", in0Local="leftLocal", first="start", n="count")
    assert state(KERNEL, SOURCE, other) == "names"
    assert state(KERNEL, SOURCE, SOURCE.replace(" * cols;", "\n            * cols;")) == "names"
    for old, new in (("Add(", "Sub("), ("n * cols", "n + cols"), ("float", "half")):
        assert state(KERNEL, SOURCE, SOURCE.replace(old, new)) == "changed"
    assert state(KERNEL, SOURCE, SOURCE.replace("// first of cols", "// why")) == "comments"


def test_locals_of_two_functions_may_have_different_new_names() -> None:
    function = "void {}(int64_t n)\n{{\n    Use(n);\n}}\n"
    text = function.format("One") + function.format("Two")
    other = function.format("One") + renamed(function.format("Two"), n="m")
    assert state(KERNEL, text, other) == "names"


def test_tiling_fields_are_declared_by_their_macro() -> None:
    text = "TILING_DATA_FIELD_DEF(int64_t, cols);\ntiling.set_cols(3);\n"
    assert (
        state(HEADER, text, renamed(text.replace("set_cols", "set_width"), cols="width")) == "names"
    )
    assert state(HEADER, text, text.replace("set_cols", "get_cols")) == "changed"


def test_numbers_of_the_tiling_count_and_their_names_may_change() -> None:
    numbers = "variant1/tiling.txt"
    both = SOURCE + "int64_t width;\n"
    assert state(numbers, "cols = 3\n", "width = 3\n", both) == "names"
    assert state(numbers, "cols = 3\n", "cols = 4\n", both) == "changed"
    assert state(numbers, "cols = 3\n", "blocks = 3\n", both) == "changed"


def test_a_run_that_was_stopped_for_its_time_says_nothing() -> None:
    stopped = "a: failed None us (not timed: stopped: over the wall time limit of 20 s)\n"
    first, second = {"times.txt": "a: chosen 3.0 us\n"}, {"times.txt": stopped}
    found = compare_items("one", first, second)
    assert (found.state, found.limited) == ("identical", True)
    assert compare_items("one", first, {"times.txt": "a: chosen 3.1 us\n"}).state == "changed"


def test_what_the_compiler_emits_for_other_names() -> None:
    program = (EXAMPLES / "softmax.py").read_text()
    other = renamed(program, tile_in="given", peak="most", total="whole_sum", tile_rows="height")
    launches = {"tiling1": {"x": (129, 257)}}
    first, second, wider = (
        lowered_texts(text, launches, {})
        for text in (program, other, program.replace("16 * width", "20 * width"))
    )
    assert compare_items("softmax", first, second).state == "names"
    assert compare_items("softmax", first, wider).state == "changed"
