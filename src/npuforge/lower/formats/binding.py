# SPDX-License-Identifier: Apache-2.0
"""C++ that makes an operator callable from Python: its launcher, and its binding to PyTorch.

The binding's function takes the inputs, then the attributes, and returns the outputs; tensors
written in place are returned too.
"""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.dtypes import DType
from npuforge.lower.cpp import scalar_functions
from npuforge.lower.formats import direct, plain_host
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.shapes import shape_printer
from npuforge.lower.host_code import HostCode
from npuforge.lower.names import camel, pascal
from npuforge.lower.wrap import format_cpp
from npuforge.tile.expr import Type
from npuforge.tile.ir import Attribute, SameShape, Tensor

_INDENT = "    "
_AT_TYPES = {
    "float32": "kFloat",
    "float16": "kHalf",
    "bfloat16": "kBFloat16",
    "int8": "kChar",
    "uint8": "kByte",
    "int16": "kShort",
    "int32": "kInt",
    "int64": "kLong",
    "bool": "kBool",
    "uint16": "kUInt16",
    "uint32": "kUInt32",
    "uint64": "kUInt64",
}
_PYTHON_TYPES = {Type.FLOAT: "double", Type.INT: "int64_t", Type.BOOL: "bool"}


def _at_type(dtype: DType) -> str:
    return f"at::{_AT_TYPES[dtype.name]}"


# ---- direct launch: header, kernel with launcher, binding -------------------------------------
def launch_header(code: HostCode, baked: Baked | None = None) -> str:
    """What the kernel's source offers to the binding."""
    guard = f"{code.program.name.upper()}_LAUNCH_H"
    struct = [] if baked else direct.tiling_struct(code)
    lines = [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <cstdint>",
        "#include <vector>",
        "",
        *struct,
        f"namespace {plain_host.namespace(code)} {{",
        *plain_host.declarations(code, baked),
        "",
        "// Plans a launch; returns what is wrong with the call, or nullptr.",
        f"{plain_host.signature(code)};",
        "",
        "// Launches the kernel as planned; the addresses are on the device.",
        f"{_launch_signature(code)};",
        f"}}  // namespace {plain_host.namespace(code)}",
        "",
        f"#endif  // {guard}",
    ]
    return format_cpp(lines)


def _launch_signature(code: HostCode) -> str:
    listed = [f"uint8_t* {camel(tensor.name)}" for tensor in code.host.tensors]
    listed = ["const Plan& plan", *listed, "uint8_t* workspace", "void* stream"]
    return f"void Launch({', '.join(listed)})"


def kernel_with_launcher(code: HostCode, baked: Baked | None = None) -> str:
    """The source compiled for the device: kernel, host function and launch."""
    names = [*(camel(tensor.name) for tensor in code.host.tensors), "workspace"]
    if not baked:
        names.append("plan.tiling")
    lines = [
        '#include "kernel_operator.h"',
        '#include "tiling/platform/platform_ascendc.h"',
        "",
        f'#include "{code.program.name}_launch.h"',
        "",
        "using namespace AscendC;",
        "",
        *direct.device_lines(code, baked, with_struct=False),
        "",
        f"namespace {plain_host.namespace(code)} {{",
        *plain_host.plan_function(code, baked),
        "",
        _launch_signature(code),
        "{",
        f"    {direct.entry_name(code)}<<<plan.blocks, nullptr, stream>>>({', '.join(names)});",
        "}",
        f"}}  // namespace {plain_host.namespace(code)}",
    ]
    return format_cpp(lines)


def launch_binding(code: HostCode, module: str) -> str:
    """The Python module that plans and launches on the current stream."""
    host = code.host
    space = plain_host.namespace(code)
    room, held = _options(code, "at::kByte"), bool(code.host.workspaces)
    body = [
        *_type_checks(code),
        *(
            f"const at::Tensor {camel(tensor.name)}Dense = {camel(tensor.name)}.contiguous();"
            for tensor in host.tensors
            if tensor.role == "in"
        ),
        *(_in_place_check(code, tensor) for tensor in host.tensors if tensor.role == "inout"),
    ]
    if host.inputs:
        body.append(f"const c10::OptionalDeviceGuard guard({camel(host.inputs[0].name)}.device());")
    shapes = [f"{camel(tensor.name)}.sizes().vec()" for tensor in host.inputs]
    attributes = [_as_planned(attribute) for attribute in host.attributes]
    body += [
        f"{space}::Plan plan;",
        f"const char* problem = {space}::MakePlan({', '.join([*shapes, *attributes, 'plan'])});",
        f'TORCH_CHECK(problem == nullptr, "{code.program.name}: ", problem);',
        *(
            f"at::Tensor {camel(tensor.name)} = "
            f"at::empty(plan.{camel(tensor.name)}Shape, {_options(code, _at_type(tensor.dtype))});"
            for tensor in _made(code)
        ),
        *([f"at::Tensor workspace = at::empty({{plan.workspaceBytes}}, {room});"] if held else []),
        "// Waits until the operators queued before are on the stream, so that the order is kept.",
        "void* stream = c10_npu::getCurrentNPUStream().stream();",
        f"{space}::Launch({', '.join(_addresses(code))});",
        _return(code),
    ]
    lines = [
        "#include <torch/extension.h>",
        '#include "torch_npu/csrc/core/npu/NPUStream.h"',
        "",
        f'#include "{code.program.name}_launch.h"',
        "",
        "namespace {",
        "uint8_t* Address(const at::Tensor& tensor)",
        "{",
        f"{_INDENT}return reinterpret_cast<uint8_t*>(tensor.data_ptr());",
        "}",
        "",
        *_function(code, body),
        "}  // namespace",
        "",
        *_module(code, module),
    ]
    return format_cpp(lines)


