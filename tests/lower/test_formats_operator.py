# SPDX-License-Identifier: Apache-2.0
"""Operator projects (msopgen, NPUKernelBench) on the twin, as emitted."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from tests.lower.format_programs import CASES, Case, compare, lowered, wanted, write

from npuforge.lower.formats import emit
from npuforge.lower.formats.baked import bake
from npuforge.lower.tiling import compute_tiling
from npuforge.twin.execute import RunResult
from npuforge.twin.host import TensorSpec, TilingRequest
from npuforge.twin.host import compute_tiling as host_tiling
from npuforge.twin.kernel import lint_violations
from npuforge.twin.sources import recognise
from npuforge.twin.sources.operator import OperatorSource, host_name

_C_FORMATS = {"int64_t": "q", "float": "f"}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OperatorSource]:
    """The project of every program, each built once."""
    found = {}
    for name in CASES:
        folder = write(emit(lowered(name), "msopgen"), tmp_path_factory.mktemp(name))
        source = recognise(folder)
        assert isinstance(source, OperatorSource)
        found[name] = source
    return found


def check(result: RunResult, name: str, case: Case) -> None:
    assert result.error is None, result.error
    assert result.violations == []
    assert result.races == []
    for key, tensor in wanted(name, case).items():
        compare(result.tensors[key], tensor, f"{name} {key}")


@pytest.mark.parametrize("name", sorted(CASES))
def test_project_runs(projects: dict[str, OperatorSource], name: str) -> None:
    for case in CASES[name]:
        result = projects[name].launch(dict(case.inputs), case.attributes, mode="check")
        check(result, name, case)


@pytest.mark.parametrize("name", sorted(CASES))
def test_no_lint_finding(projects: dict[str, OperatorSource], name: str) -> None:
    root = projects[name].root
    assert lint_violations(sorted(root.rglob("*.cpp")), root) == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_host_code_computes_the_same_tiling(projects: dict[str, OperatorSource], name: str) -> None:
    """Block count, key, workspace and every field, bit for bit."""
    program, source = lowered(name), projects[name]
    library = source.build_host().path
    assert library is not None
    system = 16 << 20
    for case in CASES[name]:
        ours = compute_tiling(program, case.shapes, case.attributes)
        request = TilingRequest(
            op=source.operator.type,
            inputs={
                tensor.name: TensorSpec(case.shapes[tensor.name], host_name(tensor.dtype))
                for tensor in program.program.host.inputs
            },
            outputs={
                tensor.name: TensorSpec(ours.output_shapes[tensor.name], host_name(tensor.dtype))
                for tensor in program.program.host.outputs
            },
            attrs=case.attributes,
        )
        theirs = host_tiling(library, source.operator, request, soc=program.soc)
        assert theirs.ok, theirs.message
        assert theirs.block_dim == ours.blocks
        assert theirs.tiling_key == ours.key
        user = sum(theirs.workspace_sizes)
        assert user == (ours.workspace_bytes + system if program.program.host.workspaces else 0)
        layout = "<" + "".join(_C_FORMATS[field.type] for field in program.host.fields)
        values = [
            int(ours.values[field.name])
            if field.type == "int64_t"
            else float(ours.values[field.name])
            for field in program.host.fields
        ]
        assert theirs.tiling_data is not None
        assert _aligned(layout, values) == theirs.tiling_data[: len(_aligned(layout, values))]
        shapes = {out.name: out.inferred_shape for out in theirs.outputs}
        assert shapes == ours.output_shapes


def _aligned(layout: str, values: list[int | float]) -> bytes:
    """The fields in order, 8 byte ones on 8 byte boundaries."""
    packed = b""
    for kind, value in zip(layout[1:], values, strict=True):
        packed += b"\0" * (-len(packed) % struct.calcsize(kind))
        packed += struct.pack(kind, value)
    return packed


def test_host_code_refuses_what_the_program_refuses(projects: dict[str, OperatorSource]) -> None:
    case = CASES["blend"][0]
    inputs = {"x": case.inputs["x"], "acc": case.inputs["acc"][:-1]}
    result = projects["blend"].launch(inputs, case.attributes)
    assert result.error is not None
    assert result.error.startswith("tiling: ")
    flat = {"x": CASES["softmax"][0].inputs["x"].flatten()}
    assert "tiling: " in (projects["softmax"].launch(flat).error or "")


@pytest.mark.parametrize("name", ["blend", "centre", "last", "total"])
def test_static_project(name: str, tmp_path: Path) -> None:
    """One schedule, constants in the kernel, other shapes and values refused."""
    case, other = CASES[name][0], CASES[name][1]
    program = lowered(name)
    files = emit(program, "msopgen", baked=bake(program, case.shapes, case.attributes))
    assert f"op_host/{name}_tiling.h" not in files
    assert "GET_TILING_DATA" not in files[f"op_kernel/{name}.cpp"]
    source = recognise(write(files, tmp_path))
    assert isinstance(source, OperatorSource)
    check(source.launch(dict(case.inputs), case.attributes, mode="check"), name, case)
    assert "tiling: " in (source.launch(dict(other.inputs), other.attributes).error or "")


@pytest.mark.parametrize("name", ["blend", "last"])
def test_kernel_only_runs_under_the_suites_host(name: str, tmp_path: Path) -> None:
    """The suite's own host code launches the kernel on every core and gives it no tiling."""
    case, program = CASES[name][0], lowered(name)
    baked = bake(program, case.shapes, case.attributes)
    files = emit(program, "npukb-kernel", baked=baked)
    host = emit(program, "npukb")[f"op_host/{name}.cpp"]
    start, end = host.index("namespace optiling {"), host.index("namespace ge {")
    suite = (
        "namespace optiling {\nstatic ge::graphStatus TilingFunc(gert::TilingContext* context)\n"
        "{\n    context->SetBlockDim(platform_ascendc::PlatformAscendCManager::GetInstance()"
        "->GetCoreNumAiv());\n    return ge::GRAPH_SUCCESS;\n}\n}\n"
    )
    host = host[:start] + suite + host[end:]
    host = host.replace(f'#include "{name}_tiling.h"\n', "")
    answer = files.pop("answer.txt")
    assert answer.startswith("<kernel_impl>\n```cpp\n")
    assert files[f"op_kernel/{name}.cpp"] in answer
    source = recognise(write({**files, f"op_host/{name}.cpp": host}, tmp_path))
    assert isinstance(source, OperatorSource)
    check(source.launch(dict(case.inputs), case.attributes, mode="check"), name, case)


