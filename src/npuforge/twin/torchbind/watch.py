# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: notes what a candidate does, from before it is loaded until it has ended.

For each call of the model: launches, PyTorch operations that compute, where the memory of each
output got its values from, functions that were replaced, files and frames that were looked at.

The candidate shares the process. So everything noted lives in closures, what is called here was
looked up before the candidate ran, and the record is sealed with a secret that only this process
and its parent know: a record or an output that the candidate wrote itself does not match.

How values are traced. Memory is known by the address of its storage. What `empty` makes is filled
with a pattern. Before an address leaves Python a checksum is taken, and again around every launch:
memory that changes during a launch was written by a kernel, memory that changes between launches by
native code of the host.
"""

import _thread
import ctypes
import hashlib
import hmac
import json
import sys
import threading
import types
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

NOTHING = 0xFF  # the runtime's own pattern for memory nobody wrote
_SMALL = 4096  # bytes: tables and scalars that host code may fill for a kernel

_EMPTY = {"empty", "empty_like", "empty_strided", "empty_permuted"}
_EMPTY |= {"new_empty", "new_empty_strided"}
_MADE = {"zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like"}
_MADE |= {"new_full", "scalar_tensor", "arange", "linspace", "lift_fresh", "lift"}
_FILLS = {"zero_", "fill_", "zero", "fill"}
_COPIES = {"clone", "_to_copy", "copy_", "contiguous", "_reshape_copy", "view_copy", "_unsafe_view"}
_ASKS = {"_local_scalar_dense", "sym_size", "sym_numel", "sym_stride", "is_pinned"}
_ASKS |= {"resize_", "set_"}
_EXPOSES = {"data_ptr", "numpy", "__array__", "untyped_storage", "storage", "_typed_storage"}
_READS = {"numpy", "__array__", "tolist", "__dlpack__"}
_NARROW = {torch.float16, torch.bfloat16}
_WIDE = {torch.float32, torch.float64}

# Whoever raises these looks for what a kernel has no business with.
_EVENTS = (
    *("gc.", "ctypes.", "subprocess.", "socket.", "shutil.", "_thread.", "sys.set"),
    *("os.system", "os.fork", "os.exec", "os.spawn", "os.posix_spawn", "os.kill"),
)
# ... and these, where the candidate's own code does and not a library.
_OWN_EVENTS = ("exec", "compile", "sys._getframe", "sys._current_frames", "code.", "os.")
_OWNERS = (
    *("torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.autograd", "torch.cuda"),
    *("torch.testing", "torch.serialization", "torch.random", "torch.utils._python_dispatch"),
    *("torch.overrides", "time", "builtins", "json", "math", "os", "io", "sys", "pickle", "numpy"),
    *("zipfile", "hashlib", "hmac", "torch_npu", "types", "importlib", "__main__"),
    "npuforge_tensors",
)


class _Memory:
    """One storage. Origins: input, kept, fresh, made, kernel, torch, host."""

    __slots__ = ("exposed", "origin", "size", "sum", "weak")

    def __init__(self, origin: str, size: int, weak: Any) -> None:
        self.origin, self.size, self.weak = origin, size, weak
        self.exposed = False
        self.sum = 0


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would load its compiler, which takes seconds, to keep it out of our methods."""
        return False