def _addresses(code: HostCode) -> Iterator[str]:
    yield "plan"
    for tensor in code.host.tensors:
        dense = "Dense" if tensor.role == "in" else ""
        yield f"Address({camel(tensor.name)}{dense})"
    yield "Address(workspace)" if code.host.workspaces else "nullptr"
    yield "stream"


def _as_planned(attribute: Attribute) -> str:
    name = camel(attribute.name)
    return f"static_cast<float>({name})" if attribute.type is Type.FLOAT else name


def _in_place_check(code: HostCode, tensor: Tensor) -> str:
    name = camel(tensor.name)
    message = f"{code.program.name}: {tensor.name} must be contiguous"
    return f'TORCH_CHECK({name}.is_contiguous(), "{message}");'


# ---- through the operator's aclnn interface ---------------------------------------------------
def aclnn_binding(code: HostCode, module: str) -> str:
    """The Python module that calls the operator of an installed package."""
    used: set[str] = set()
    body = _type_checks(code)
    printer = shape_printer(code, _torch_shape, camel, used)
    for tensor in _made(code):
        if isinstance(tensor.shape, SameShape):
            shape = f"{camel(tensor.shape.tensor)}.sizes()"
        else:
            assert tensor.shape is not None
            shape = f"{{{', '.join(printer(extent) for extent in tensor.shape)}}}"
        options = _options(code, _at_type(tensor.dtype))
        body.append(f"at::Tensor {camel(tensor.name)} = at::empty({shape}, {options});")
    arguments = [camel(tensor.name) for tensor in code.host.inputs]
    arguments += [camel(attribute.name) for attribute in code.host.attributes]
    arguments += [camel(tensor.name) for tensor in _made(code)]
    body += [
        f"EXEC_NPU_CMD({', '.join([f'aclnn{pascal(code.program.name)}', *arguments])});",
        _return(code),
    ]
    functions = scalar_functions(used, "host")
    lines = [
        "#include <torch/extension.h>",
        '#include "pytorch_npu_helper.hpp"',
        "",
        "namespace {",
        *functions,
        *_function(code, body),
        "}  // namespace",
        "",
        *_module(code, module),
    ]
    return format_cpp(lines)


def _torch_shape(tensor: str, axis: int | None) -> str:
    return f"{camel(tensor)}.numel()" if axis is None else f"{camel(tensor)}.size({axis})"


# ---- both -------------------------------------------------------------------------------------
def _made(code: HostCode) -> list[Tensor]:
    return [tensor for tensor in code.host.outputs if tensor.role == "out"]


def _options(code: HostCode, dtype: str) -> str:
    if code.host.inputs:
        return f"{camel(code.host.inputs[0].name)}.options().dtype({dtype})"
    return f"at::TensorOptions().device(c10::DeviceType::PrivateUse1).dtype({dtype})"


def _type_checks(code: HostCode) -> list[str]:
    return [
        f"TORCH_CHECK({camel(tensor.name)}.scalar_type() == {_at_type(tensor.dtype)}, "
        f'"{code.program.name}: {tensor.name} must be {tensor.dtype.name}");'
        for tensor in code.host.inputs
    ]


def _function(code: HostCode, body: list[str]) -> list[str]:
    listed = [f"const at::Tensor& {camel(tensor.name)}" for tensor in code.host.inputs]
    listed += [f"{_PYTHON_TYPES[a.type]} {camel(a.name)}" for a in code.host.attributes]
    head = f"{_result_type(code)} {pascal(code.program.name)}({', '.join(listed)})"
    return [head, "{", *(_INDENT + line for line in body), "}"]


def _result_type(code: HostCode) -> str:
    count = len(code.host.outputs)
    return "at::Tensor" if count == 1 else f"std::tuple<{', '.join(['at::Tensor'] * count)}>"


def _return(code: HostCode) -> str:
    names = [camel(tensor.name) for tensor in code.host.outputs]
    return f"return {names[0]};" if len(names) == 1 else f"return {{{', '.join(names)}}};"


def _module(code: HostCode, module: str) -> list[str]:
    name = code.program.name
    results = ", ".join(tensor.name for tensor in code.host.outputs)
    return [
        f"PYBIND11_MODULE({module}, m)",
        "{",
        f'{_INDENT}m.def("{name}", &{pascal(name)}, "Returns {results}.");',
        "}",
    ]
