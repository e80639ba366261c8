# SPDX-License-Identifier: Apache-2.0
"""A module or function of the caller's own process: captured and run here, as trusted code."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from npuforge.errors import UsageError
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.scratch import new_folder, remove
from npuforge.spec.complex_pairs import paired
from npuforge.spec.graph import Graph
from npuforge.spec.session import Signature

if TYPE_CHECKING:
    import torch


class LiveModule:
    """`with LiveModule(model, inputs, name) as module:`, used as a `ModuleSession` is."""

    def __init__(
        self, model: torch.nn.Module | Callable[..., Any], inputs: Sequence[Any], name: str
    ) -> None:
        self._open(_namespace(model, inputs), name)

    @classmethod
    def of_text(cls, text: str, name: str) -> LiveModule:
        """Of a file's text in the KernelBench form, which is trusted: it runs in this process."""
        defined: dict[str, Any] = {}
        exec(compile(text, name, "exec"), defined)
        live = cls.__new__(cls)
        live._open(SimpleNamespace(**defined), name)
        return live

    def _open(self, module: Any, name: str) -> None:
        self.folder = SharedFolder(new_folder("live"))
        self._name = name
        self._module = module
        self._captured: Any = None
        self._described: dict[str, Any] = {}

    def __enter__(self) -> LiveModule:
        from npuforge.spec import capture_worker  # noqa: PLC0415 (imports torch)

        try:
            self._captured = capture_worker.capture(self._module)
            self._described = capture_worker.described(
                self._captured, self._name, capture_worker.dispatched(self._module)
            )
        except Exception as error:  # whatever the caller's code does
            self._remove()
            reason = capture_worker.reason(error)
            raise UsageError(f"{self._name} could not be captured: {reason}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        self.folder.close()
        remove(self.folder.path)

    @property
    def graph(self) -> Graph:
        return paired(msgspec.convert(self._described["graph"], Graph))

    @property
    def signature(self) -> Signature:
        return msgspec.convert(self._described["signature"], Signature)

    def ask(self, question: Any) -> None:
        from npuforge.generate import reference_worker  # noqa: PLC0415 (imports torch)

        plain = msgspec.json.decode(msgspec.json.encode(question))
        reference_worker.serve(self._captured, plain, self.folder.path)

    def wait(self, name: str, limit: int) -> bytes:
        try:
            return self.folder.read(name, limit)
        except HostileFileError as error:
            raise UsageError(f"{self._name}: {error}") from None


def source_text(model: torch.nn.Module | Callable[..., Any]) -> str:
    """The text of the module's class or of the function, where Python knows it."""
    import torch  # noqa: PLC0415

    try:
        return inspect.getsource(type(model) if isinstance(model, torch.nn.Module) else model)
    except (OSError, TypeError):
        return f"# {model!r}\n"


def _namespace(model: Any, inputs: Sequence[Any]) -> Any:
    """What a file in the KernelBench form would define."""
    import torch  # noqa: PLC0415

    class Function(torch.nn.Module):
        def forward(self, *arguments: Any) -> Any:
            return model(*arguments)

    own = isinstance(model, torch.nn.Module)
    made = model if own else Function()

    class Model:
        """Called like a class, makes copies of the one module there is."""

        def __new__(cls) -> Any:
            return copy.deepcopy(made)

        forward = type(made).forward if own else staticmethod(_with_self(model))

    def get_inputs() -> list[Any]:
        return [v.detach().clone() if isinstance(v, torch.Tensor) else v for v in inputs]

    return SimpleNamespace(Model=Model, get_inputs=get_inputs)


def _with_self(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method with the function's arguments."""

    def method(*arguments: Any) -> Any:
        return function(*arguments[1:])

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        given = list(inspect.signature(function).parameters.values())
    except ValueError:  # a function of torch's own, written in C++
        given = [inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL)]
    method.__signature__ = inspect.Signature([own, *given])  # type: ignore[attr-defined]
    return method
