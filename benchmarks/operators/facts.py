# SPDX-License-Identifier: Apache-2.0
"""Values of calls as facts (JSON), and facts as Python source.

| value | fact |
| --- | --- |
| None, bool, int, float, str, list | itself |
| tuple | `{"tuple": [...]}` |
| dict | `{"dict": {...}}` |
| tensor that goes in | `{"tensor": INDEX}` |
| tensor of no axes among constants | `{"number": VALUE}` |
| element type | `{"dtype": "float32"}` |
| device of the inputs | `{"device": 0}` |
| class or function | `{"import": "module:name"}` |
| configuration | `{"config": "module:name", "set": {...}}` |
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from typing import Any

import torch

TensorFact = Callable[[torch.Tensor], int]


class NoFactError(ValueError):
    """A value that no fact stands for."""


def fact(value: Any, tensor: TensorFact | None = None) -> Any:
    """Return the fact of a value; `tensor` numbers the tensors, which are refused without it."""
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        if isinstance(value, float) and not math.isfinite(value):
            raise NoFactError(str(value))
        return value
    if isinstance(value, torch.Tensor):
        if tensor is None:
            raise NoFactError("a tensor among constants")
        return {"tensor": tensor(value)}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": 0} if tensor is not None else None
    if isinstance(value, tuple):
        return {"tuple": [fact(item, tensor) for item in value]}
    if type(value) is list:
        return [fact(item, tensor) for item in value]
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"dict": {key: fact(item, tensor) for key, item in value.items()}}
    if inspect.isclass(value) or inspect.isfunction(value):
        return {"import": path_of(value)}
    if callable(getattr(value, "to_diff_dict", None)):
        return _configuration(value)
    raise NoFactError(type(value).__name__)


def path_of(value: Any) -> str:
    """Return the import path of a class or function of a module's own level."""
    if "<" in value.__qualname__ or "." in value.__qualname__:
        raise NoFactError(value.__qualname__)
    return f"{value.__module__}:{value.__qualname__}"


_LEFT = ("transformers_version", "architectures", "model_type", "dtype", "torch_dtype")


def _configuration(value: Any) -> dict[str, Any]:
    made = type(value)
    usual, own = made().to_dict(), value.to_dict()
    changed = {
        key: item for key, item in own.items() if key not in _LEFT and usual.get(key) != item
    }
    try:
        same = made(**json.loads(json.dumps(changed))).to_dict()
    except Exception as error:
        raise NoFactError(made.__name__) from error
    if any(same.get(key) != item for key, item in own.items() if key not in _LEFT):
        raise NoFactError(made.__name__)
    return {"config": path_of(made), "set": changed}


class Source:
    """Python source of facts, and the imports that it needs."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.imports: dict[str, None] = {}

    def name(self, path: str) -> str:
        """Return the name that stands for an import path."""
        module, _, name = path.partition(":")
        self.imports[f"from {module} import {name}"] = None
        return name

    def text(self, value: Any) -> str:
        """Return the expression of a fact."""
        match value:
            case {"tensor": int(index)}:
                return self.names[index]
            case {"number": value}:
                return f'torch.tensor({value!r}, device="cpu")'
            case {"dtype": str(name)}:
                return f"torch.{name}"
            case {"device": _}:
                return f"{self.names[0]}.device"
            case {"import": str(path)}:
                return self.name(path)
            case {"config": str(path), "set": dict(fields)}:
                given = [f"{key}={item!r}" for key, item in fields.items()]
                return f"{self.name(path)}({', '.join(given)})"
            case {"tuple": list(items)}:
                texts = [self.text(item) for item in items]
                return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
            case {"dict": dict(fields)}:
                pairs = [f"{key!r}: {self.text(item)}" for key, item in fields.items()]
                return "{" + ", ".join(pairs) + "}"
            case list(items):
                return "[" + ", ".join(self.text(item) for item in items) + "]"
        return repr(value)

    def arguments(self, args: list[Any], kwargs: dict[str, Any]) -> str:
        """Return what stands between the brackets of a call."""
        texts = [self.text(item) for item in args]
        return ", ".join([*texts, *(f"{key}={self.text(item)}" for key, item in kwargs.items())])
