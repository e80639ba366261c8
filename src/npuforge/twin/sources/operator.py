# SPDX-License-Identifier: Apache-2.0
"""An operator project: host code decides blocks, tiling and workspace; one build per dtype variant.

operator = OperatorSource.open(Path("add_custom"))
result = operator.launch({"x": x, "y": y}, attrs={"alpha": 2.0})
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from npuforge import dtypes
from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.sandbox import Limits, Sandbox
from npuforge.soc import Soc
from npuforge.twin.execute import Mode, RunResult, execute
from npuforge.twin.host import (
    OpDescription,
    Operator,
    OperatorProject,
    OutputTensor,
    Parameter,
    TensorSpec,
    TilingRequest,
    TilingResult,
    compute_tiling,
    describe,
    kernel_prelude,
)
from npuforge.twin.kernel import Kernel, KernelBuild, find_entries
from npuforge.twin.launch import (
    MAX_BLOCKS,
    AbsentArgument,
    AliasArgument,
    Argument,
    Launch,
    ListArgument,
    Role,
    ShapeArgument,
    TensorArgument,
    TilingArgument,
    WorkspaceArgument,
)
from npuforge.twin.launch_file import Case
from npuforge.twin.sources.subject import Prepared
from npuforge.twin.toolchain import BuildResult, Toolchain
from npuforge.verdict import Diagnostic

# What the framework itself needs at the start of a kernel's workspace.
SYSTEM_WORKSPACE = 16 << 20
_MOST_BYTES = 8 << 30  # of all outputs of a call
_MOST_WORKSPACE = 64 << 30
_UNKNOWN_TYPE = "DT_UNDEFINED"  # what inference leaves for an output it says nothing about
_HOST_NAMES = {"float32": "DT_FLOAT", "bfloat16": "DT_BF16", "float64": "DT_DOUBLE"}

Value = HostTensor | list[HostTensor] | None
_Variant = tuple[tuple[tuple[str, str], ...], int | None]
# An output's shape and dtype, or those of the members of a dynamic output.
Wanted = tuple[Sequence[int], str] | list[tuple[Sequence[int], str]]


def wanted_outputs(
    operator: Operator, kinds: Sequence[tuple[Sequence[int], str]]
) -> dict[str, Wanted]:
    """Shapes and types of results in order, by the outputs they are of; a dynamic one takes all."""
    left = list(kinds)
    found: dict[str, Wanted] = {}
    for parameter in operator.outputs:
        if parameter.dynamic:
            found[parameter.name], left = left, []
        elif left:
            found[parameter.name] = left.pop(0)
    return found


@dataclass(slots=True)
class OperatorSource:
    """One operator of a project, its host library, and its kernel builds by element types."""

    project: OperatorProject
    wanted: str | None = None
    soc: str | Soc = "910b2"
    toolchain: Toolchain | None = None
    sandbox: Sandbox | None = None
    host: BuildResult | None = None
    _description: OpDescription | None = None
    _builds: dict[_Variant, KernelBuild] = field(default_factory=dict)

    @staticmethod
    def open(
        path: Path,
        *,
        operator: str | None = None,
        soc: str | Soc = "910b2",
        include_dirs: Sequence[Path] = (),
    ) -> OperatorSource:
        """The operator in the project at `path`; `operator` chooses one of several.

        `include_dirs` are folders outside that its sources may include from.
        """
        return OperatorSource(OperatorProject.open(path, include_dirs), operator, soc)

    @property
    def name(self) -> str:
        return self.wanted or self.project.root.name

    @property
    def root(self) -> Path:
        return self.project.root

    def build_host(self) -> BuildResult:
        """The host library, built once."""
        if self.host is None:
            self.host = self.project.build_host(toolchain=self.toolchain, sandbox=self.sandbox)
        return self.host

    def description(self) -> OpDescription:
        """What the host library registers."""
        if self._description is None:
            library = self.build_host().path
            if library is None:
                raise UsageError(f"the host code of {self.name} does not compile")
            self._description = describe(library, sandbox=self.sandbox)
        return self._description

    def kernel_diagnostics(self) -> list[Diagnostic]:
        """What the compiler said about the variants that did not build."""
        failed = [build for build in self._builds.values() if not build.ok]
        return [diagnostic for build in failed for diagnostic in build.diagnostics]

    @property
    def operator(self) -> Operator:
        return self.description().operator(self.wanted)

    def launch(
        self,
        inputs: Mapping[str, Any] | Sequence[Any],
        attrs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Wanted] | None = None,
        *,
        initial: Mapping[str, HostTensor] | None = None,
        mode: Mode = "run",
        limits: Limits | None = None,
        auto_sync: bool = True,
        trace: Path | None = None,
    ) -> RunResult:
        """Run the operator on arrays or torch tensors (None: absent, a list: a dynamic input).

        `outputs` gives (shape, dtype) by name instead of the operator's own inference, `initial`
        what output tensors hold before the launch.
        """
        if not self.build_host().ok:
            return RunResult(error=_refusal("the host code", self.build_host().diagnostics))
        ready = self._prepare(self._bind(inputs), attrs or {}, outputs or {}, initial or {})
        if ready.build is None or ready.launch is None:
            return RunResult(error=ready.error or _refusal("the kernel", ready.diagnostics))
        return execute(
            ready.build,
            ready.launch,
            mode=mode,
            soc=self.soc,
            limits=limits,
            auto_sync=auto_sync,
            trace=trace,
            sandbox=self.sandbox,
        )

    def prepare(self, case: Case) -> Prepared:
        if case.launch is not None:
            raise UsageError(
                f"{self.name} is an operator project: its launch file gives 'input' and 'attrs', "
                "not a kernel's arguments"
            )
        host = self.build_host()
        if not host.ok:
            return Prepared(diagnostics=host.diagnostics)
        values: list[Value] = [_case_value(given) for given in case.inputs]
        names = [given.name for given in case.inputs]
        known = {parameter.name for parameter in self.operator.inputs}
        named = set(names) <= known
        bound = self._bind(dict(zip(names, values, strict=True)) if named else values)
        outputs = {t.name: (t.shape, t.dtype.name) for t in case.outputs or ()}
        return self._prepare(bound, case.attrs, outputs, {})

    def _bind(self, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, Value]:
        """Inputs by the operator's own names, all of them."""
        parameters = self.operator.inputs
        known = [parameter.name for parameter in parameters]
        if isinstance(inputs, Mapping):
            if unknown := [name for name in inputs if name not in known]:
                raise UsageError(
                    f"{self.name} has no input {unknown[0]!r}; inputs: {', '.join(known)}"
                )
            given = dict(inputs)
        else:
            if len(inputs) > len(known):
                raise UsageError(f"{self.name} takes {len(known)} inputs, {len(inputs)} are given")
            given = dict(zip(known, inputs, strict=False))
        return {p.name: self._value(p, given.get(p.name)) for p in parameters}

    def _value(self, parameter: Parameter, given: Any) -> Value:
        if given is None:
            if not parameter.optional:
                raise UsageError(f"{self.name}: input {parameter.name!r} is required")
            return None
        if isinstance(given, list | tuple):
            if not parameter.dynamic:
                raise UsageError(f"{self.name}: input {parameter.name!r} is not a list")
            return [HostTensor.of(member) for member in given]
        one = HostTensor.of(given)
        return [one] if parameter.dynamic else one

    def _prepare(
        self,
        inputs: dict[str, Value],
        attrs: Mapping[str, Any],
        outputs: Mapping[str, Wanted],
        initial: Mapping[str, HostTensor],
    ) -> Prepared:
        operator = self.operator
        known = {name: _host_type(value) for name, value in inputs.items() if value}
        types = operator.combination(known, _asked_types(outputs))
        # The tiling key chooses the instance of a kernel that is a template; any other kernel is
        # built first, so that what does not compile is known whatever tiling says.
        template = bool(self.description().templates.get(operator.type))
        build = None if template else self._kernel(operator, types)
        if build is not None and not build.ok:
            return Prepared(build=build, diagnostics=build.diagnostics)
        tiling = self._tiling(operator, inputs, attrs, outputs)
        problem = _impossible(tiling) if tiling.ok else tiling.message
        if problem is not None:
            return Prepared(build=build, error=f"tiling: {problem}")
        if build is None:
            build = self._kernel(operator, types, tiling.tiling_key)
            if not build.ok:
                return Prepared(build=build, diagnostics=build.diagnostics)
        made = {
            name: [_with_content(tensor, initial.get(tensor.name)) for tensor in tensors]
            for name, tensors in _outputs(operator, tiling, types, outputs).items()
        }
        if sum(tensor.nbytes for tensors in made.values() for tensor in tensors) > _MOST_BYTES:
            return Prepared(build=build, error="the outputs are too large for the device's memory")
        launch = Launch(
            tiling.block_dim, _arguments(operator, inputs, made, tiling, build), tiling.tiling_key
        )
        given = [(tensor.name, tensor.data) for tensor in launch.inputs if tensor.data is not None]
        return Prepared(build=build, launch=launch, inputs=given, attrs=attrs)

    def _tiling(
        self,
        operator: Operator,
        inputs: Mapping[str, Value],
        attrs: Mapping[str, Any],
        outputs: Mapping[str, Wanted],
    ) -> TilingResult:
        library = self.build_host().path
        assert library is not None
        request = TilingRequest(
            op=operator.type,
            inputs={
                parameter.name: _specs(inputs[parameter.name], with_data=parameter.value_depend)
                for parameter in operator.inputs
            },
            # What is written in place has the shape it had as an input.
            outputs={
                parameter.name: _specs(inputs[parameter.name], with_data=False)
                for parameter in operator.outputs
                if parameter.name in inputs
            }
            | {name: _output_specs(wanted) for name, wanted in outputs.items()},
            attrs=attrs,
        )
        return compute_tiling(library, operator, request, soc=self.soc, sandbox=self.sandbox)

    def build_kernel(self, kinds: Mapping[str, dtypes.DType]) -> KernelBuild:
        """The kernel for tensors of these element types by name, whatever tiling says."""
        named = {name: host_name(kind) for name, kind in kinds.items()}
        operator = self.operator
        inputs = {p.name: named[p.name] for p in operator.inputs if p.name in named}
        outputs = {p.name: named[p.name] for p in operator.outputs if p.name in named}
        return self._kernel(operator, operator.combination(inputs, outputs))

    def _kernel(
        self, operator: Operator, types: Mapping[str, str], template_key: int | None = None
    ) -> KernelBuild:
        """The build for these element types, and for what the key of a template stands for."""
        key = (tuple(sorted(types.items())), template_key)
        if key not in self._builds:
            source = self.project.kernel_source(operator)
            entry = self.project.kernel_entry(operator)
            files = self.project.files
            names = [entry.name for entry in find_entries(source, self.project.include_dirs, files)]
            if entry not in names and len(names) == 1:
                entry = names[0]
            if template_key is not None:
                values = self.description().template_arguments(operator, template_key).values()
                entry = f"{entry}<{', '.join(str(value) for value in values)}>"
            self._builds[key] = Kernel.build(
                source,
                entry=entry,
                prelude=kernel_prelude(self.description(), operator.type, types),
                include_dirs=self.project.include_dirs,
                root=self.project.root,
                files=files,
                toolchain=self.toolchain,
                sandbox=self.sandbox,
            )
        return self._builds[key]


