# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: computes reference outputs as `job.json` says. Stands alone.

Inputs arrive as NumPy arrays (bfloat16 as float32), or as torch tensors when the reference's file
imports torch.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def _load(number: int, dtype: str) -> Any:
    array = np.load(f"in{number}.npy", allow_pickle=False)
    if dtype == "bfloat16":
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return array


def _to_torch(array: Any, dtype: str) -> Any:
    torch = sys.modules["torch"]
    tensor = torch.from_numpy(array)
    return tensor.to(torch.bfloat16) if dtype == "bfloat16" else tensor


def _to_numpy(value: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return np.asarray(value)


def _loaded(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{Path(path).name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _function(job: dict[str, Any]) -> Any:
    sys.path.insert(0, job["folder"])
    module = _loaded(str(Path(job["folder"]) / job["file"]))
    return getattr(module, job["function"]), hasattr(module, "torch")


def main() -> None:
    job = json.loads(Path("job.json").read_text("utf-8"))
    arrays = [_load(number, dtype) for number, (_, dtype) in enumerate(job["inputs"])]
    if "expressions" in job:
        names = {name: array for (name, _), array in zip(job["inputs"], arrays, strict=True)}
        outputs = [eval(text, {"np": np, **names}) for text in job["expressions"]]
    else:
        function, wants_torch = _function(job)
        if wants_torch:
            types = [dtype for _, dtype in job["inputs"]]
            arrays = [_to_torch(a, dtype) for a, dtype in zip(arrays, types, strict=True)]
        made = function(*arrays, **job["attrs"])
        outputs = list(made) if isinstance(made, list | tuple) else [made]
    made = [np.ascontiguousarray(_to_numpy(value)) for value in outputs]
    listed = [(value.dtype.name, value.shape, value.tobytes()) for value in made]
    Path("outputs.tensors").write_bytes(_loaded(job["writer"]).packed(listed))


if __name__ == "__main__":
    main()
