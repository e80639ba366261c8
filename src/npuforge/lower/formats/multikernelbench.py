# SPDX-License-Identifier: Apache-2.0
"""MultiKernelBench's two AscendC answers: six strings in a Python file, or sources in JSON."""

from __future__ import annotations

import json

from npuforge.lower.compiler import Lowered, renamed
from npuforge.lower.formats import binding, msopgen
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.model import ModelShape, model_source

_SUFFIX = "_custom"
_BINDING_MODULE = "custom_ops_lib"
_NO_TILING = "// Tiling is part of the kernel: it is built for one set of shapes.\n"


def six_strings(
    lowered: Lowered, baked: Baked | None = None, model: ModelShape | None = None
) -> dict[str, str]:
    """`<task>.py`; the operator is called `<task>_custom`, as the suite wants it."""
    task = lowered.program.name.removesuffix(_SUFFIX)
    lowered = renamed(lowered, task + _SUFFIX)
    baked = baked and baked.renamed(task + _SUFFIX)
    name = lowered.program.name
    host = lowered.program.host
    texts = msopgen.sources(lowered, baked)
    strings = {
        "project_json_src": msopgen.description(lowered),
        "host_tiling_src": texts.get(f"op_host/{name}_tiling.h", _NO_TILING),
        "host_operator_src": texts[f"op_host/{name}.cpp"],
        "kernel_src": texts[f"op_kernel/{name}.cpp"],
        "python_bind_src": binding.aclnn_binding(lowered.host, "TORCH_EXTENSION_NAME"),
        "model_src": model_source(host, model or ModelShape.of(host), _BINDING_MODULE, name),
    }
    return {f"{task}.py": "\n".join(f"{key} = {_quoted(text)}" for key, text in strings.items())}


def _quoted(text: str) -> str:
    """A string literal over several lines that reads back as it was written."""
    body = text.replace("\\", "\\\\").replace("'''", "\\'\\'\\'")
    return f"'''\n{body}'''\n"


def direct_answer(
    lowered: Lowered, baked: Baked | None = None, model: ModelShape | None = None
) -> dict[str, str]:
    """`<task>.json`: every source of a project that launches its kernel itself."""
    name = lowered.program.name
    module = f"{name}_ops"
    host = lowered.program.host
    # The suite builds the module beside the sources and does not install it.
    preamble = (
        "import sys",
        "from pathlib import Path",
        "",
        'sys.path.insert(0, str(Path(__file__).resolve().parent / "kernel" / "build"))',
        "",
    )
    source = model_source(host, model or ModelShape.of(host), module, name, preamble=preamble)
    sources = {
        "ModelNew.py": source,
        f"kernel/{name}_launch.h": binding.launch_header(lowered.host, baked),
        f"kernel/{name}_kernel.cpp": binding.kernel_with_launcher(lowered.host, baked),
        "kernel/pybind11.cpp": binding.launch_binding(lowered.host, module),
    }
    document = {
        "name": name,
        "author": "npuforge",
        "problem": name,
        "format_version": "0.1",
        "description": f"{name}, compiled from a tile program.",
        "entry": {"model": "ModelNew.py::ModelNew"},
        "build": {"type": "ascendc_direct_launch", "module_name": module},
        "sources": [{"path": path, "content": text} for path, text in sources.items()],
    }
    return {f"{name}.json": json.dumps(document, indent=2) + "\n"}