class Marks(_Mode):  # type: ignore[no-untyped-call]
    """New tensors without values hold a pattern that tells them from those somebody has filled."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func._schema.name.removeprefix("aten::") in _EMPTY:
            mark(result)
        return result


def mark(tensor: torch.Tensor) -> None:
    if tensor.layout is torch.strided and tensor.device.type == "cpu":
        storage = tensor.untyped_storage()
        ctypes.memset(storage.data_ptr(), NOTHING, storage.nbytes())


class Watcher:
    """The functions that the worker and the bridge call; what they share is not an attribute."""

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        for name, function in functions.items():
            setattr(self, name, function)

    active: Callable[[], Any]  # a context in which operations are noted
    paused: Callable[[], Any]  # ... in which they are not
    started: Callable[[list[Any]], None]  # a call of the model begins, with these inputs
    ended: Callable[[list[Any], list[Any]], None]  # ... has returned, with these outputs
    launching: Callable[[], None]
    launched: Callable[[list[torch.Tensor]], None]
    seal: Callable[[list[bytes]], bytes]  # the record, given the files of outputs


def install(secret: bytes, runtime: str | None, library: tuple[str, ...]) -> Watcher:
    known: dict[int, _Memory] = {}
    alive: list[Any] = []  # tensors of the present call: their addresses are not given out again
    pauses: list[int] = []
    forwards: list[dict[str, Any]] = []
    now: dict[str, Any] = {}
    events: Counter[str] = Counter()
    total = [0]
    inside = [0]
    originals = _functions()
    # Bound here: the candidate may replace what modules hold.
    crc, sha, seal_with = zlib.crc32, hashlib.sha256, hmac.digest
    encode, tensor_type, parameter = json.dumps, torch.Tensor, torch.nn.Parameter
    frame_of, fill_with_pattern = sys._getframe, mark
    buffer = ctypes.c_char

    def begin_notes() -> None:
        now.clear()
        now.update(launches=0, computed=Counter(), narrowed=Counter(), read=Counter(), host=[])

    def checksum(address: int, size: int) -> int:
        return crc((buffer * size).from_address(address)) if size else 0

    def storage_of(tensor: torch.Tensor) -> tuple[int, int] | None:
        if tensor.layout is not torch.strided or tensor.device.type != "cpu":
            return None
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()

    def learn(tensor: torch.Tensor, origin: str) -> None:
        place = storage_of(tensor)
        if place is None or not place[1]:
            return
        address, size = place
        found = known.get(address)
        if found is None or found.weak.expired() or found.size != size:
            weak = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
            found = known[address] = _Memory(origin, size, weak)
        found.origin = origin
        if found.exposed:
            found.sum = checksum(address, size)
        alive.append(tensor)

    def memory(tensor: torch.Tensor) -> _Memory | None:
        place = storage_of(tensor)
        found = known.get(place[0]) if place else None
        return None if found is None or found.weak.expired() else found

    def expose(tensor: torch.Tensor) -> None:
        found = memory(tensor)
        if found is None:
            learn(tensor, "kept")
            found = memory(tensor)
        if found is not None and not found.exposed:
            place = storage_of(tensor)
            assert place is not None
            found.exposed, found.sum = True, checksum(*place)

    def exposed() -> Iterator[tuple[int, _Memory]]:
        for address, found in known.items():
            if found.exposed and not found.weak.expired():
                yield address, found

    @contextmanager
    def paused() -> Iterator[None]:
        pauses.append(1)
        try:
            yield
        finally:
            pauses.pop()

    def launching() -> None:
        with paused():
            for address, found in exposed():
                fresh = checksum(address, found.size)
                if fresh != found.sum:
                    found.sum = fresh
                    if found.size > _SMALL:
                        found.origin = "host"
                        now["host"].append(found.size)

    def launched(written: list[torch.Tensor]) -> None:
        with paused():
            total[0] += 1
            now["launches"] += 1
            for tensor in written:
                learn(tensor, "kernel")
                expose(tensor)
            for address, found in exposed():
                fresh = checksum(address, found.size)
                if fresh != found.sum:
                    found.origin, found.sum = "kernel", fresh

    def noticed(func: Any, args: tuple[Any, ...], result: Any) -> None:
        space, _, name = func._schema.name.partition("::")
        returned = result if isinstance(result, (list, tuple)) else [result]
        made = [item for item in returned if isinstance(item, tensor_type)]
        if name in _EMPTY:
            for item in made:
                fill_with_pattern(item)
                learn(item, "fresh")
        elif name in _MADE:
            for item in made:
                learn(item, "made")
                if name == "lift_fresh" and item.nbytes > _SMALL:  # out of Python's or NumPy's data
                    now["host"].append(item.nbytes)
        elif name in _FILLS:
            learn(args[0], "made")
        elif name in _COPIES:
            source, target = (args[1], args[0]) if name == "copy_" else (args[0], made[0])
            if source.dtype in _WIDE and target.dtype in _NARROW:
                now["narrowed"][f"{source.dtype} to {target.dtype}"] += 1
            found = memory(source)
            learn(target, found.origin if found is not None else "kept")
        elif name in _ASKS or space not in ("aten", "prims") or _is_view(func):
            pass
        else:
            now["computed"][func._schema.name] += 1
            for item in made:
                learn(item, "torch")

    class Operations(_Mode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if not pauses:
                with paused():
                    noticed(func, args, result)
            return result

    class Methods(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = getattr(func, "__name__", "")
            if not pauses and args and isinstance(args[0], tensor_type):
                with paused():
                    if name in _EXPOSES:
                        expose(args[0])
                    if name in _READS and args[0].nbytes > _SMALL:
                        now["read"][name] += 1
            return func(*args, **(kwargs or {}))

    @contextmanager
    def active() -> Iterator[None]:
        inside[0] += 1
        try:
            with Methods(), Operations():  # type: ignore[no-untyped-call]
                yield
        finally:
            inside[0] -= 1

    def started(inputs: list[Any]) -> None:
        with paused():
            for address in [at for at, found in known.items() if found.weak.expired()]:
                del known[address]
            for found in known.values():
                found.origin = "kept"
            alive.clear()
            begin_notes()
            for item in inputs:
                if isinstance(item, tensor_type):
                    learn(item, "input")
                    expose(item)
            now["inputs"] = [_sum_of(item) for item in inputs]

    def _sum_of(item: Any) -> int | None:
        place = storage_of(item) if isinstance(item, tensor_type) else None
        return None if place is None else checksum(*place)

    def origin(output: torch.Tensor) -> str:
        place, found = storage_of(output), memory(output)
        if place is None or found is None:
            return "made" if output.numel() == 0 else "native"
        changed = found.exposed and checksum(*place) != found.sum
        if found.origin == "fresh":
            contents = (buffer * place[1]).from_address(place[0]).raw
            return "unwritten" if contents.count(bytes([NOTHING])) == place[1] else "host"
        return "host" if changed else found.origin

    def ended(inputs: list[Any], outputs: list[Any]) -> None:
        with paused():
            forwards.append(
                {
                    "launches": now["launches"],
                    "computed": now["computed"],
                    "narrowed": now["narrowed"],
                    "read": now["read"],
                    "filled_by_host": now["host"],
                    "changed_inputs": [
                        i
                        for i, item in enumerate(inputs)
                        if now["inputs"][i] is not None and _sum_of(item) != now["inputs"][i]
                    ],
                    "outputs": [
                        {
                            "origin": origin(item) if isinstance(item, tensor_type) else "native",
                            "kind": type(item).__name__,
                            "plain": type(item) in (tensor_type, parameter),
                        }
                        for item in outputs
                    ],
                    "replaced": _replaced(originals),
                }
            )

    def seal(files: list[bytes]) -> bytes:
        body = encode(
            {
                "forwards": forwards,
                "events": events,
                "replaced": _replaced(originals),
                "launches": total[0],
                "files": [sha(file).hexdigest() for file in files],
            }
        )
        mark_of = seal_with(secret, body.encode(), "sha256").hex()
        return encode({"body": body, "seal": mark_of}).encode()

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if not inside[0] or pauses:
            return
        if event == "open":
            path = str(arguments[0])
            if isinstance(arguments[0], (str, bytes)) and not path.startswith(library):
                events[f"open {path}"] += 1
        elif event.startswith(_EVENTS):
            events[event] += 1
        elif event.startswith(_OWN_EVENTS):
            pauses.append(1)
            try:
                frame: types.FrameType | None = frame_of(1)
                while frame is not None and frame.f_globals.get("__name__") == "inspect":
                    frame = frame.f_back
                if frame is not None and not frame.f_code.co_filename.startswith(library):
                    events[event] += 1
            finally:
                pauses.pop()

    start_thread = _thread.start_new_thread

    def thread(*arguments: Any) -> int:
        if inside[0]:
            events["_thread.start_new_thread"] += 1
        return start_thread(*arguments)

    begin_notes()
    # No audit event tells of a thread before Python 3.12.
    _thread.start_new_thread = threading._start_new_thread = thread  # type: ignore[attr-defined]
    if runtime is not None:
        _observe(runtime, lambda after: launched([]) if after else launching())
    sys.addaudithook(audit)
    return Watcher(
        {
            "active": active,
            "paused": paused,
            "started": started,
            "ended": ended,
            "launching": launching,
            "launched": launched,
            "seal": seal,
        }
    )


_kept_callbacks: list[Any] = []  # the library calls them as long as the process lives


def _observe(runtime: str, notice: Callable[[int], None]) -> None:
    """Have the runtime tell of every launch; it listens to the first who asks."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int)
    callback = kind(notice)
    _kept_callbacks.append(callback)
    ctypes.CDLL(runtime).npuforge_observe_launches(callback)


def _is_view(func: Any) -> bool:
    returned = func._schema.returns
    return bool(returned) and all(
        item.alias_info is not None and not item.alias_info.is_write for item in returned
    )


def _owners() -> Iterator[tuple[str, Any]]:
    for name in _OWNERS:
        if name in sys.modules:
            yield name, sys.modules[name]
    yield "torch.Tensor", torch.Tensor
    for name, value in list(vars(torch.nn).items()):
        if isinstance(value, type):
            yield f"torch.nn.{name}", value
    yield "torch.npu", getattr(torch, "npu", types.SimpleNamespace())
    yield "pathlib.Path", Path


def _functions() -> list[tuple[str, Any, str, Any]]:
    return [
        (f"{label}.{name}", owner, name, value)
        for label, owner in _owners()
        for name, value in list(vars(owner).items())
        # PyTorch replaces the last one itself when its compiler is loaded.
        if callable(value) and value is not torch.manual_seed
    ]


def _replaced(originals: list[tuple[str, Any, str, Any]]) -> list[str]:
    return [label for label, owner, name, value in originals if vars(owner).get(name) is not value]
