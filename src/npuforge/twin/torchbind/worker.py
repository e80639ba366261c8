# SPDX-License-Identifier: Apache-2.0
"""Runs a candidate model inside the sandbox: `python worker.py JOB.json`.

The job names the compiled extensions and either a model source with input and output files, or a
script whose `run(job, scratch)` uses the extensions as it likes. Operator calls
(EXEC_NPU_CMD) go to the parent process through two FIFOs in the scratch folder; tensors travel as
raw files. Nothing of npuforge is imported here, so the sandbox needs only Python and torch.
"""

import importlib.machinery
import importlib.util
import json
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import torch

_NOTHING = 0xFF  # the runtime's own pattern for memory nobody wrote


class Bridge:
    """Sends operator calls to the parent and waits for their results."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.calls = 0
        self.libraries: list[Any] = []  # registrations last as long as these objects
        self.requests = (scratch / "requests").open("w")
        self.answers = (scratch / "answers").open()

    def exec_npu_cmd(self, name: str, arguments: list[Any]) -> None:
        self.calls += 1
        tensors: list[tuple[torch.Tensor, Path]] = []
        described = [self._describe(argument, tensors) for argument in arguments]
        self.requests.write(json.dumps({"api": name, "arguments": described}) + "\n")
        self.requests.flush()
        answer = json.loads(self.answers.readline() or '{"error": "the twin went away"}')
        if answer.get("error"):
            raise RuntimeError(answer["error"])
        # In-place operators write tensors that were passed as inputs: the answer names the files.
        for tensor, path in tensors:
            if path.name in answer["written"] and tensor.numel() > 0:
                values = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)
                tensor.copy_(values.view(tensor.dtype).reshape(tensor.shape))
            path.unlink()

    def _describe(self, value: Any, tensors: list[tuple[torch.Tensor, Path]]) -> dict[str, Any]:
        if value is None:
            return {"kind": "none"}
        if isinstance(value, torch.Tensor):
            path = self.scratch / f"call{self.calls}_{len(tensors)}.bin"
            flat = value.detach().contiguous().reshape(-1)
            path.write_bytes(flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"")
            tensors.append((value, path))
            return {
                "kind": "tensor",
                "file": path.name,
                "shape": list(value.shape),
                "dtype": str(value.dtype).removeprefix("torch."),
                "filled": bool((flat.view(torch.uint8) != _NOTHING).any()),
            }
        if isinstance(value, (bool, int, float, str)):
            return {"kind": "scalar", "value": value}
        return {"kind": "list", "items": [self._describe(item, tensors) for item in value]}

    # TORCH_LIBRARY blocks: operators reachable as torch.ops.NAMESPACE.NAME.
    def define_operator(self, namespace: str, schema: str) -> None:
        library: Any = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]
        library.define(schema)
        self.libraries.append(library)

    def implement_operator(self, namespace: str, name: str, function: Any) -> None:
        if not hasattr(getattr(torch.ops, namespace), name):
            return
        library: Any = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]
        library.impl(name, function, "CPU")
        self.libraries.append(library)


def mark_empty_tensors() -> None:
    """New tensors without values hold a pattern that tells them from those somebody has filled."""

    def marked(real: Any) -> Any:
        def make(*arguments: Any, **options: Any) -> torch.Tensor:
            tensor: torch.Tensor = real(*arguments, **options)
            if tensor.device.type != "cpu":
                return tensor  # no memory that somebody could fill
            storage = torch.empty_strided((0,), (1,), dtype=torch.uint8)
            storage.set_(tensor.untyped_storage()).fill_(_NOTHING)
            return tensor

        return make

    for owner, name in ((torch, "empty"), (torch, "empty_like"), (torch.Tensor, "new_empty")):
        setattr(owner, name, marked(getattr(owner, name)))


def pretend_npu() -> None:
    """`import torch_npu` works and the NPU is the CPU."""
    module = types.ModuleType("torch_npu")
    contrib = types.ModuleType("torch_npu.contrib")
    transfer = types.ModuleType("torch_npu.contrib.transfer_to_npu")
    contrib.transfer_to_npu = transfer  # type: ignore[attr-defined]
    module.contrib = contrib  # type: ignore[attr-defined]
    module.__path__ = []  # a package, so that submodules import
    sys.modules |= {
        "torch_npu": module,
        "torch_npu.contrib": contrib,
        "torch_npu.contrib.transfer_to_npu": transfer,
    }
    npu = types.SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 1,
        synchronize=lambda *_: None,
        current_device=lambda: 0,
        set_device=lambda *_: None,
    )
    module.npu = npu  # type: ignore[attr-defined]
    torch.npu = npu  # type: ignore[attr-defined]
    torch.Tensor.npu = lambda self, *_args, **_kw: self  # type: ignore[attr-defined]
    torch.nn.Module.npu = lambda self, *_args, **_kw: self  # type: ignore[attr-defined]


def load_extension(name: str, path: str) -> None:
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)


def load_name(source: Path, name: str) -> Any:
    """The value called `name` in a Python file."""
    module = types.ModuleType("candidate")
    module.__file__ = str(source)
    sys.modules["candidate"] = module
    exec(compile(source.read_text(), str(source), "exec"), module.__dict__)  # the candidate itself
    return getattr(module, name)


def run(job: dict[str, Any], scratch: Path) -> None:
    bridge = Bridge(scratch)
    module = types.ModuleType("npuforge_bridge")
    for name in ("exec_npu_cmd", "define_operator", "implement_operator"):
        setattr(module, name, getattr(bridge, name))
    sys.modules["npuforge_bridge"] = module
    pretend_npu()
    mark_empty_tensors()
    for name, path in job["extensions"].items():
        load_extension(name, path)
    if "script" in job:
        load_name(Path(job["script"]), "run")(job, scratch)
        return
    model_class = load_name(Path(job["model"]), job["class"])
    torch.manual_seed(job["seed"])
    model = model_class(*torch.load(scratch / "init.pt", weights_only=True))
    with torch.no_grad():
        for index in range(job["cases"]):
            inputs = torch.load(scratch / f"inputs{index}.pt", weights_only=True)
            result = model(*inputs)
            outputs = list(result) if isinstance(result, (list, tuple)) else [result]
            torch.save([item.detach().clone() for item in outputs], scratch / f"outputs{index}.pt")


def main() -> int:
    job_file = Path(sys.argv[1])
    torch.set_num_threads(1)
    try:
        run(json.loads(job_file.read_text()), job_file.parent)
    except BaseException as problem:  # a candidate may raise anything, SystemExit included
        trace = traceback.format_exc(limit=-4)
        report = {"error": f"{type(problem).__name__}: {problem}", "trace": trace}
        (job_file.parent / "failure.json").write_text(json.dumps(report))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