def _impossible(tiling: TilingResult) -> str | None:
    """Return what no launch can have; None for a result that can be used."""
    if not 1 <= tiling.block_dim <= MAX_BLOCKS:
        return f"{tiling.block_dim} blocks are not possible: a launch has 1 to {MAX_BLOCKS}"
    asked = sum(tiling.workspace_sizes)
    if min(tiling.workspace_sizes, default=0) < 0 or asked > _MOST_WORKSPACE:
        return f"a workspace of {asked} bytes is not possible: at most {_MOST_WORKSPACE >> 30} GiB"
    for output in tiling.outputs:
        for shape in (output.shape, output.inferred_shape or ()):
            if min(shape, default=0) >= 0 and math.prod(shape) > _MOST_BYTES:
                return f"the output {output.name} is too large: shape {list(shape)}"
    return None


def _refusal(what: str, diagnostics: Sequence[Diagnostic]) -> str:
    if not diagnostics:
        return f"{what} does not compile"
    first = diagnostics[0]
    return f"{what} does not compile: {first.file}:{first.line}: {first.message}"


def _case_value(given: TensorArgument | ListArgument | AbsentArgument) -> Value:
    if isinstance(given, AbsentArgument):
        return None
    if isinstance(given, ListArgument):
        return [member.data for member in given.tensors if member.data is not None]
    return given.data


