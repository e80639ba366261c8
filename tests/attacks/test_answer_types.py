# SPDX-License-Identifier: Apache-2.0
"""Answers that choose their own tolerance: results of other types and shapes than asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.twin.answers.test_model_answer import SIX, TASK

from npuforge import dtypes
from npuforge.bench.modules.checks import Check
from npuforge.bench.modules.compare import close, published_case, strict_case
from npuforge.bench.modules.protocol import ModuleProtocol, Tolerance
from npuforge.bench.settings import Settings
from npuforge.bench.suites.npukernelbench import answer_script
from npuforge.dtypes import HostTensor
from npuforge.generate.judge import judge
from npuforge.twin.model_verify import verify_model
from npuforge.twin.numerics import compare
from npuforge.twin.sources.model_answer import ModelAnswer

WANTED = HostTensor.of(np.linspace(-3, 3, 256, dtype=np.float32).reshape(2, 128))
_PROTOCOL = ModuleProtocol(
    trials=1,
    seed=0,
    seeding="stream",
    tolerances={"paper": {"default": Tolerance(1.0, 1.0)}},
)
_OTHER_TYPES = [name for name in dtypes.names() if name != "float32"]


def _judgements(got: HostTensor, want: HostTensor) -> list[str | None]:
    """What each of our judges says against it; None for right."""
    exact = want.astype("complex128" if want.dtype.kind == "complex" else "float64")
    settings = Settings(suite="multikernelbench", path=".", protocol="paper")
    check = Check("trial", "strict")
    cases = [
        strict_case(check, [], [want], [exact], [got]),
        strict_case(check, [], [want], [None], [got]),
        published_case(check, [], [want], [None], [got], _PROTOCOL, settings),
    ]
    compared = [compare(got, want), judge(got, want, exact), judge(got, want, None)]
    said = [None if c.correct else c.summary for c in compared]
    assert close(want, got, Tolerance(1.0, 1.0)) is (cases[-1].correct is True)
    return said + [None if case.correct else case.message for case in cases]


@pytest.mark.parametrize("name", _OTHER_TYPES)
def test_another_type_is_wrong_in_words(name: str) -> None:
    for said in _judgements(WANTED.astype(name), WANTED):
        assert f"type {name} instead of float32" in (said or "")


@pytest.mark.parametrize("name", _OTHER_TYPES)
def test_float32_is_wrong_where_another_type_is_asked(name: str) -> None:
    for said in _judgements(WANTED, WANTED.astype(name)):
        assert f"type float32 instead of {name}" in (said or "")


@pytest.mark.parametrize("shape", [(128, 2), (256,), (1, 2, 128), (2, 64), (0,), ()])
def test_another_shape_is_wrong_in_words(shape: tuple[int, ...]) -> None:
    got = HostTensor.of(np.resize(WANTED.data, shape))
    for said in _judgements(got, WANTED):
        assert f"shape {list(shape)} instead of [2, 128]" in (said or "")


def test_tolerance_is_that_of_the_type_asked_for() -> None:
    """An error that bfloat16 may have is none that float32 may have."""
    rounded = WANTED.astype("bfloat16").astype("float32")
    assert not compare(rounded, WANTED).correct
    assert compare(WANTED.astype("bfloat16"), WANTED.astype("bfloat16")).correct


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_wrong(value: float) -> None:
    got = HostTensor.of(np.full((2, 128), value, np.float32))
    assert all(said is not None for said in _judgements(got, WANTED))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.to(torch.bfloat16),
        lambda t: t.to(torch.float16),
        lambda t: t.double(),
        lambda t: t.to(torch.complex64),
        lambda t: t.reshape(-1),
        lambda t: t.to(torch.int32),
    ],
)
def test_our_check_of_npukernelbench_compares_types_and_shapes(change: object) -> None:
    assert callable(change)
    want = WANTED.torch()
    told = answer_script._compared([want], [change(want)], [None])
    assert told["strict"] is False
    assert "instead of" in told["told"]
    assert answer_script._compared([want], [want.clone()], [want.double()])["strict"] is True


def _answered(folder: Path, returned: str) -> tuple[bool | None, str]:
    path = folder / "scale.py"
    path.write_text(SIX.replace("return custom_ops_lib.scale(x)", returned))
    report = verify_model(ModelAnswer.open(path), TASK, steps=("run",))
    cases = [case.summary for case in report.cases]
    return report.verdict.correct, "; ".join([*cases, report.verdict.error or ""])


def test_a_model_that_returns_bfloat16_is_wrong(tmp_path: Path) -> None:
    correct, said = _answered(tmp_path, "return custom_ops_lib.scale(x).to(torch.bfloat16)")
    assert correct is False
    assert "type bfloat16 instead of float32" in said


def test_strides_subclasses_and_gradients_do_not_matter(tmp_path: Path) -> None:
    """Values and types decide; how a tensor lies in memory is nobody's business."""
    returned = """y = custom_ops_lib.scale(x)
        wide = torch.empty(32, 512).t()[::2, ::2].t()
        wide = torch.as_strided(torch.empty(16 * 512), (16, 256), (512, 2))
        wide.copy_(y)
        class Own(torch.Tensor):
            pass
        return wide.as_subclass(Own).requires_grad_()"""
    assert _answered(tmp_path, returned)[0] is True


@pytest.mark.parametrize(
    "returned",
    [
        "custom_ops_lib.scale(x); return torch.empty(1).expand(1 << 14, 1 << 12)",
        "return custom_ops_lib.scale(x).to_sparse()",
        "custom_ops_lib.scale(x); return [torch.zeros(1)] * 20000",
        "custom_ops_lib.scale(x); return x.to('meta')",
        "custom_ops_lib.scale(x); return 'a text'",
    ],
)
def test_what_is_no_tensor_of_the_size_asked_for_is_wrong(tmp_path: Path, returned: str) -> None:
    assert not _answered(tmp_path, returned)[0]
