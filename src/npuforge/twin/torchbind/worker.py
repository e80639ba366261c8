# SPDX-License-Identifier: Apache-2.0
"""Runs a candidate model inside the sandbox: `python worker.py JOB.json`.

The job names the compiled extensions and either a model source with input and output files, or a
script whose `run(job, scratch)` uses the extensions as it likes. Operator calls
(EXEC_NPU_CMD) go to the parent process through two named pipes in the scratch folder; tensors
travel as files that `requests.py` names. Nothing of npuforge is imported here but `watch.py` and
`tensor_writer.py` beside this file, so the sandbox needs only Python and torch. Standard input
holds the secret that the record of a model is sealed with.
"""

import importlib.machinery
import importlib.util
import json
import math
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import torch

_LONGEST = 10_000  # characters of a failure


def load_module(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where `watch` sees whether its functions are replaced
    spec.loader.exec_module(module)
    return module


watch = load_module("npuforge_watch", Path(__file__).with_name("watch.py"))
writer = load_module("npuforge_tensors", Path(__file__).with_name("tensor_writer.py"))


class Bridge:
    """Sends operator calls to the parent and waits for their results."""

    def __init__(self, scratch: Path, watcher: Any) -> None:
        self.scratch = scratch
        self.watcher = watcher
        self.libraries: list[Any] = []  # registrations last as long as these objects
        self.requests = (scratch / "requests").open("w")
        self.answers = (scratch / "answers").open()

    def exec_npu_cmd(self, name: str, arguments: list[Any]) -> None:
        self.watcher.launching()
        with self.watcher.paused():
            written = self._perform(name, arguments)
        self.watcher.launched(written)

    def _perform(self, name: str, arguments: list[Any]) -> list[torch.Tensor]:
        """Have the operator run; the tensors it has written."""
        tensors: list[torch.Tensor] = []
        described = [self._describe(argument, tensors) for argument in arguments]
        self.requests.write(json.dumps({"api": name, "arguments": described}) + "\n")
        self.requests.flush()
        answer = json.loads(self.answers.readline() or '{"error": "the twin went away"}')
        for place in range(len(tensors)):
            (self.scratch / f"in{place}.bin").unlink()
        if answer["error"]:
            raise RuntimeError(answer["error"])
        # In-place operators write tensors that were passed as inputs: the answer says which.
        written = []
        for place in answer["written"]:
            tensor, path = tensors[place], self.scratch / f"out{place}.bin"
            if tensor.numel() > 0:
                values = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)
                tensor.copy_(values.view(tensor.dtype).reshape(tensor.shape))
                written.append(tensor)
            path.unlink()
        return written

    def _describe(self, value: Any, tensors: list[torch.Tensor]) -> dict[str, Any]:
        if value is None:
            return {"kind": "none"}
        if isinstance(value, torch.Tensor):
            dtype, shape, octets = writer.described(value)
            (self.scratch / f"in{len(tensors)}.bin").write_bytes(octets)
            tensors.append(value)
            filled = octets.count(watch.NOTHING) < len(octets)
            return {"kind": "tensor", "shape": shape, "dtype": dtype, "filled": filled}
        if isinstance(value, float) and not math.isfinite(value):
            return {"kind": "special", "value": str(value)}
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

        def noted(*arguments: Any) -> Any:
            with self.watcher.active():  # PyTorch leaves its modes when it calls an operator
                return function(*arguments)

        library: Any = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]
        library.impl(name, noted, "CPU")
        self.libraries.append(library)


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


def load_name(source: Path, name: str, text: str) -> Any:
    """The value called `name` in a Python file with this text."""
    module = types.ModuleType("candidate")
    module.__file__ = str(source)
    sys.modules["candidate"] = module
    exec(compile(text, str(source), "exec"), module.__dict__)  # the candidate itself
    return getattr(module, name)


def plain(output: Any) -> torch.Tensor:
    """A dense tensor by itself, whatever class and strides the candidate gave it."""
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"an output is a {type(output).__name__}, not a tensor")
    with torch._C.DisableTorchFunctionSubclass():
        return output.as_subclass(torch.Tensor).detach().clone()


def run_model(job: dict[str, Any], scratch: Path, watcher: Any, files: list[bytes]) -> None:
    """Call the model on every case; `files` gets what is saved of each."""
    save, seeded = writer.saved, torch.manual_seed
    source = Path(job["model"])
    text = source.read_text()
    with watcher.active():
        for name, path in job["extensions"].items():
            load_extension(name, path)
        model_class = load_name(source, job["class"], text)
    initial = torch.load(scratch / "init.pt", weights_only=True)
    seeded(job["seed"])
    with watcher.active():
        model = model_class(*initial)
    with torch.no_grad():
        for index in range(job["cases"]):
            inputs = torch.load(scratch / f"inputs{index}.pt", weights_only=True)
            watcher.started(inputs)
            with watcher.active():
                result = model(*inputs)
            outputs = list(result) if isinstance(result, (list, tuple)) else [result]
            watcher.ended(inputs, outputs)
            files.append(save([plain(item) for item in outputs]))
            (scratch / f"outputs{index}.tensors").write_bytes(files[-1])


def run_script(job: dict[str, Any], scratch: Path) -> None:
    with watch.Marks():
        for name, path in job["extensions"].items():
            load_extension(name, path)
        source = Path(job["script"])
        load_name(source, "run", source.read_text())(job, scratch)


def run(job: dict[str, Any], scratch: Path, secret: bytes) -> None:
    pretend_npu()
    library = (sys.prefix, sys.base_prefix, str(Path(__file__).parent), "<frozen")
    watcher = watch.install(secret, job.get("runtime"), library)
    bridge = Bridge(scratch, watcher)
    module = types.ModuleType("npuforge_bridge")
    for name in ("exec_npu_cmd", "define_operator", "implement_operator"):
        setattr(module, name, getattr(bridge, name))
    sys.modules["npuforge_bridge"] = module
    if "script" in job:
        run_script(job, scratch)
        return
    files: list[bytes] = []
    write, place = Path.write_bytes, scratch / "record.json"
    try:
        run_model(job, scratch, watcher, files)
    finally:
        write(place, watcher.seal(files))


def take_secret() -> bytes:
    """What standard input holds; nobody reads it again."""
    secret = sys.stdin.buffer.read()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return secret


def main() -> int:
    job_file = Path(sys.argv[1])
    torch.set_num_threads(1)
    try:
        run(json.loads(job_file.read_text()), job_file.parent, take_secret())
    except BaseException as problem:  # a candidate may raise anything, SystemExit included
        trace = traceback.format_exc(limit=-4)[-_LONGEST:]
        report = {"error": f"{type(problem).__name__}: {problem}"[:_LONGEST], "trace": trace}
        (job_file.parent / "failure.json").write_text(json.dumps(report))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