def host_name(dtype: dtypes.DType) -> str:
    """The host side's name of an element type."""
    return _HOST_NAMES.get(dtype.name, f"DT_{dtype.name.upper()}")


def _host_type(value: HostTensor | list[HostTensor]) -> str:
    return host_name((value[0] if isinstance(value, list) else value).dtype)


def _asked_types(outputs: Mapping[str, Wanted]) -> dict[str, str]:
    """One operator may offer several output types for the same inputs."""
    first = {
        name: wanted[:1] if isinstance(wanted, list) else [wanted]
        for name, wanted in outputs.items()
    }
    return {name: host_name(dtypes.find(w[0][1])) for name, w in first.items() if w}


def _specs(value: Value, *, with_data: bool) -> TensorSpec | list[TensorSpec] | None:
    def spec(tensor: HostTensor) -> TensorSpec:
        raw = tensor.to_bytes() if with_data else None
        return TensorSpec(tensor.shape, host_name(tensor.dtype), data=raw)

    if value is None:
        return None
    return [spec(tensor) for tensor in value] if isinstance(value, list) else spec(value)


def _output_specs(wanted: Wanted) -> TensorSpec | list[TensorSpec]:
    def spec(shape: Sequence[int], dtype: str) -> TensorSpec:
        return TensorSpec(tuple(shape), host_name(dtypes.find(dtype)))

    return [spec(*one) for one in wanted] if isinstance(wanted, list) else spec(*wanted)


