# SPDX-License-Identifier: Apache-2.0
"""Finding the sources of operator projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.twin.host import OpDescription, OperatorProject

KERNEL = 'extern "C" __global__ void scale_rows() {}\n'


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_generated_project(tmp_path: Path) -> None:
    host = write(tmp_path / "op_host" / "scale.cpp", "int a;\n")
    kernel = write(tmp_path / "op_kernel" / "scale.cpp", KERNEL)
    write(tmp_path / "op_kernel" / "helper.cpp", "int not_an_entry;\n")
    for start in (tmp_path, tmp_path / "op_host", kernel):
        project = OperatorProject.open(start)
        assert project.host_sources == (host,)
        assert project.kernel_sources == (kernel,)


def test_copies_in_hidden_folders_are_left_out(tmp_path: Path) -> None:
    host = write(tmp_path / "op_host" / "scale.cpp", "int a;\n")
    kernel = write(tmp_path / "op_kernel" / "scale.cpp", KERNEL)
    for place in ("op_host", "op_kernel"):
        write(tmp_path / place / ".ipynb_checkpoints" / "scale-checkpoint.cpp", KERNEL)
    project = OperatorProject.open(tmp_path)
    assert project.host_sources == (host,)
    assert project.kernel_sources == (kernel,)


def test_call_layer_is_left_out(tmp_path: Path) -> None:
    host = write(tmp_path / "op_host" / "scale_tiling.cpp", '#include "aclnn/opdev/op_log.h"\n')
    write(tmp_path / "op_host" / "scale_l0.cpp", '#include "opdev/op_executor.h"\n')
    write(tmp_path / "op_host" / "aclnn_scale.cpp")
    write(tmp_path / "op_host" / "op_api" / "other.cpp")
    write(tmp_path / "op_kernel" / "scale.cpp", KERNEL)
    assert OperatorProject.open(tmp_path).host_sources == (host,)


def test_answer_takes_what_it_lacks_from_the_question(tmp_path: Path) -> None:
    kernel = write(tmp_path / "answer" / "0" / "op_kernel" / "scale.cpp", KERNEL)
    host = write(tmp_path / "question" / "op_host" / "scale.cpp", "int a;\n")
    write(tmp_path / "question" / "op_kernel" / "scale.cpp", KERNEL)
    for start in (tmp_path, tmp_path / "answer" / "0"):
        project = OperatorProject.open(start)
        assert project.kernel_sources == (kernel,)
        assert project.host_sources == (host,)


def test_kernel_is_chosen_by_configured_file_name(
    tmp_path: Path, scale_description: OpDescription
) -> None:
    write(tmp_path / "op_host" / "scale.cpp", "int a;\n")
    write(tmp_path / "op_kernel" / "other.cpp", KERNEL)
    named = write(tmp_path / "op_kernel" / "scale_kernel.cpp", KERNEL)
    project = OperatorProject.open(tmp_path)
    operator = scale_description.operator()
    assert project.kernel_source(operator) == named
    assert project.kernel_entry(operator) == "scale_rows"
    named.unlink()
    write(tmp_path / "op_kernel" / "third.cpp", KERNEL)
    with pytest.raises(UsageError, match="no kernel scale_rows"):
        OperatorProject.open(tmp_path).kernel_source(operator)


def test_build_of_a_project(tmp_path: Path) -> None:
    write(tmp_path / "op_host" / "shared.h", "inline int answer() { return 42; }\n")
    write(tmp_path / "op_host" / "one.cpp", '#include "shared.h"\nint one = answer();\n')
    write(tmp_path / "op_host" / "two.cpp", "this is no C++\n")
    write(tmp_path / "op_kernel" / "scale.cpp", KERNEL)
    project = OperatorProject.open(tmp_path)
    broken = project.build_host()
    assert not broken.ok
    assert broken.diagnostics[0].file is not None
    assert broken.diagnostics[0].file.endswith("two.cpp")
    (tmp_path / "op_host" / "two.cpp").unlink()
    assert OperatorProject.open(tmp_path).build_host().ok


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no op_host"):
        OperatorProject.open(tmp_path)
    with pytest.raises(UsageError, match="no such operator project"):
        OperatorProject.open(tmp_path / "missing")
