# SPDX-License-Identifier: Apache-2.0
"""Messages of a host library about what it registers, typed and bounded: its own code wrote them.

Every name in a description was checked once it is one of these objects: names end up in C++ text,
in plans and in reports. What breaks a rule raises `UsageError` with one line that says where.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from npuforge.errors import UsageError

_MIB = 1 << 20
_MOST = 10_000
_DEEPEST = 32

Name = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z", max_length=128)]
NoName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_]*\Z", max_length=128)]
Word = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_.+-]+\Z", max_length=128)]
CppName = Annotated[str, Meta(pattern=r"\A[A-Za-z_:][A-Za-z0-9_:]*\Z", max_length=256)]
CppType = Annotated[str, Meta(pattern=r"\A[A-Za-z_:][A-Za-z0-9_:<>, ]*\Z", max_length=256)]
Size = Annotated[int, Meta(ge=0, le=16 * _MIB)]
Text = Annotated[str, Meta(max_length=_MIB)]
Words = Annotated[list[Word], Meta(max_length=_MOST)]


class Parameter(msgspec.Struct):
    """An input or output as the host library registers it."""

    name: Name
    param_type: Word
    dtypes: Words
    formats: Words
    dtype_list: bool
    format_list: bool
    value_depend: bool
    scalar: bool
    follow: NoName
    shape_depends_on_compute: bool
    init_value: float | None


class Attribute(msgspec.Struct):
    """An attribute as the host library registers it."""

    name: Name
    type: Word
    required: bool
    default: Any


class Operator(msgspec.Struct):
    """An operator as the host library registers it."""

    type: Name
    kernel: Name
    inputs: Annotated[list[Parameter], Meta(max_length=256)]
    outputs: Annotated[list[Parameter], Meta(max_length=256)]
    attrs: Annotated[list[Attribute], Meta(max_length=256)]
    socs: dict[Word, dict[Word, Text]]
    tiling: bool
    infer_shape: bool
    infer_data_type: bool
    value_depend: list[int]


class Field(msgspec.Struct):
    """A field of a tiling structure."""

    type: CppType
    name: Name
    offset: Size
    size: Size
    array_length: Size
    is_struct: bool
    is_padding: bool
    members: Annotated[list[Field], Meta(max_length=_MOST)]


class TilingClass(msgspec.Struct):
    """A registered tiling structure."""

    registered_as: Word
    struct: CppName
    size: Size
    library: bool
    fields: Annotated[list[Field], Meta(max_length=_MOST)]


class Template(msgspec.Struct):
    """A template parameter of a kernel."""

    name: Name
    kind: Word
    bits: Annotated[int, Meta(ge=0, le=64)]
    values: Annotated[list[int], Meta(max_length=_MOST)]


class Description(msgspec.Struct):
    """The answer to `describe`."""

    operators: Annotated[list[Operator], Meta(max_length=1000)]
    tiling_classes: Annotated[list[TilingClass], Meta(max_length=1000)]
    templates: dict[Name, list[Template]]
    log: list[Text]


def described(answer: Any, library: str) -> Description:
    """Return the answer to `describe` in its form."""
    try:
        found = msgspec.convert(answer, Description, strict=True)
        for struct in found.tiling_classes:
            _check_depth(struct.fields)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"{library}: the host code registers what cannot be: {error}") from None
    return found


def _check_depth(fields: list[Field], depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise RecursionError(f"structures are nested more than {_DEEPEST} deep")
    for field in fields:
        _check_depth(field.members, depth + 1)
