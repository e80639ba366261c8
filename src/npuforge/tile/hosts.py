# SPDX-License-Identifier: Apache-2.0
"""Second pass, host side: the host function as typed statements, with its kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from npuforge.tile.expr import Const, Expr, Shape, Type, Var, fold
from npuforge.tile.facts import Fact, Facts
from npuforge.tile.ir import (
    Attribute,
    Host,
    HostIf,
    HostLet,
    HostStmt,
    Launch,
    Parameter,
    PointerParameter,
    Require,
    Reserve,
    Role,
    SameShape,
    ScalarParameter,
    Tensor,
    TileProgram,
)
from npuforge.tile.kernels import element_type, typed_kernel
from npuforge.tile.parse import ParsedProgram
from npuforge.tile.scope import Refused, Scope
from npuforge.tile.source import Findings, Span

_ROLES: Mapping[str, Role] = {"input": "in", "output": "out", "inout": "inout"}
_ATTRIBUTES: Mapping[str, Type] = {"float": Type.FLOAT, "int": Type.INT, "bool": Type.BOOL}


def typed_program(parsed: ParsedProgram, chip: Mapping[str, int]) -> TileProgram:
    """The whole program, typed; raises `TileError` with everything that is wrong."""
    findings = Findings()
    host, launched = typed_host(parsed, chip, findings)
    for name, function in parsed.kernels.items():
        if name not in launched:
            findings.add("TL-02", function, f"kernel {name!r} is never launched")
    findings.stop_if_any()
    return TileProgram(host.name, host, parsed.source)


def typed_host(
    parsed: ParsedProgram, chip: Mapping[str, int], findings: Findings
) -> tuple[Host, set[str]]:
    """The host function as far as it can be typed, and the kernels it launches."""
    typist = _HostTypist(parsed, findings, chip)
    return typist.host(), typist.launched


@dataclass(slots=True)
class _HostTypist:
    parsed: ParsedProgram
    findings: Findings
    chip: Mapping[str, int]
    scope: Scope = field(init=False)
    launched: set[str] = field(default_factory=set)
    ranks: dict[str, int] = field(default_factory=dict)
    workspaces: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        facts = Facts(chip=self.chip)
        self.scope = Scope(self.findings, facts, {}, in_kernel=False)
        self.scope.constants = self._constants()

    def _constants(self) -> dict[str, Const]:
        found: dict[str, Const] = {}
        for name, node in self.parsed.constants.items():
            self.scope.constants = found
            try:
                value = self.scope.scalar(node)
            except Refused:
                self.scope.forget(name)
                continue
            if isinstance(value, Const):
                found[name] = value
            else:
                self.findings.add("TL-05", node, f"{name!r} is not a constant")
        return found

    def host(self) -> Host:
        function = self.parsed.host
        tensors: list[Tensor] = []
        attributes: list[Attribute] = []
        for argument in function.args.args:
            try:
                parameter = self._parameter(argument)
            except Refused:
                self.scope.forget(argument.arg)
                continue
            if isinstance(parameter, Tensor):
                tensors.append(parameter)
            else:
                attributes.append(parameter)
        if not any(tensor.role != "in" for tensor in tensors):
            self.findings.add("TL-02", function, "the host function has no output")
        doc = ast.get_docstring(function) or ""
        body = self.block(function.body[1:] if doc else function.body)
        return Host(
            function.name.removesuffix("_host"),
            tuple(tensors),
            tuple(attributes),
            tuple(self.workspaces),
            dict(self.ranks),
            body,
            doc,
            Span.of(function),
            self.scope.facts,
        )

    # ---- parameters -----------------------------------------------------------------------------
    def _parameter(self, argument: ast.arg) -> Tensor | Attribute:
        match argument.annotation:
            case ast.Call(ast.Attribute(ast.Name("tl"), kind), args, []) if kind in _ROLES and args:
                return self._tensor(argument, _ROLES[kind], args)
            case ast.Call(ast.Attribute(ast.Name("tl"), "attr"), [ast.Name(type_), *rest], []):
                if type_ in _ATTRIBUTES and len(rest) <= 1:
                    return self._attribute(argument, _ATTRIBUTES[type_], rest)
            case _:
                pass
        raise self.scope.refuse(
            "TL-02",
            argument,
            f"parameter {argument.arg!r} is not described",
            "annotate it: x: tl.input(tl.float32), y: tl.output(tl.float32, x.shape), "
            "eps: tl.attr(float, 1e-5)",
        )

    def _tensor(self, argument: ast.arg, role: Role, args: list[ast.expr]) -> Tensor:
        dtype = element_type(args[0], self.scope)
        shape: tuple[Expr, ...] | SameShape | None = None
        if role == "out":
            if len(args) != 2:
                raise self.scope.refuse(
                    "TL-02", argument, f"output {argument.arg!r} has no shape",
                    "write tl.output(tl.float32, x.shape) or tl.output(tl.float32, (rows, cols))",
                )  # fmt: skip
            shape = self._shape(args[1])
        elif len(args) != 1:
            raise self.scope.refuse("TL-04", argument, "inputs bring their own shape")
        tensor = Tensor(argument.arg, dtype, role, shape, Span.of(argument))
        self.scope.declare(argument.arg, tensor, argument)
        return tensor

    def _shape(self, node: ast.expr) -> tuple[Expr, ...] | SameShape:
        match node:
            case ast.Attribute(ast.Name(name), "shape") if isinstance(
                self.scope.names.get(name), Tensor
            ):
                return SameShape(name)
            case ast.Tuple(items):
                return tuple(self.scope.integer(item) for item in items)
            case _:
                return (self.scope.integer(node),)

    def _attribute(self, argument: ast.arg, type_: Type, rest: list[ast.expr]) -> Attribute:
        default: int | float | bool | None = None
        if rest:
            value = self.scope.scalar(rest[0])
            if type_ is Type.FLOAT and value.type is Type.INT and isinstance(value, Const):
                value = Const(float(value.value))
            if not isinstance(value, Const) or value.type is not type_:
                raise self.scope.refuse("TL-05", argument, f"the default is not {type_.value}")
            default = value.value
        self.scope.assign(argument.arg, type_, argument)
        return Attribute(argument.arg, type_, default, Span.of(argument))

    # ---- statements -----------------------------------------------------------------------------
    def block(self, body: Iterable[ast.stmt]) -> tuple[HostStmt, ...]:
        typed: list[HostStmt] = []
        for node in body:
            try:
                typed += self._statement(node)
            except Refused:
                self._recover(node)
        return tuple(typed)

    def _recover(self, node: ast.stmt) -> None:
        """What a wrong statement would have named is not missed later; branches are read."""
        if isinstance(node, ast.If):
            before = self.scope.snapshot()
            for branch in (node.body, node.orelse):
                self.block(branch)
                self.scope.names = dict(before)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self.scope.forget(inner.id)

    def _statement(self, node: ast.stmt) -> list[HostStmt]:
        match node:
            case ast.Pass():
                return []
            case ast.Assign([ast.Tuple(targets)], ast.Attribute(ast.Name(tensor), "shape")):
                return self._unpack(targets, tensor, node)
            case ast.Assign(
                [ast.Name(name)], ast.Call(ast.Attribute(ast.Name("tl"), "workspace")) as call
            ):
                return [self._workspace(name, call)]
            case ast.Assign([ast.Name(name)], value):
                return [self._let(name, value, node)]
            case ast.AugAssign(ast.Name(name) as target, op, value):
                load = ast.copy_location(ast.Name(name, ast.Load()), target)
                return [self._let(name, ast.copy_location(ast.BinOp(load, op, value), node), node)]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name("tl"), "require")) as call):
                return [self._require(call)]
            case ast.Expr(ast.Call(ast.Subscript(ast.Name(kernel), cores)) as call):
                return [self._launch(kernel, cores, call)]
            case ast.If(test, body, orelse):
                return [self._choice(test, body, orelse, node)]
            case ast.Expr(ast.Constant(str())):
                return []
            case _:
                raise self.scope.refuse(
                    "TL-02",
                    node,
                    f"{ast.unparse(node).splitlines()[0]!r} is not a statement of a host function",
                    "the host function computes numbers and launches: kernel[n_cores](x, y, n)",
                )

    def _unpack(self, targets: list[ast.expr], tensor: str, node: ast.stmt) -> list[HostStmt]:
        known = self.scope.names.get(tensor)
        if not isinstance(known, Tensor) or known.role == "workspace":
            raise self.scope.refuse("TL-03", node, f"no tensor with a shape is called {tensor!r}")
        if self.ranks.setdefault(tensor, len(targets)) != len(targets):
            raise self.scope.refuse("TL-05", node, f"{tensor!r} has another number of dimensions")
        lets: list[HostStmt] = []
        for axis, target in enumerate(targets):
            if not isinstance(target, ast.Name):
                raise self.scope.refuse("TL-01", target, "a shape unpacks into plain names")
            value = Shape(tensor, axis, Span.of(target))
            if target.id == "_":
                continue
            variable = self.scope.assign(target.id, Type.INT, node)
            self.scope.facts.learn(target.id, variable.version, value)
            lets.append(HostLet(target.id, variable.version, value, Span.of(node)))
        return lets

    def _workspace(self, name: str, call: ast.Call) -> Reserve:
        if len(call.args) != 2 or call.keywords:
            raise self.scope.refuse(
                "TL-04", call, "a workspace has a shape and an element type",
                "write tl.workspace((n_cores, 64), tl.float32)",
            )  # fmt: skip
        shape = self._shape(call.args[0])
        dtype = element_type(call.args[1], self.scope)
        tensor = Tensor(name, dtype, "workspace", shape, Span.of(call))
        self.scope.declare(name, tensor, call)
        self.workspaces.append(tensor)
        return Reserve(tensor, Span.of(call))

    def _let(self, name: str, value: ast.expr, node: ast.stmt) -> HostLet:
        expr = self.scope.scalar(value)
        variable = self.scope.assign(name, expr.type, node)
        self.scope.facts.learn(name, variable.version, expr)
        comments: list[str] = []
        line = node.lineno - 1
        while line in self.parsed.comments:
            comments.insert(0, self.parsed.comments[line])
            line -= 1
        beside = self.parsed.comments.get(node.end_lineno or node.lineno)
        if beside:
            comments.append(beside)
        return HostLet(name, variable.version, expr, Span.of(node), "\n".join(comments))

    def _require(self, call: ast.Call) -> Require:
        match call.args:
            case [condition, ast.Constant(str(message))]:
                typed = self.scope.condition(condition)
                self.scope.facts.assume(typed)
                return Require(typed, " ".join(message.split()), Span.of(call))
            case _:
                raise self.scope.refuse("TL-04", call, "tl.require takes a condition and a message")

    def _choice(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], node: ast.stmt
    ) -> HostIf:
        condition = self.scope.condition(test)
        before = self.scope.snapshot()
        assumed = dict(self.scope.facts.assumed)
        self.scope.facts.assume(condition)
        then = self.block(body)
        self.scope.facts.assumed = dict(assumed)
        after_then = self.scope.snapshot()
        self.scope.names = dict(before)
        other = self.block(orelse)
        self.scope.facts.assumed = assumed
        after_else = self.scope.snapshot()
        self.scope.names = {
            name: binding for name, binding in after_then.items() if name in after_else
        }
        joined: list[tuple[str, int]] = []
        for name, binding in list(self.scope.names.items()):
            second = after_else[name]
            if isinstance(binding, Var) and isinstance(second, Var) and binding != second:
                if binding.type is not second.type:
                    self.findings.add("TL-05", node, f"{name!r} has two types after the branches")
                    continue
                variable = self.scope.assign(name, binding.type, node)
                self._join_facts(variable, binding, second)
                joined.append((name, variable.version))
        return HostIf(condition, then, other, Span.of(node), tuple(joined))

    def _join_facts(self, joined: Var, first: Var, second: Var) -> None:
        """After a branch a number lies within the bounds of both."""
        facts = self.scope.facts
        (a, b), (c, d) = facts.bounds(first), facts.bounds(second)
        low = None if a is None or c is None else min(a, c)
        high = None if b is None or d is None else max(b, d)
        facts.known[joined.name, joined.version] = Fact((low, high))

    def _launch(self, name: str, cores: ast.expr, call: ast.Call) -> Launch:
        function = self.parsed.kernels.get(name)
        if function is None:
            raise self.scope.refuse("TL-03", call, f"no kernel is called {name!r}")
        self.launched.add(name)
        names = [argument.arg for argument in function.args.args]
        if call.keywords or len(call.args) != len(names):
            self.findings.add(
                "TL-18",
                call,
                f"{name!r} takes {len(names)} arguments, not {len(call.args)}",
                f"pass {', '.join(names)} in this order",
            )
        # The kernel is read even where the launch is wrong, for its own errors.
        parameters: list[Parameter] = []
        for parameter, node in zip(names, call.args, strict=False):
            try:
                parameters.append(self._argument(parameter, node))
            except Refused:
                continue
        kernel = typed_kernel(
            function, parameters, self.scope.facts, self.scope.constants, self.findings
        )
        return Launch(kernel, fold(self.scope.integer(cores)), Span.of(call))

    def _argument(self, parameter: str, node: ast.expr) -> Parameter:
        binding = self.scope.names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(binding, Tensor):
            return PointerParameter(parameter, binding)
        value = self.scope.scalar(node)
        return ScalarParameter(parameter, value.type, value)
