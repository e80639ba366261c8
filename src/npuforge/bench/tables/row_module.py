# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: one row of a table as a module in KernelBench's form.

Capturing and proving know modules whose `forward` takes tensors one by one and returns tensors;
references take numbers, names and lists of tensors too. So what is no tensor is fixed, and lists
are taken apart and put together again around the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from npuforge.bench.tables import nesting
from npuforge.generate import inputs as making
from npuforge.spec.capture_worker import dispatched


class RowModule:
    """Has `Model`, `get_inputs` and `get_init_inputs` as a task's file does."""

    def __init__(self, task: Any, row: dict[str, Any], number: int) -> None:
        self.task = task
        self.row = row
        self.number = number
        self.form = nesting.form(self.example())
        self.Model = self._model_class()

    def get_init_inputs(self) -> list[Any]:
        return []

    def get_inputs(self) -> list[Any]:
        """The tensors among fresh arguments; whoever calls has seeded the generators."""
        drawn = getattr(self.task, "drawn", self.task.arguments)
        return nesting.tensors(drawn(self.row))

    def arguments(self) -> Any:
        """The row's arguments, the same every time."""
        making.seed(2 * self.number + 1)
        return self.task.arguments(self.row)

    def reference(self) -> Callable[..., Any]:
        """The row's reference, made the same way every time."""
        making.seed(2 * self.number)
        made: Callable[..., Any] = self.task.model(self.row, self.task.init(self.row))
        return made

    def example(self) -> Any:
        """Arguments without data, where they can be made so."""
        try:
            with torch.device("meta"):
                return self.arguments()
        except Exception:  # what makes them looks at its data
            return self.arguments()

    def dispatched(self) -> list[dict[str, Any]]:
        """What eager PyTorch dispatches; with data where it does not run without."""
        return dispatched(self) or dispatched(self, "cpu")

    def _model_class(self) -> type[torch.nn.Module]:
        names = [f"x{i}" for i in range(nesting.slots(self.form))]
        outer = self

        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = outer.reference()

            def call(self, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
                arguments = nesting.filled(outer.form, iter(given))
                return tuple(nesting.tensors(self.inner(*arguments)))

        space: dict[str, Any] = {}
        listed = ", ".join(names)
        # Names of its own for each tensor: captured graphs call their inputs by them.
        exec(f"def forward(self, {listed}): return self.call({listed})", space)
        Model.forward = space["forward"]
        return Model
