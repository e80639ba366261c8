# SPDX-License-Identifier: Apache-2.0
"""An operator as a module in KernelBench's form: `Model`, `get_inputs`, `get_init_inputs`."""

from __future__ import annotations

from benchmarks.operators.facts import Source
from benchmarks.operators.row import Input, Operator

_FORM = '''\
"""{name}: {package} {version}, as drawn from {drawn_from}."""

{imports}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
{init}

    def forward(self, {parameters}):
{forward}


def get_inputs():
    return [
{inputs}
    ]


def get_init_inputs():
    return []
'''


def module_text(operator: Operator) -> str:
    """Return the source of the module."""
    names = [one.name for one in operator.inputs]
    source = Source(names)
    source.imports["import torch"] = None
    init, forward = _BODIES[operator.kind](operator, source)
    return _FORM.format(
        name=operator.name,
        package=operator.package,
        version=operator.version,
        drawn_from=operator.drawn_from,
        imports="\n".join(source.imports),
        init="\n".join(f"        {line}" for line in init) or "        pass",
        parameters=", ".join(names),
        forward="\n".join(f"        {line}" for line in forward),
        inputs="\n".join(f"        {_values(one)}," for one in operator.inputs),
    )


def _made(operator: Operator, source: Source) -> str:
    call = operator.init
    assert call is not None
    return f"{source.name(operator.target)}({source.arguments(call.args, call.kwargs)})"


def _module(operator: Operator, source: Source) -> tuple[list[str], list[str]]:
    made = _made(operator, source)
    lines = [f"self.operator = {made}.eval()"]
    if operator.dtype != "float32":
        lines = [
            "usual = torch.get_default_dtype()",
            f"torch.set_default_dtype(torch.{operator.dtype})",
            *lines,
            "torch.set_default_dtype(usual)",
        ]
    return lines, _returned("self.operator", operator, source)


def _callable(operator: Operator, source: Source) -> tuple[list[str], list[str]]:
    made = f"self.operator = {_made(operator, source)}"
    return [made], _returned("self.operator", operator, source)


def _function(operator: Operator, source: Source) -> tuple[list[str], list[str]]:
    return [], _returned(source.name(operator.target), operator, source)


def _scheduler(operator: Operator, source: Source) -> tuple[list[str], list[str]]:
    """Step ten of fifty; each call starts from a copy, for a scheduler counts its steps."""
    source.imports["import copy"] = None
    init = [
        f"self.operator = {_made(operator, source)}",
        "self.operator.set_timesteps(50)",
        "self.operator.set_begin_index(10)",
    ]
    given = source.arguments(operator.call.args, operator.call.kwargs)
    forward = [
        "scheduler = copy.copy(self.operator)",
        f"noise, sample = {given}",
        "step = scheduler.step(noise, scheduler.timesteps[10], sample, return_dict=False)",
        "return step[0]",
    ]
    return init, forward


def _optimizer(operator: Operator, source: Source) -> tuple[list[str], list[str]]:
    """A later step: the state goes in with the weight and its gradient."""
    weight, gradient, *state = (one.name for one in operator.inputs)
    assert operator.init is not None
    given = source.arguments([[{"tensor": 0}]], operator.init.kwargs)
    forward = [
        f"optimizer = {source.name(operator.target)}({given})",
        f"{weight}.grad = {gradient}",
        f"optimizer.state[{weight}] = {source.text(operator.call.args[0])}",
        "optimizer.step()",
        f"return {', '.join([weight, *state])}",
    ]
    return [], forward


_BODIES = {
    "module": _module,
    "callable": _callable,
    "function": _function,
    "scheduler": _scheduler,
    "optimizer": _optimizer,
}


def _returned(called: str, operator: Operator, source: Source) -> list[str]:
    given = source.arguments(operator.call.args, operator.call.kwargs)
    return [f"return {called}({given})"]


def _values(one: Input) -> str:
    kind = f"dtype=torch.{one.dtype}"
    match one.values.split():
        case ["normal"]:
            return f"torch.randn({one.shape}, {kind})"
        case ["unit"]:
            return f"torch.rand({one.shape}, {kind})"
        case ["bits"] if one.dtype == "bool":
            return f"torch.randint(0, 2, {one.shape}).bool()"
        case ["bits"]:
            return f"torch.randint(0, 2, {one.shape}, {kind})"
        case ["below", bound]:
            return f"torch.randint(0, {bound}, {one.shape}, {kind})"
    raise ValueError(f"{one.name}: no values {one.values!r}")
