# SPDX-License-Identifier: Apache-2.0
"""The host function in plain C++, for the formats that launch kernels themselves."""

from __future__ import annotations

from npuforge.lower.cpp import TYPES, float_literal, scalar_functions
from npuforge.lower.formats.baked import Baked
from npuforge.lower.formats.shapes import rank_conditions, shape_printer
from npuforge.lower.host_code import HostCode, Surroundings, tiling_lines
from npuforge.lower.names import camel
from npuforge.tile.ir import Attribute, SameShape, Tensor

_INDENT = "    "


def namespace(code: HostCode) -> str:
    """Host functions have a namespace: the device has some of the same names."""
    return f"{code.program.name}_host"


def attribute_type(attribute: Attribute) -> str:
    """The C++ type of an attribute."""
    return TYPES[attribute.type]


def literal(attribute: Attribute) -> str:
    """The default of an attribute."""
    value = attribute.default
    assert value is not None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else float_literal(value)


def signature(code: HostCode) -> str:
    """The head of the function that plans a launch."""
    listed = [f"const Extents& {camel(tensor.name)}Shape" for tensor in code.host.inputs]
    listed += [f"{attribute_type(item)} {camel(item.name)}" for item in code.host.attributes]
    return f"const char* MakePlan({', '.join([*listed, 'Plan& plan'])})"


def call(code: HostCode) -> str:
    """A call of it with variables named like its parameters."""
    listed = [f"{camel(tensor.name)}Shape" for tensor in code.host.inputs]
    listed += [camel(item.name) for item in code.host.attributes]
    return f"{namespace(code)}::MakePlan({', '.join([*listed, 'plan'])})"


def declarations(code: HostCode, baked: Baked | None = None) -> list[str]:
    """The types of a plan."""
    members = [] if baked else [f"{code.tiling_struct} tiling{{}};"]
    members += ["int64_t blocks = 1;", "int64_t workspaceBytes = 0;"]
    members += [
        f"Extents {camel(tensor.name)}Shape;"
        for tensor in code.host.outputs
        if tensor.role == "out"
    ]
    return [
        "using Extents = std::vector<int64_t>;",
        "",
        "// What the host decides for one call.",
        "struct Plan {",
        *(_INDENT + member for member in members),
        "};",
    ]


def plan_function(code: HostCode, baked: Baked | None = None) -> list[str]:
    """`MakePlan`, and the functions it needs."""
    used: set[str] = set()
    body = _checks(code, baked) + _output_shapes(code, used)
    if baked:
        body += [
            f"plan.blocks = {baked.tiling.blocks};",
            f"plan.workspaceBytes = {baked.tiling.workspace_bytes};",
        ]
    else:
        body += _computed(code, used)
    body.append("return nullptr;")
    lines = scalar_functions(used, "host")
    if any(_COUNT in line for line in body):
        lines += [*_COUNT_FUNCTION, ""]
    return [
        *lines,
        "// Plans a launch; returns what is wrong with the call, or nullptr.",
        signature(code),
        "{",
        *(_INDENT + line for line in body),
        "}",
    ]


_COUNT = "ElementCount"
_COUNT_FUNCTION = [
    "inline int64_t ElementCount(const Extents& shape)",
    "{",
    "    int64_t count = 1;",
    "    for (const int64_t extent : shape) {",
    "        count *= extent;",
    "    }",
    "    return count;",
    "}",
]


def _shape_text(tensor: str, axis: int | None) -> str:
    name = f"{camel(tensor)}Shape"
    if axis is None:
        return f"{_COUNT}({name})"
    return f"{name}[{name}.size() - {-axis}]" if axis < 0 else f"{name}[{axis}]"


def _checks(code: HostCode, baked: Baked | None) -> list[str]:
    conditions = list(rank_conditions(code.host, lambda tensor: f"{camel(tensor)}Shape.size()"))
    if baked:
        tests = [
            f"{camel(name)}Shape != Extents{{{', '.join(map(str, shape))}}}"
            for name, shape in baked.shapes.items()
        ]
        tests += [f"{camel(name)} != {value}" for name, value in baked.attribute_literals().items()]
        conditions = [(" || ".join(tests), f"the kernel is built for {baked.case}")]
    lines: list[str] = []
    for condition, problem in conditions:
        lines += [f"if ({condition}) {{", f"{_INDENT}{_refusal(problem)}", "}"]
    return lines


def _refusal(problem: str) -> str:
    quoted = problem.replace("\\", "\\\\").replace('"', '\\"')
    return f'return "{quoted}";'


def _output_shapes(code: HostCode, used: set[str]) -> list[str]:
    printer = shape_printer(code, _shape_text, camel, used)

    def text(tensor: Tensor) -> str:
        if isinstance(tensor.shape, SameShape):
            return f"{camel(tensor.shape.tensor)}Shape"
        assert tensor.shape is not None
        return f"Extents{{{', '.join(printer(extent) for extent in tensor.shape)}}}"

    return [
        f"plan.{camel(tensor.name)}Shape = {text(tensor)};"
        for tensor in code.host.outputs
        if tensor.role == "out"
    ]


def _computed(code: HostCode, used: set[str]) -> list[str]:
    around = Surroundings(
        shape=_shape_text,
        attribute=camel,
        refuse=_refusal,
        assign=lambda field, value: f"plan.tiling.{field.name} = {value};",
        cores="coreCount",
        ub_bytes="ubBytes",
        reserved=(
            *(f"{camel(tensor.name)}Shape" for tensor in code.host.inputs),
            *("plan", "coreCount", "ubBytes", "ubBytesTotal"),
        ),
    )
    computed = tiling_lines(code, around, used)
    lines: list[str] = []
    if any("coreCount" in line or "ubBytes" in line for line in computed):
        manager = "platform_ascendc::PlatformAscendCManager::GetInstance()"
        lines.append(f"const auto* platform = {manager};")
    if any("coreCount" in line for line in computed):
        lines.append("const int64_t coreCount = platform->GetCoreNumAiv();")
    if any("ubBytes" in line for line in computed):
        lines += [
            "uint64_t ubBytesTotal = 0;",
            "platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytesTotal);",
            "const int64_t ubBytes = static_cast<int64_t>(ubBytesTotal) - 8 * 1024;",
        ]
    lines += [*computed, "plan.blocks = blocks;"]
    if len(code.schedules) > 1:
        lines.append("plan.tiling.key = static_cast<int64_t>(key);")
    if code.host.workspaces:
        lines.append("plan.workspaceBytes = workspaceBytes;")
    return lines
