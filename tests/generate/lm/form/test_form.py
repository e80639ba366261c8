# SPDX-License-Identifier: Apache-2.0
"""Programs as the model writes them: a buffer for each value, tiles that the compiler sizes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from tests.generate.lm.taught import SOC, Loss, Norm, Written, written

from npuforge.errors import UsageError
from npuforge.generate.lm.form.form import complete
from npuforge.generate.lm.form.heads import filled, taken
from npuforge.generate.lm.form.inline import hoisted
from npuforge.generate.lm.form.quoted import is_quote, quoted
from npuforge.generate.lm.form.single import arguments, single
from npuforge.tile import read_program
from npuforge.tile.interpret import interpret

_X = torch.linspace(-3.0, 3.0, 7 * 40).reshape(7, 40)


@pytest.fixture(scope="module")
def norm() -> Written:
    return written(Norm(), _X, torch.ones(40))


def _result(program: str, **inputs: torch.Tensor) -> np.ndarray[Any, Any]:
    typed = read_program(program, SOC)
    found = interpret(typed, {name: value.numpy() for name, value in inputs.items()}, {})
    return found["y"].values()


def test_the_taught_form_computes_the_same(norm: Written) -> None:
    weight = torch.linspace(0.5, 1.5, 40)
    assert "tl.fit(op" in norm.taught
    want = Norm()(_X, weight).numpy()
    for program in (norm.planned, complete(norm.taught, SOC).text):
        assert np.allclose(_result(program, xa=_X, xb=weight), want, atol=1e-5)


def test_every_value_of_a_block_is_written_once(norm: Written) -> None:
    block = re.search(r"with tl\.compute\(\):\n((?: {12}.*\n)+)", norm.taught)
    assert block is not None
    calls = [line for line in block[1].splitlines() if line.lstrip().startswith("tl.")]
    written = [line.partition("(")[2].partition("[")[0] for line in calls]
    assert len(set(written)) == len(written) > 5


def test_what_is_carried_from_round_to_round_keeps_its_buffer() -> None:
    made = written(Loss(), torch.randn(512, 1000), torch.randn(512, 1000))
    taught = complete(made.taught, SOC).text
    given, wanted = torch.randn(512, 1000), torch.randn(512, 1000)
    want = Loss()(given, wanted).numpy()
    assert np.allclose(_result(taught, xa=given, xb=wanted), want, atol=1e-5)


def test_a_tile_that_was_sized_fits(norm: Written) -> None:
    """The compiler's own arithmetic, as the planner has it."""
    numbers = r"\(tl\.ub_bytes\(\) - .*\) // \("
    assert re.search(numbers, norm.planned)
    assert re.search(numbers, complete(norm.taught, SOC).text)


def test_what_cannot_be_sized_is_said(norm: Written) -> None:
    taught = norm.taught
    with pytest.raises(UsageError, match="not launched"):
        complete(taught.replace("tl.fit(op", "tl.fit(other"), SOC)
    with pytest.raises(UsageError, match="not closed"):
        complete(taught.replace("tl.fit(op, k1_width)", "tl.fit(op, k1_width"), SOC)
    with pytest.raises(UsageError, match="takes a kernel"):
        complete(taught.replace("tl.fit(op, k1_width)", "tl.fit(op, 1, 2)"), SOC)


def test_buffers_are_allocated_where_they_are_used(norm: Written) -> None:
    taught = norm.taught.splitlines()
    for number, line in enumerate(taught):
        if "tl.alloc" in line:
            name = line.split()[0]
            before = [line for line in taught[:number] if not is_quote(line)]
            assert re.search(rf"\b{name}\b", "\n".join(before)) is None
            assert any(re.search(rf"\b{name}\b", later) for later in taught[number + 1 :][:3])
    whole = hoisted(norm.taught)
    for number, line in enumerate(whole.text.splitlines(), 1):
        assert taught[whole.before(number) - 1].strip() == line.strip()
    assert whole.before(10_000) == 10_000


def test_folds_over_columns_leave_their_tile_to_the_compiler() -> None:
    class Total(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x).sum((1, 2))

    total, given = Total(), torch.randn(96, 30, 6, 40)
    taught = written(total, given).taught
    assert re.search(r"tl\.fit\(op, tl\.align_up\(\w+, 32\)\)", taught)
    found = _result(complete(taught, SOC).text, xa=given)
    assert np.allclose(found, total(given).numpy(), atol=1e-4)


def test_buffers_have_the_names_of_the_graphs_values(norm: Written) -> None:
    assert "# v" in norm.planned
    taught = norm.taught
    for line in (
        "tl.load(xa + start * cols, xa_in[:n, :], stride=cols)",
        "tl.relu(v0[:n, :], xa_in[:n, :])",
        "tl.mul(v1[:n, :], v0[:n, :], xb_in[:])",
        "tl.add(v2[:n, :], v1[:n, :], xa_in[:n, :])",
        "tl.store(y + start * cols, y_out[:n, :], stride=cols)",
    ):
        assert line in taught, taught


def test_lines_of_the_question_stand_before_what_they_become(norm: Written) -> None:
    lines = [line.strip() for line in norm.taught.splitlines()]
    for quote, after in (
        ("# xa: float32[na, nb]", "xa_in = "),
        ("# v0 = relu(xa): float32[na, nb]", "v0 = "),
        ("# v1 = mul.Tensor(v0, xb): float32[na, nb]", "v1 = "),
        ("# xb: float32[nb]", "xb: tl.input("),
    ):
        places = [n for n, line in enumerate(lines) if line == quote]
        assert any(lines[place + 1].startswith(after) for place in places), norm.taught
    assert norm.taught.count("# v1 = ") == 1
    head = next(line for line in filled(norm.taught).splitlines() if line.startswith("def op("))
    assert lines[lines.index(f"# {head.removesuffix(':')}") + 1].startswith("k1_width = ")
    assert "#" not in complete(norm.taught, SOC).text


