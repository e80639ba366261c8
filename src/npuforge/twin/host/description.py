# SPDX-License-Identifier: Apache-2.0
"""What a host library declares: operators, their parameters, and tiling structures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError
from npuforge.sandbox import Sandbox
from npuforge.twin.host import messages, runner


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input or output. `dtypes` and `formats` run in parallel over the type combinations,
    unless `dtype_list` or `format_list` says that every entry goes with every combination."""

    name: str
    param_type: str
    dtypes: tuple[str, ...]
    formats: tuple[str, ...]
    dtype_list: bool = False
    format_list: bool = False
    value_depend: bool = False
    scalar: bool = False
    follow: str = ""
    shape_depends_on_compute: bool = False
    init_value: float | None = None

    @property
    def optional(self) -> bool:
        return self.param_type == "optional"

    @property
    def dynamic(self) -> bool:
        return self.param_type == "dynamic"


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute; `type` is bool, int, float, str, or list_ of one of these."""

    name: str
    type: str
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator; `kernel` is its kernel's file and function name."""

    type: str
    kernel: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attrs: tuple[Attribute, ...]
    socs: Mapping[str, Mapping[str, str]]
    has_tiling: bool
    has_infer_shape: bool
    has_infer_data_type: bool

    def parameter(self, name: str) -> Parameter:
        for parameter in (*self.inputs, *self.outputs):
            if parameter.name == name:
                return parameter
        raise UsageError(f"{self.type} has no input or output named {name}")

    def combination(
        self, dtypes: Mapping[str, str], preferred: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Element types of all parameters, completed from those in `dtypes` (by name, DT_...).

        Among several possible ones `preferred` chooses; it has no say where none agrees with it.
        """
        for name in (*dtypes, *(preferred or {})):
            self.parameter(name)
        wishes = [{**preferred, **dtypes}, dtypes] if preferred else [dtypes]
        for wanted in wishes:
            for alike in (_same, _same_storage):
                chosen = self._first_combination(wanted, alike)
                if chosen is not None:
                    return chosen
        given = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        raise UsageError(f"{self.type} declares no combination of element types with {given}")

    def _first_combination(
        self, dtypes: Mapping[str, str], alike: Callable[[str, str], bool]
    ) -> dict[str, str] | None:
        parameters = (*self.inputs, *self.outputs)
        count = max((len(p.dtypes) for p in parameters if not p.dtype_list), default=0)
        for choice in range(max(count, 1)):
            chosen: dict[str, str] = {}
            for parameter in parameters:
                wanted = dtypes.get(parameter.name)
                types = parameter.dtypes
                if not parameter.dtype_list and len(types) > 1:
                    types = types[choice : choice + 1]
                if not types:
                    # Declared without types: it follows another parameter, or takes any.
                    types = tuple(
                        type_ for type_ in (wanted or chosen.get(parameter.follow),) if type_
                    )
                if wanted is not None:
                    types = tuple(type_ for type_ in types if alike(wanted, type_))
                    if not types:
                        break
                if types:
                    chosen[parameter.name] = types[0]
            else:
                return chosen
        return None


def _same(given: str, declared: str) -> bool:
    return given == declared


def _same_storage(given: str, declared: str) -> bool:
    """Operators declare masks of bytes and are called with booleans."""
    return given == declared or {given, declared} <= {"DT_BOOL", "DT_UINT8", "DT_INT8"}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a tiling structure; padding is a field too, so the layout is complete."""

    type: str
    name: str
    offset: int
    size: int
    array_length: int = 0
    is_struct: bool = False
    is_padding: bool = False
    members: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class TilingStruct:
    """A tiling structure. `library` structures are defined by the kernel headers themselves."""

    registered_as: str
    name: str
    size: int
    library: bool
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A template parameter of a kernel; `kind` is dtype, datatype, format, uint, bool or
    kernel_type, `values` what it may be."""

    name: str
    kind: str
    bits: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpDescription:
    """Everything a host library registers."""

    operators: tuple[Operator, ...]
    tiling_structs: tuple[TilingStruct, ...]
    templates: Mapping[str, tuple[TemplateParameter, ...]]
    log: tuple[str, ...] = ()

    def template_arguments(self, operator: Operator, tiling_key: int) -> dict[str, int]:
        """Values of the kernel's template parameters that `tiling_key` stands for."""
        arguments: dict[str, int] = {}
        for parameter in self.templates.get(operator.type, ()):
            code = tiling_key & ((1 << parameter.bits) - 1)
            tiling_key >>= parameter.bits
            if parameter.kind == "uint":
                if code >= len(parameter.values):
                    raise UsageError(f"tiling key has no value for {parameter.name}")
                code = parameter.values[code]
            arguments[parameter.name] = code
        return arguments

    def operator(self, name: str | None = None) -> Operator:
        """The operator of that type or kernel name; without a name, the only one."""
        if name is None and len(self.operators) == 1:
            return self.operators[0]
        for operator in self.operators:
            if name in (operator.type, operator.kernel):
                return operator
        known = ", ".join(operator.type for operator in self.operators) or "none"
        what = f"no operator {name}" if name else "an operator must be named"
        raise UsageError(f"{what}; the host library registers: {known}")

    def default_struct(self, operator: Operator) -> TilingStruct | None:
        """The structure registered for the operator as a whole."""
        for struct in self.tiling_structs:
            if struct.registered_as == operator.type:
                return struct
        return None

    def keyed_structs(self, operator: Operator) -> dict[int, TilingStruct]:
        """Structures registered for one tiling key of the operator (`Type_123`)."""
        pattern = re.compile(re.escape(operator.type) + r"_(\d+)")
        found: dict[int, TilingStruct] = {}
        for struct in self.tiling_structs:
            match = pattern.fullmatch(struct.registered_as)
            if match:
                found[int(match[1])] = struct
        return found


def describe(host_so: Path, *, sandbox: Sandbox | None = None) -> OpDescription:
    """What `host_so` registers; a library that cannot be loaded or crashes is a `UsageError`."""
    answer = runner.call("describe", host_so, sandbox=sandbox)
    if answer.get("status") != "ok":
        raise UsageError(f"{host_so.name}: {answer.get('message', 'no description')}")
    registered = messages.described(answer, host_so.name)
    return OpDescription(
        operators=tuple(_operator(item) for item in registered.operators),
        tiling_structs=tuple(
            TilingStruct(
                registered_as=item.registered_as,
                name=item.struct,
                size=item.size,
                library=item.library,
                fields=_fields(item.fields),
            )
            for item in registered.tiling_classes
        ),
        templates={
            op: tuple(
                TemplateParameter(p.name, p.kind, p.bits, tuple(p.values)) for p in parameters
            )
            for op, parameters in registered.templates.items()
        },
        log=tuple(registered.log),
    )


def _operator(item: messages.Operator) -> Operator:
    # Dependence on values can be declared on the input or, by index, with the functions.
    depends = set(item.value_depend)
    return Operator(
        type=item.type,
        kernel=item.kernel,
        inputs=tuple(_parameter(p, i in depends) for i, p in enumerate(item.inputs)),
        outputs=tuple(_parameter(p, False) for p in item.outputs),
        attrs=tuple(Attribute(a.name, a.type, a.required, a.default) for a in item.attrs),
        socs=item.socs,
        has_tiling=item.tiling,
        has_infer_shape=item.infer_shape,
        has_infer_data_type=item.infer_data_type,
    )


def _parameter(item: messages.Parameter, depends: bool) -> Parameter:
    return Parameter(
        name=item.name,
        param_type=item.param_type,
        dtypes=tuple(item.dtypes),
        formats=tuple(item.formats),
        dtype_list=item.dtype_list,
        format_list=item.format_list,
        value_depend=item.value_depend or depends,
        scalar=item.scalar,
        follow=item.follow,
        shape_depends_on_compute=item.shape_depends_on_compute,
        init_value=item.init_value,
    )


def _fields(items: Sequence[messages.Field]) -> tuple[Field, ...]:
    return tuple(
        Field(
            type=item.type,
            name=item.name,
            offset=item.offset,
            size=item.size,
            array_length=item.array_length,
            is_struct=item.is_struct,
            is_padding=item.is_padding,
            members=_fields(item.members),
        )
        for item in items
    )
