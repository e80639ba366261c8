# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: runs a module's file and writes its graph as JSON.

The module and its inputs are made on the `meta` device, where tensors have shapes and no data, so
that a module for gigabytes is captured in a moment; a module that insists on data gets it.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import sys
import time
import traceback
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import torch
from torch._decomp import _core_aten_decompositions_post_autograd
from torch._export.utils import (
    _collect_all_valid_cia_ops_for_aten_namespace,
    _special_op_to_preserve_cia,
)
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.export.exported_program import _decompose_exported_program
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten
from torch.utils.weak import WeakIdKeyDictionary

_LONGEST = 4000  # characters of an exception


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("captured", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["captured"] = module
    spec.loader.exec_module(module)
    return module


def example(module: Any, device: str) -> tuple[Any, list[Any]]:
    """The model and the arguments of its forward."""
    torch.manual_seed(0)
    with torch.device(device):
        model = module.Model(*getattr(module, "get_init_inputs", list)())
        inputs = list(module.get_inputs())
    return model, inputs


UNKNOWN = "an extent or index follows from values of tensors, not from shapes"


def exported(model: Any, inputs: list[Any], every_shape: bool) -> Any:
    """The program in core operations, for every shape it allows or for that of the example."""
    free = torch.export.Dim.AUTO
    shapes = tuple(
        dict.fromkeys(range(value.dim()), free) if isinstance(value, torch.Tensor) else None
        for value in inputs
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(
            model, tuple(inputs), dynamic_shapes=shapes if every_shape else None, strict=False
        )
        found = decomposed(program)
    values = [node.meta.get("val") for node in found.graph.nodes]
    if any(isinstance(one, torch.SymInt) and one.node.hint is None for one in values):
        raise ValueError(UNKNOWN)
    if any(isinstance(value, torch.SymFloat) for value in values):
        raise ValueError("numbers that are no extents follow from the shapes")
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if any("ToFloat" in str(extent) for value in tensors for extent in value.shape):
        raise ValueError("extents follow from the shapes by way of fractions")
    if any(getattr(value, "is_meta", False) for value in found.constants.values()):
        raise ValueError("numbers in its code were made without data")
    return found


class NumbersStayTensors(TorchFunctionMode):
    """`x.item()` gives a tensor of no axes: it computes as the number would, and stays a value that
    a kernel reads. What is decided by it, or sized, fails as before."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.item:
            return args[0].reshape(())
        if func is torch.Tensor.__getitem__ and is_place(args[1]):
            taken = args[0].index_select(0, args[1].reshape(1))
            return taken.reshape(args[0].shape[1:])
        if func is torch.full and len(args) == 2 and isinstance(args[1], torch.Tensor):
            value = args[1].to(kwargs.get("dtype") or args[1].dtype)
            return value.expand(args[0]).clone()
        meets = SCALED.get(func.__name__.removesuffix("_"))
        if meets is not None and isinstance(kwargs.get("value"), torch.Tensor):
            x, a, b = args
            added = meets(a, b) * kwargs["value"]
            return x.add_(added) if func.__name__.endswith("_") else x + added
        return func(*args, **kwargs)


def is_place(value: Any) -> bool:
    """A whole number in a tensor of no axes."""
    if not isinstance(value, torch.Tensor) or value.dim():
        return False
    return not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)


def pin(model: Any, inputs: list[Any]) -> frozenset[int]:
    """Give a module the numbers of the example: whole numbers that come as tensors of no axes
    decide what it does (an axis, how many elements there are), and are no data. Which ones."""
    numbers = {
        place: PinnedNumber(value.item()) for place, value in enumerate(inputs) if is_place(value)
    }
    forward = model.forward

    @wraps(forward)  # its parameters are called by their names
    def pinned(*given: Any) -> Any:
        # Nobody is asked before this mode, as it would be outside of the export's own.
        with NumbersStayTensors():
            return forward(*(numbers.get(place, one) for place, one in enumerate(given)))

    model.forward = pinned
    return frozenset(numbers)


class PinnedNumber(int):
    def item(self) -> int:
        return int(self)


# What asks a tensor for its number; with a number, which are no data; and whose results nothing
# tells beforehand.
ASKING = ("item", "__int__", "__float__", "__bool__", "__index__")
CHANCE = ("rand", "normal", "bernoulli", "multinomial", "dropout", "empty", "poisson")
FEW = 1 << 20  # elements of what is computed a second time


@contextmanager
def plainly() -> Iterator[None]:
    """As if nothing was being captured."""
    with torch._C.DisableTorchFunction(), unset_fake_temporarily(), disable_proxy_modes_tracing():
        yield


class KnownNumbers(TorchFunctionMode):
    """Tensors that follow from nothing but numbers in the code and in inputs of no axes are
    computed a second time, with data; what asks for their numbers is told. `asked` are the places
    of the inputs that any such number followed from."""

    def __init__(self) -> None:
        super().__init__()
        self.values: Any = WeakIdKeyDictionary()  # what is known of a tensor, and from which inputs
        self.asked: set[int] = set()

    def tell(self, tensor: Any, value: Any, place: int) -> None:
        self.values[tensor] = value, frozenset([place])

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in ASKING and args and args[0] in self.values:
            value, places = self.values[args[0]]
            self.asked |= places
            with plainly():
                return func(value)
        made = func(*args, **kwargs)
        if isinstance(made, torch.Tensor):
            self.values.pop(made, None)  # one that was written to
            known = self._computed(func, args, kwargs)
            if known is not None:
                self.values[made] = known
        return made

    def _computed(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result with data, and the inputs that it follows from."""
        if func.__name__.lstrip("_").startswith(CHANCE):
            return None
        given, rest = tree_flatten((args, kwargs))
        if any(isinstance(one, torch.SymInt | torch.SymFloat | torch.SymBool) for one in given):
            return None
        places: frozenset[int] = frozenset()
        for index, one in enumerate(given):
            if isinstance(one, torch.Tensor):
                if one not in self.values:
                    return None
                given[index], from_inputs = self.values[one]
                places |= from_inputs
        own, named = tree_unflatten(given, rest)
        with suppress(Exception), plainly():
            found = func(*own, **{**named, "device": "cpu"} if "device" in named else named)
            if isinstance(found, torch.Tensor) and found.numel() <= FEW:
                return found, places
        return None


def told(model: Any, inputs: list[Any]) -> KnownNumbers:
    """Tell a module the numbers that it asks for."""
    known = KnownNumbers()
    forward = model.forward

    @wraps(forward)  # its parameters are called by their names
    def asking(*given: Any) -> Any:
        for place, (one, value) in enumerate(zip(given, inputs, strict=True)):
            if isinstance(value, torch.Tensor) and not value.dim() and not value.is_complex():
                known.tell(one, value, place)
        with NumbersStayTensors(), known:
            return forward(*given)

    model.forward = asking
    return known


def unread(program: Any, places: Collection[int]) -> bool:
    """Whether nothing is computed with these inputs."""
    given = [spec for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    names = {getattr(given[place].arg, "name", None) for place in places}
    readers = (user for node in program.graph.nodes if node.name in names for user in node.users)
    return all(user.meta.get("val") is None for user in readers)  # they assert something at most


# Operations that PyTorch multiplies by numbers alone, as optimisers do.
SCALED: dict[str, Any] = {"addcmul": torch.mul, "addcdiv": torch.div}


# Operations that a kernel computes better as they are than as the dozens they decompose into.
WHOLE = ("upsample_", "grid_sampler_", "affine_grid_generator", "_adaptive_avg_pool")


def decomposed(program: Any) -> Any:
    """The program in core ATen operations, with whole operations left whole.

    As `run_decompositions` does it, which first replaces each of 500 composite operations by what
    it is anyway: that takes longer than to decompose a small module. Here only those that stay
    whole are replaced; the others come apart when they are dispatched.
    """
    composite = _collect_all_valid_cia_ops_for_aten_namespace()
    whole = {one: _special_op_to_preserve_cia for one in composite if is_whole(one)}
    apart = {
        one: how
        for one, how in _core_aten_decompositions_post_autograd().items()
        if one not in composite and not is_whole(one)
    }
    return _decompose_exported_program(
        program,
        cia_to_decomp=whole,
        python_decomp_table=apart,
        joint_loss_index=None,
        decompose_custom_triton_ops=False,
    )


def is_whole(operation: Any) -> bool:
    return bool(operation.name().removeprefix("aten::").startswith(WHOLE))


def type_of(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return None
    return {
        "shape": [example_of(extent) for extent in value.shape],
        "dtype": str(value.dtype).removeprefix("torch."),
        "extents": [str(extent) for extent in value.shape],
    }


def example_of(extent: Any) -> int:
    if isinstance(extent, int):
        return extent
    if extent.node.hint is None:
        raise ValueError(UNKNOWN)
    return int(extent.node.hint)


def argument(value: Any) -> Any:
    if isinstance(value, torch.fx.Node):
        known = value.meta.get("val")
        if isinstance(known, torch.SymInt):
            return {"type": "extent", "text": str(known), "example": example_of(known)}
        return {"type": "ref", "ref": value.name}
    if isinstance(value, list | tuple):
        return [argument(item) for item in value]
    return number_or_name(value)


def number_or_name(value: Any) -> Any:
    """What JSON can say; infinities and not-a-number become text, as dtypes and devices do."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value).removeprefix("torch.")


def sources(
    program: Any, inputs: list[Any], pinned: Collection[int]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Tensors that go in, and the numbers among the arguments of forward."""
    found: list[dict[str, Any]] = []
    numbers: dict[str, Any] = {}
    metas = {node.name: node.meta.get("val") for node in program.graph.nodes}
    read = {node.name for node in program.graph.nodes if node.users}
    position = 0
    for spec in program.graph_signature.input_specs:
        kind = spec.kind.name
        name = getattr(spec.arg, "name", None)
        if kind == "USER_INPUT":
            value: Any = inputs[position] if position < len(inputs) else None
            place = position
            position += 1
            if not isinstance(value, torch.Tensor) or place in pinned:
                value = value.item() if place in pinned else value
                if isinstance(value, bool | int | float):
                    numbers[name or f"argument{place}"] = value
                continue
            found.append(
                {"name": name, "type": type_of(metas[name]), "origin": "input", "position": place}
            )
            continue
        origin = {"PARAMETER": "parameter", "BUFFER": "buffer"}.get(kind, "constant")
        if origin == "constant" and name not in read:
            continue  # a number of the code that was computed with
        found.append(
            {"name": name, "type": type_of(metas[name]), "origin": origin, "target": spec.target}
        )
    return found, numbers


def nodes(program: Any) -> list[dict[str, Any]]:
    found = []
    for node in program.graph.nodes:
        if node.op != "call_function" or isinstance(node.meta.get("val"), torch.SymInt | bool):
            continue
        value = node.meta.get("val")
        several = isinstance(value, list | tuple)
        found.append(
            {
                "name": node.name,
                "op": str(node.target) if "built-in" not in str(node.target) else "getitem",
                "args": [argument(item) for item in node.args],
                "kwargs": {key: argument(item) for key, item in node.kwargs.items()},
                "types": [type_of(item) for item in value] if several else [type_of(value)],
            }
        )
    return found


def symbols(program: Any, tensors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The extents that may vary, each with the first tensor and axis that has it."""
    least = {str(name): int(span.lower) for name, span in program.range_constraints.items()}
    found: dict[str, dict[str, Any]] = {}
    for tensor in tensors:
        kind = tensor["type"]
        for axis, (text, example) in enumerate(zip(kind["extents"], kind["shape"], strict=True)):
            if text.isidentifier() and text not in found:
                place = {"source": tensor["name"], "axis": axis, "example": example}
                found[text] = {"name": text, **place, "least": least.get(text, 0)}
    return list(found.values())


def results(program: Any) -> list[dict[str, Any]]:
    found = []
    for spec in program.graph_signature.output_specs:
        mutates = spec.target if spec.kind.name.endswith("MUTATION") else None
        found.append({"name": spec.arg.name, "mutates": mutates})
    return found


@dataclass(frozen=True)
class Captured:
    """What the file defines, its program, and the example's inputs (perhaps without data); the
    program holds for the numbers in those that are `pinned` alone."""

    module: Any
    program: Any
    inputs: list[Any]
    pinned: frozenset[int] = frozenset()


def capture(module: Any) -> Captured:
    """The most general capture that works."""
    for device, every_shape in (("meta", True), ("meta", False), ("cpu", True)):
        try:
            model, inputs = example(module, device)
            return Captured(module, exported(model, inputs, every_shape), inputs)
        except Exception:  # what the module does not do without data, or for every shape
            continue
    model, inputs = example(module, "cpu")
    try:
        return Captured(module, exported(model, inputs, False), inputs)
    except Exception:
        for every_shape in (True, False):
            with suppress(Exception), NumbersStayTensors():
                model, inputs = example(module, "meta")
                return Captured(module, exported(model, inputs, every_shape), inputs)
        for every_shape in (True, False):
            with suppress(Exception):
                model, inputs = example(module, "cpu")
                pinned = pin(model, inputs)
                return Captured(module, exported(model, inputs, every_shape), inputs, pinned)
        for every_shape in (True, False):
            with suppress(Exception):
                model, inputs = example(module, "cpu")
                known = told(model, inputs)
                program = exported(model, inputs, every_shape)
                if unread(program, known.asked):
                    return Captured(module, program, inputs, frozenset(known.asked))
        raise


def described(captured: Captured, name: str, eager: list[dict[str, Any]]) -> dict[str, Any]:
    """The graph, and how the module is made and called, as JSON; `eager` is what it dispatches."""
    tensors, numbers = sources(captured.program, captured.inputs, captured.pinned)
    return {
        "graph": {
            "name": name,
            "sources": tensors,
            "nodes": nodes(captured.program),
            "results": results(captured.program),
            "symbols": symbols(captured.program, tensors),
            "scalars": numbers,
            "eager": eager,
        },
        "signature": {
            "init": arguments(captured.module.Model.__init__),
            "forward": arguments(captured.module.Model.forward),
        },
    }


def arguments(function: Any) -> list[str]:
    """Names and defaults, without `self`. Annotations are left out: they may name anything."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return [str(item.replace(annotation=inspect.Parameter.empty)) for item in found]


def reason(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__}: {str(error)[:_LONGEST]} ({where})"


def put(path: Path, content: Any) -> None:
    """Write JSON; the other side sees the whole file or none."""
    from npuforge.files import write_whole  # noqa: PLC0415 (the job says where the package is)

    write_whole(path, json.dumps(content))


def question() -> dict[str, Any]:
    """Return what the other side wants next, once it knows; it kills who is not needed."""
    path = Path("question.json")
    while not path.exists():
        time.sleep(0.01)
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def seen(value: torch.Tensor) -> dict[str, Any]:
    return {
        "shape": [int(extent) for extent in value.shape],
        "dtype": str(value.dtype).removeprefix("torch."),
        "contiguous": value.is_contiguous(),
    }


def plain(value: Any) -> Any:
    """A number, name or list of numbers; None for tensors."""
    if isinstance(value, list | tuple):
        if any(isinstance(item, torch.Tensor) for item in value):
            return None
        return [plain(item) for item in value]
    return None if isinstance(value, torch.Tensor) else number_or_name(value)


class RefusedError(Exception):
    """The module dispatches an operation that nobody has a use for: the last one noted."""


class Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operation that reaches the device, up to the first that is `refused`."""

    MOST = 20_000

    def __init__(self, refused: Collection[str] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.refused = refused
        self.operations: list[dict[str, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        every = torch.utils._pytree.tree_leaves
        tensors = [seen(v) for v in every((args, kwargs)) if isinstance(v, torch.Tensor)]
        results = [seen(v) for v in every(result) if isinstance(v, torch.Tensor)]
        given = {item.name: item for item in func._schema.arguments}
        values = [*args, *([None] * (len(given) - len(args)))]
        for place, name in enumerate(given):
            if name in kwargs:
                values[place] = kwargs[name]
            elif place >= len(args):
                values[place] = given[name].default_value
        entry = {
            "op": str(func),
            "inputs": tensors,
            "outputs": results,
            "args": [plain(value) for value in values],
        }
        last = self.operations[-1] if self.operations else {}
        if {key: last.get(key) for key in entry} == entry:
            last["count"] += 1
        elif len(self.operations) >= self.MOST:
            raise RuntimeError(f"more than {self.MOST} different operations")
        else:
            self.operations.append({**entry, "count": 1})
        if entry["op"] in self.refused:
            raise RefusedError
        return result


def dispatched(
    module: Any, device: str = "meta", refused: Collection[str] = ()
) -> list[dict[str, Any]]:
    """What eager execution dispatches; nothing for a module that needs data, where it has none.

    With an operation that is `refused` it ends there.
    """
    log = Dispatched(refused)
    try:
        model, inputs = example(module, device)
        with torch.no_grad(), log:
            model(*inputs)
    except RefusedError:
        pass
    except Exception:  # a branch on data: the time of eager execution is then not modelled
        return []
    return log.operations


def main() -> None:
    job = json.loads(Path("job.json").read_text("utf-8"))
    sys.path.append(job["package"])
    try:
        module = load(job["file"])
        eager = dispatched(module, refused=job["refused"])
        if eager and eager[-1]["op"] in job["refused"]:
            put(Path("graph.json"), {"refused": eager[-1]})
            return
        captured = capture(module)
        answer = described(captured, job["name"], eager)
    except Exception as error:  # the caller reports it in one line
        put(Path("graph.json"), {"error": reason(error)})
        return
    put(Path("graph.json"), answer)
    if job["then"] is None:
        return
    serve = importlib.import_module(job["then"]).serve
    serve(captured, question(), Path())


if __name__ == "__main__":
    main()
