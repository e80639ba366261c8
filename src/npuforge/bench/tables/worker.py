# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: serves the requests of a `TableSession` with a suite's adapter."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

JOB = json.loads(Path("job.json").read_text("utf-8"))
sys.path.append(JOB["package"])

import torch  # noqa: E402

from npuforge.bench.tables import nesting  # noqa: E402
from npuforge.bench.tables.exact import golden  # noqa: E402
from npuforge.bench.tables.row_module import RowModule  # noqa: E402
from npuforge.generate import inputs as making  # noqa: E402
from npuforge.generate import reference_worker  # noqa: E402
from npuforge.spec import capture_worker  # noqa: E402


class Server:
    """Answers requests; tensors of the row made last stay for its check."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.name = job["name"]
        self.rows = job["rows"]
        self.task = _loaded(job["adapter"]).open_task(job["place"])
        self.captured: dict[int, capture_worker.Captured] = {}
        self.sources: dict[int, list[dict[str, Any]]] = {}
        self.made: tuple[int, Any, Any] | None = None

    def module(self, number: int) -> RowModule:
        return RowModule(self.task, self.rows[number], number)

    def describe(self) -> list[dict[str, Any]]:
        return [self._described(number) for number in range(len(self.rows))]

    def _described(self, number: int) -> dict[str, Any]:
        row = self.rows[number]
        try:
            making.seed(2 * number)
            with torch.device("cpu"):
                init = self.task.init(row)
            example = self.module(number).example()
        except Exception as error:  # a broken row is that row's own trouble
            return {"error": capture_worker.reason(error)}
        kinds = [
            {"shape": list(t.shape), "dtype": str(t.dtype).removeprefix("torch.")}
            for t in nesting.tensors(example)
        ]
        key = nesting.signature(init, ranks=False) + nesting.signature(example, ranks=True)
        return {"key": key, "tensors": kinds}

    def capture(self, row: int) -> dict[str, Any]:
        found = capture_worker.capture(self.module(row))
        described = capture_worker.described(found, self.name, [])  # `eager` is asked row by row
        self.captured[row] = found
        self.sources[row] = described["graph"]["sources"]
        return described

    def prove(self, row: int, question: dict[str, Any], folder: str) -> bool:
        reference_worker.serve(self.captured[row], question, Path(folder))
        return True

    def make(self, row: int, captured: int | None) -> dict[str, Any]:
        module = self.module(row)
        model: Any = module.Model()
        arguments = module.arguments()
        sources = nesting.tensors(arguments)
        if captured is not None:
            sources = self._for_graph(captured, model, sources)
        described: dict[str, Any] = {
            "sources": [_left(f"source{i}.bin", t) for i, t in enumerate(sources)]
        }
        wanted = model.inner(*nesting.copied(arguments))
        results = nesting.tensors(wanted)
        self.made = (row, arguments, wanted)
        described["wanted"] = [_left(f"wanted{i}.bin", t) for i, t in enumerate(results)]
        precise = golden(model.inner, arguments, results)
        described["golden"] = [
            _left(f"golden{i}.bin", t) if t is not None else None for i, t in enumerate(precise)
        ]
        return described

    def _for_graph(self, captured: int, model: Any, given: list[Any]) -> list[Any]:
        """What a captured graph takes: arguments, and what the reference itself has."""
        constants = self.captured[captured].program.constants
        return [
            given[source["position"]]
            if source.get("position") is not None
            else _owned(model, source["target"], constants)
            for source in self.sources[captured]
        ]

    def check(self, row: int, given: list[dict[str, Any]]) -> dict[str, Any]:
        assert self.made is not None
        assert self.made[0] == row
        _, arguments, wanted = self.made
        results = nesting.tensors(wanted)
        tensors = [_as(_read(item), want) for item, want in zip(given, results, strict=True)]
        answer = nesting.like(wanted, iter(tensors))
        passed, message, figures = self.task.check(self.rows[row], arguments, wanted, answer)
        kept = {
            name: float(value) if value is not None and abs(value) < float("inf") else None
            for name, value in figures.items()
        }
        return {"passed": bool(passed), "message": str(message), "figures": kept}

    def eager(self, row: int) -> list[dict[str, Any]]:
        return self.module(row).dispatched()


def _loaded(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("adapter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["adapter"] = module
    spec.loader.exec_module(module)
    return module


def _owned(model: Any, target: str, constants: dict[str, Any]) -> Any:
    """A tensor that the reference itself has: this row's, or one written in its code."""
    value = model
    for part in target.split("."):
        value = getattr(value, part, None)
    if not isinstance(value, torch.Tensor):
        value = constants.get(target)
    if value is None or value.device.type == "meta":
        raise ValueError(f"the value of {target} is not known")
    return value


def _left(name: str, tensor: torch.Tensor) -> dict[str, Any]:
    plain = reference_worker.as_pairs(tensor.detach()).contiguous()
    octets = plain.reshape(-1).view(torch.uint8).numpy() if plain.numel() else None
    Path(name).write_bytes(octets.tobytes() if octets is not None else b"")
    dtype = str(plain.dtype).removeprefix("torch.")
    return {"file": name, "shape": list(plain.shape), "dtype": dtype}


def _read(item: dict[str, Any]) -> torch.Tensor:
    dtype = getattr(torch, item["dtype"])
    raw = bytearray(Path(item["file"]).read_bytes())
    if not raw:
        return torch.empty(item["shape"], dtype=dtype)
    return torch.frombuffer(raw, dtype=torch.uint8).view(dtype).reshape(item["shape"])


def _as(given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """What a kernel left, as the reference has it."""
    return torch.view_as_complex(given) if wanted.is_complex() else given


def main() -> None:
    torch.set_num_threads(1)
    server = Server(JOB)
    number = 0
    while True:  # the caller kills who is not needed
        request = Path(f"request{number}.json")
        if not request.exists():
            time.sleep(0.005)
            continue
        wanted = json.loads(request.read_text("utf-8"))
        do = getattr(server, wanted.pop("do"))
        try:
            reply = {"answer": do(**wanted)}
        except Exception as error:  # the caller reports it in one line
            traceback.print_exc(limit=-4)
            reply = {"error": capture_worker.reason(error)}
        capture_worker.put(Path(f"reply{number}.json"), reply)
        number += 1


if __name__ == "__main__":
    main()
