# SPDX-License-Identifier: Apache-2.0
"""How an operator without Python is called for a module's task.

Its inputs are the tensors of `forward`: by name where the operator knows all their names, otherwise
in order. Inputs that are left are tensors of the task's own model: by name (`norm.weight` is
`norm_weight`, or `weight` where there is no other), or in order where there are as many of them.
Attributes are numbers by name: arguments of `forward`, of `__init__`, then what the model keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npuforge.dtypes import HostTensor
from npuforge.errors import UsageError
from npuforge.twin.host.description import Attribute


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the task's model: `forward` are its arguments by name, in order, tensors as
    `HostTensor`; `numbers` and `state` are what it was made with and what it has."""

    forward: Mapping[str, Any]
    numbers: Mapping[str, Any]
    state: Mapping[str, HostTensor]


def inputs(call: Call, names: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """The operator's inputs by its own names; `UsageError` where the task does not say them."""
    given = {name: value for name, value in call.forward.items() if _is_tensor(value)}
    if len(given) > len(names):
        raise UsageError(f"it takes {len(names)} tensors, the task's forward has {len(given)}")
    if not given.keys() <= set(names):
        given = dict(zip(names, given.values(), strict=False))
    left = [name for name in names if name not in given]
    owned = dict(call.state)
    for name in left:
        found = [key for key in owned if name in (key, key.replace(".", "_"))]
        found = found or [key for key in owned if name == key.rsplit(".", 1)[-1]]
        if len(found) == 1:
            given[name] = owned.pop(found[0])
    left = [name for name in left if name not in given]
    required = [name for name in left if name not in optional]
    if required and len(required) == len(owned):
        given |= dict(zip(required, owned.values(), strict=True))
    elif required:
        raise UsageError(f"nothing says which tensor its input {required[0]!r} is")
    return given


def attributes(call: Call, wanted: Sequence[Attribute]) -> dict[str, Any]:
    """The operator's attributes; those with defaults may be left to them."""
    known = {**call.numbers, **{k: v for k, v in call.forward.items() if not _is_tensor(v)}}
    found: dict[str, Any] = {}
    for attribute in wanted:
        value = known.get(attribute.name)
        if value is not None:
            found[attribute.name] = value
        elif attribute.required:
            raise UsageError(f"nothing says what its attribute {attribute.name!r} is")
    return found


def _is_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(_is_tensor(item) for item in value)
    return isinstance(value, HostTensor)
