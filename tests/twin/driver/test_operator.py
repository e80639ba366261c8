# SPDX-License-Identifier: Apache-2.0
"""An operator project: host code, dtype variants, optional input, attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from npuforge.cli import main
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.twin import launch_file
from npuforge.twin.host import OutputTensor
from npuforge.twin.sources import operator as operator_source
from npuforge.twin.sources import recognise
from npuforge.twin.sources.operator import OperatorSource
from npuforge.twin.verify import verify


@pytest.fixture(scope="module")
def scale(kernels: Path) -> OperatorSource:
    source = recognise(kernels / "scale")
    assert isinstance(source, OperatorSource)
    return source


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_launch_takes_torch_tensors(scale: OperatorSource, dtype: torch.dtype) -> None:
    x = torch.arange(128, dtype=dtype).reshape(2, 64)
    result = scale.launch([x], mode="check")
    assert result.error is None
    assert result.findings == []
    assert torch.equal(result.torch("y"), x * 2)


def test_optional_input_chooses_another_key(scale: OperatorSource) -> None:
    x, bias = np.ones(64, np.float32), np.full(64, 5, np.float32)
    result = scale.launch({"x": x, "bias": bias}, {"alpha": 3.0})
    assert result.error is None
    assert (result.outputs["y"] == 8).all()


def test_inference_that_says_nothing_leaves_the_declared_type(scale: OperatorSource) -> None:
    silent = OutputTensor("y", "DT_UNDEFINED", "ND", (4,), inferred_dtype="DT_UNDEFINED")
    made = operator_source._output(scale.operator, silent, {"y": "DT_FLOAT16"}, None)
    assert made.dtype.name == "float16"
    with pytest.raises(UsageError, match="no known element type"):
        operator_source._output(scale.operator, silent, {}, None)


def test_late_shapes_and_lists_in_place(kernels: Path) -> None:
    source = recognise(kernels / "late_shape")
    assert isinstance(source, OperatorSource)
    x, first, second, z = (np.full(64, i, np.float32) for i in range(4))
    wanted = {"y": ((64,), "float32")}
    result = source.launch({"x": x, "v": [first, second], "z": z}, outputs=wanted, mode="check")
    assert result.error is None
    assert result.findings == []
    assert (result.outputs["y"] == x).all()
    assert (result.outputs["z"] == x).all()
    assert (result.outputs["v[0]"] == first + 1).all()
    assert (result.outputs["v[1]"] == second + 1).all()


def test_outputs_may_hold_values_before(scale: OperatorSource) -> None:
    x = np.ones(64, np.float32)
    before = HostTensor.of(np.full(128, 7, np.float32))
    wanted = {"y": ((128,), "float32")}
    result = scale.launch([x], outputs=wanted, initial={"y": before}, mode="check")
    assert result.findings == []
    assert result.outputs["y"].tolist() == [2.0] * 64 + [7.0] * 64


def test_what_tiling_refuses_is_an_error_of_the_run(scale: OperatorSource) -> None:
    result = scale.launch([np.ones(63, np.float32)])
    assert result.error is not None
    assert result.error.startswith("tiling: ")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"z": np.ones(64)}, "has no input 'z'; inputs: x, bias"),
        ([], "input 'x' is required"),
        ([np.ones(64, np.float32)] * 3, "takes 2 inputs, 3 are given"),
        ([[np.ones(64, np.float32)]], "input 'x' is not a list"),
        ([np.ones(64, np.int32)], "no combination of element types with x DT_INT32"),
    ],
)
def test_wrong_inputs_are_one_line(scale: OperatorSource, inputs: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        scale.launch(inputs)  # type: ignore[arg-type]


def test_launch_file_with_a_torch_reference(scale: OperatorSource, kernels: Path) -> None:
    report = verify(scale, launch_file.load(kernels / "scale" / "launch.yaml"))
    verdict = report.verdict
    assert [case.correct for case in verdict.cases] == [True, True], report.cases
    assert verdict.ok
    assert verdict.time_us is not None
    assert verdict.cases[0].dtypes == ["float16"]


def test_kernel_launch_file_is_refused(kernels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["run", str(kernels / "scale"), "--launch", str(kernels / "add.toml")]
    assert main(call) == 2
    assert "is an operator project" in capsys.readouterr().err