def test_views_and_helpers_are_part_of_what_is_computed() -> None:
    class Centred(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            scale = w.unsqueeze(1)
            return torch.nn.functional.elu(x * scale, 2.0)

    given = torch.randn(9, 8, 130).half(), torch.randn(8).half()
    taught = written(Centred(), *given).taught.splitlines()
    quotes = [line.strip() for line in taught if is_quote(line)]
    view = next(n for n, quote in enumerate(quotes) if "unsqueeze" in quote)
    assert "mul.Tensor" in quotes[view + 1]
    elu = next(n for n, line in enumerate(taught) if "= elu(" in line)
    assert "tl.alloc_ub" in taught[elu + 1]
    assert not any(" v" in line for line in taught[elu + 1 : elu + 2])


def test_a_view_that_is_read_often_is_quoted_once() -> None:
    asked = "xa: float32[na]\n" + "".join(
        f"v{n} = add.Tensor({f'v{n - 1}, v{n - 1}' if n else 'xa, xa'}): float32[na]\n"
        for n in range(60)
    )
    program = "def op(xa, y):\n    with tl.compute():\n        tl.copy(y_out[:], xa_in[:])\n"
    made = quoted(program, f"{asked}return v59\n").splitlines()
    assert [line.split()[1] for line in made if is_quote(line)] == [f"v{n}" for n in range(60)]


def test_what_one_kernel_leaves_for_another_has_its_name() -> None:
    class Whitened(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x - x.sum(0, keepdim=True)

    given = torch.randn(3000, 700)
    made = written(Whitened(), given)
    assert "tl.workspace" in made.taught
    heads = re.findall(r"^def (op(?:_\d)?\(.*\)):$", filled(made.taught), re.MULTILINE)
    assert re.findall(r"^    # def (.*)$", made.taught, re.MULTILINE) == heads
    *_, before, last = made.taught.split("@ascend_kernel")
    stored = re.search(r"tl\.store\((w\d)\b.*?, (v\d+)", before)
    assert stored is not None, made.taught
    assert re.search(rf"# {stored[2]} = .*\n +{stored[1]}_in = ", last), made.taught
    found = _result(complete(made.taught, SOC).text, xa=given)
    assert np.allclose(found, Whitened()(given).numpy(), atol=1e-3)


def test_a_value_in_two_types_has_two_buffers() -> None:
    class Gate(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            mask = x > y
            return torch.where(mask, x, y) * mask

    given, other = torch.randn(64, 40), torch.randn(64, 40)
    taught = written(Gate(), given, other).taught
    found = _result(complete(taught, SOC).text, xa=given, xb=other)
    assert np.allclose(found, Gate()(given, other).numpy())
    assert re.search(r"v0_? = tl\.alloc_mask", taught)
    assert re.search(r"v0_? = tl\.alloc_ub", taught)


def test_a_program_without_kernels_stays() -> None:
    assert single("x = 1\n") == "x = 1\n"
    assert arguments("a[:n, None], (1, 2), f(3)") == ["a[:n, None]", "(1, 2)", "f(3)"]


def test_a_kernel_takes_what_it_reads_and_nothing_gives(norm: Written) -> None:
    assert "\ndef op():\n" in norm.taught
    body = [
        "    first = tl.program_id(0) * per_core",
        "    # v0 = exp(nothing): float32[na]",
        "    for t in range(tl.cdiv(cols, tile)):",
        "        m = min(tile, cols - t * tile)",
        '        tl.cast(y_out[:m], xa_in[:m], round="rint")',
        "        first += width if t == 1e-5 else 0",
    ]
    assert taken(body) == ["per_core", "cols", "tile", "y_out", "xa_in", "width"]


def test_launches_give_what_the_bodies_take(norm: Written) -> None:
    """In the order of the heads that the host quotes, which are those the compiler gets."""
    (head,) = re.findall(r"^def op\((.*)\):$", filled(norm.taught), re.MULTILINE)
    assert f"    # def op({head})\n" in norm.taught
    (launch,) = re.findall(r"^    op\[\w+\]\((.*)\)$", norm.taught, re.MULTILINE)
    pairs = dict(zip(head.split(", "), arguments(launch), strict=True))
    assert pairs["xa"] == "xa"
    assert pairs["tile"] == "k1_tile"


class _Stages(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp((x * x + 1).mean(0), 0.5).sum(-1)


def test_workspaces_are_numbered_as_kernels_leave_them() -> None:
    x = torch.randn(60, 40, 500)
    made = written(_Stages(), x)
    planned = list(dict.fromkeys(re.findall(r"\bw\d+\b", made.planned)))
    assert len(planned) > 1
    assert planned != sorted(planned)  # else there is nothing to see here
    assert list(dict.fromkeys(re.findall(r"\bw\d+\b", made.taught))) == sorted(planned)
    assert re.findall(r"(\w+) = tl\.workspace", made.taught) == sorted(planned)
    found = _result(complete(made.taught, SOC).text, xa=x)
    assert np.allclose(found, _Stages()(x).numpy(), atol=1e-3)
