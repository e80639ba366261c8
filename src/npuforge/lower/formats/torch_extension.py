# SPDX-License-Identifier: Apache-2.0
"""A PyTorch extension: kernel, binding, build files, and a module that calls the operator."""

from __future__ import annotations

from npuforge.lower.compiler import Lowered
from npuforge.lower.formats import binding
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.model import ModelShape, model_source
from npuforge.lower.formats.templates import fill


def files(
    lowered: Lowered, baked: Baked | None = None, model: ModelShape | None = None
) -> dict[str, str]:
    """Path and text of every file of the extension."""
    name = lowered.program.name
    module = f"{name}_ops"
    shape = model or ModelShape.of(lowered.program.host)
    return {
        f"csrc/{name}_launch.h": binding.launch_header(lowered.host, baked),
        f"csrc/{name}_kernel.asc": binding.kernel_with_launcher(lowered.host, baked),
        f"csrc/{name}_binding.cpp": binding.launch_binding(lowered.host, module),
        "CMakeLists.txt": fill("torch_CMakeLists.txt", NAME=name, MODULE=module),
        "setup.py": fill("torch_setup.txt", MODULE=module),
        "model.py": model_source(lowered.program.host, shape, module, name),
    }