def test_full_answer_has_the_three_files() -> None:
    files = emit(lowered("softmax"), "npukb")
    answer = files.pop("answer.txt")
    assert list(files) == [
        "op_host/softmax_tiling.h",
        "op_host/softmax.cpp",
        "op_kernel/softmax.cpp",
    ]
    for path, text in files.items():
        assert f"================== {path} ==================\n```cpp\n{text}```" in answer
    assert 'AddConfig("ascend910_93")' in files["op_host/softmax.cpp"]


def test_project_has_what_the_tool_lays_out() -> None:
    files = emit(lowered("blend"), "msopgen")
    assert set(files) == {
        "CMakeLists.txt",
        "CMakePresets.json",
        "build.sh",
        "blend.json",
        "op_host/CMakeLists.txt",
        "op_host/blend.cpp",
        "op_host/blend_tiling.h",
        "op_kernel/CMakeLists.txt",
        "op_kernel/blend.cpp",
    }
    cache = json.loads(files["CMakePresets.json"])["configurePresets"][0]["cacheVariables"]
    assert cache["ASCEND_COMPUTE_UNIT"]["value"] == "ascend910b"
    assert cache["vendor_name"]["value"] == "customize"
    described = json.loads(files["blend.json"])[0]
    assert described["op"] == "Blend"
    assert [entry["name"] for entry in described["input_desc"]] == ["x", "acc"]
    assert [entry["name"] for entry in described["attr"]] == ["offset", "alpha", "negate"]
    assert "OP_TYPE Blend" in files["op_kernel/CMakeLists.txt"]
    for text in files.values():
        assert "@" not in text
        assert all(len(line) <= 120 for line in text.splitlines())