def _outputs(
    operator: Operator,
    tiling: TilingResult,
    types: Mapping[str, str],
    asked: Mapping[str, Wanted],
) -> dict[str, list[TensorArgument]]:
    """Output tensors by name: as asked for, else as inferred."""
    by_name: dict[str, list[OutputTensor]] = {}
    for output in tiling.outputs:
        by_name.setdefault(output.name, []).append(output)
    made: dict[str, list[TensorArgument]] = {}
    for parameter in operator.outputs:
        if parameter.name in asked:
            found = _asked(parameter, asked[parameter.name])
        else:
            found = [
                _output(operator, output, types, number if parameter.dynamic else None)
                for number, output in enumerate(by_name.get(parameter.name, []))
            ]
        if not found and not parameter.optional and not parameter.dynamic:
            raise UsageError(f"{operator.type}: no shape is known for output {parameter.name!r}")
        made[parameter.name] = found
    return made


def _with_content(tensor: TensorArgument, content: HostTensor | None) -> TensorArgument:
    return tensor if content is None else replace(tensor, role="inout", data=content)


def _asked(parameter: Parameter, wanted: Wanted) -> list[TensorArgument]:
    """Output tensors as the caller wants them: one, or the members of a list."""
    if isinstance(wanted, list):
        return [
            TensorArgument(f"{parameter.name}[{i}]", tuple(shape), dtypes.find(dtype), "out")
            for i, (shape, dtype) in enumerate(wanted)
        ]
    shape, dtype = wanted
    name = f"{parameter.name}[0]" if parameter.dynamic else parameter.name
    return [TensorArgument(name, tuple(shape), dtypes.find(dtype), "out")]


def _output(
    operator: Operator, output: OutputTensor, types: Mapping[str, str], number: int | None
) -> TensorArgument:
    shape = output.inferred_shape if output.inferred_shape is not None else output.shape
    if any(size < 0 for size in shape):
        raise UsageError(f"{operator.type}: output {output.name!r} has no known shape")
    known = (output.inferred_dtype, types.get(output.name), output.dtype)
    dtype = next((dtypes.find(name) for name in known if name and name != _UNKNOWN_TYPE), None)
    if dtype is None:
        raise UsageError(f"{operator.type}: output {output.name!r} has no known element type")
    name = output.name if number is None else f"{output.name}[{number}]"
    return TensorArgument(name, tuple(shape), dtype, "out")


def _arguments(
    operator: Operator,
    inputs: Mapping[str, Value],
    outputs: Mapping[str, list[TensorArgument]],
    tiling: TilingResult,
    build: KernelBuild,
) -> tuple[Argument, ...]:
    """Inputs, outputs, their late shapes, workspace, tiling: the order generated kernels have."""
    # An operator without outputs can only be writing its inputs.
    written = {parameter.name for parameter in operator.outputs or operator.inputs}
    arguments = [
        _input(parameter, inputs[parameter.name], parameter.name in written)
        for parameter in operator.inputs
    ]
    in_place = written & {a.name for a in arguments if not isinstance(a, AbsentArgument)}
    for parameter in operator.outputs:
        tensors = outputs[parameter.name]
        if parameter.name in in_place:
            arguments.append(AliasArgument(parameter.name, parameter.name))
        elif parameter.dynamic:
            arguments.append(ListArgument(parameter.name, tuple(tensors)))
        elif tensors:
            arguments.append(tensors[0])
        else:
            arguments.append(AbsentArgument(parameter.name))
    late = sum(parameter.shape_depends_on_compute for parameter in operator.outputs)
    if late:
        arguments.append(ShapeArgument("shapes", late))
    size = sum(tiling.workspace_sizes)
    trailing: list[Argument] = [
        WorkspaceArgument("workspace", max(size, SYSTEM_WORKSPACE)),
        TilingArgument("tiling", tiling.tiling_data or bytes(8)),
    ]
    # Kernels of the static-shape form take no tiling, some no workspace either.
    missing = len(build.parameters) - len(arguments) if build.parameters else len(trailing)
    return (*arguments, *trailing[: max(0, missing)])


def _input(parameter: Parameter, value: Value, in_place: bool) -> Argument:
    """An output of the same name means that the operator works in place."""
    if value is None:
        return AbsentArgument(parameter.name)
    role: Role = "inout" if in_place else "in"
    if isinstance(value, list):
        members = tuple(
            TensorArgument(f"{parameter.name}[{number}]", t.shape, t.dtype, role, t)
            for number, t in enumerate(value)
        )
        return ListArgument(parameter.name, members)
    return TensorArgument(parameter.name, value.shape, value.dtype, role, value)
