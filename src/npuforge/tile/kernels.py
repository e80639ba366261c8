# SPDX-License-Identifier: Apache-2.0
"""Second pass, kernel side: a kernel function as typed statements, for one launch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from npuforge import dtypes
from npuforge.tile import forms, ops, views
from npuforge.tile.expr import Const, Expr, Program, Shape, Type, Var, walk
from npuforge.tile.facts import Fact, Facts
from npuforge.tile.ir import (
    Atomic,
    Buffer,
    For,
    If,
    Kernel,
    Let,
    Load,
    LoadScalar,
    Parameter,
    Pointer,
    PointerParameter,
    ReadScalar,
    Stage,
    StageKind,
    Stmt,
    Store,
    Tensor,
    View,
)
from npuforge.tile.scope import Refused, Scope
from npuforge.tile.source import Findings, Span

_SCALAR_READS = ("extract_scalar", "load_scalar")
_FULL_DTYPES = ("bool", "bfloat16", "float16", "float32", "int8", "int16", "int32", "int64")
ELEMENT_TYPES = (*_FULL_DTYPES, "uint8", "uint16", "uint32", "uint64")


def typed_kernel(
    function: ast.FunctionDef,
    parameters: Sequence[Parameter],
    host_facts: Facts,
    constants: Mapping[str, Const],
    findings: Findings,
) -> Kernel:
    """The kernel with the parameters of one launch."""
    scope = Scope(findings, Facts(chip=host_facts.chip), constants, in_kernel=True)
    for argument in function.args.args:
        scope.forget(argument.arg)
    for parameter in parameters:
        _bind(parameter, function, host_facts, scope)
    typist = _KernelTypist(scope)
    doc = ast.get_docstring(function) or ""
    body = function.body[1:] if doc else function.body
    statements = typist.block(body, None, top=True)
    return Kernel(
        function.name,
        tuple(parameters),
        tuple(typist.buffers),
        statements,
        doc,
        Span.of(function),
        scope.facts,
    )


def _bind(parameter: Parameter, function: ast.FunctionDef, host_facts: Facts, scope: Scope) -> None:
    try:
        if isinstance(parameter, PointerParameter):
            tensor = replace(parameter.tensor, name=parameter.name)
            scope.declare(parameter.name, tensor, function)
            return
        variable = scope.assign(parameter.name, parameter.type, function)
        if parameter.type is Type.INT:
            value = parameter.value
            known = Fact(
                host_facts.bounds(value),
                host_facts.divisor(host_facts.expand(value)),
                value if isinstance(value, Const) else None,
            )
            scope.facts.known[variable.name, variable.version] = known
    except Refused:
        scope.forget(parameter.name)


def element_type(node: ast.expr, scope: Scope) -> dtypes.DType:
    """`tl.float32` and its like."""
    match node:
        case ast.Attribute(ast.Name("tl"), name) if name in ELEMENT_TYPES:
            return dtypes.find(name)
        case _:
            raise scope.refuse(
                "TL-04",
                node,
                f"{ast.unparse(node)} is not an element type",
                f"one of {', '.join('tl.' + name for name in ELEMENT_TYPES)}",
            )


class _KernelTypist:
    """Turns statements of one kernel into typed ones."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.buffers: list[Buffer] = []

    def block(
        self, body: Iterable[ast.stmt], stage: StageKind | None, *, top: bool = False
    ) -> tuple[Stmt, ...]:
        """Type each statement; one that is wrong is noted and left out."""
        typed: list[Stmt] = []
        for node in body:
            try:
                typed += self._statement(node, stage, top)
            except Refused:
                self._recover(node, stage)
        return tuple(typed)

    def _recover(self, node: ast.stmt, stage: StageKind | None) -> None:
        """One error is one finding: what the statement would have named is not missed later.

        Loops and conditions are read inside, although their heads are wrong.
        """
        before = self.scope.snapshot()
        if isinstance(node, ast.For | ast.If):
            for name in _assigned([node]):
                self.scope.forget(name)
            for body in (node.body, node.orelse):
                self.block(body, stage)
                self.scope.names = dict(before)
        for name in _assigned([node]):
            self.scope.forget(name)

    def _statement(self, node: ast.stmt, stage: StageKind | None, top: bool) -> list[Stmt]:
        match node:
            case ast.Pass():
                return []
            case ast.Expr(ast.Constant(str())):
                return []
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name("tl"), called)) as c):
                if called.startswith("alloc_"):
                    self._alloc(name, called, c, top)
                    return []
                if called in _SCALAR_READS:
                    return [self._scalar_read(name, called, c, stage)]
                return [self._let(name, c, node)]
            case ast.Assign([ast.Name(name)], value):
                return [self._let(name, value, node)]
            case ast.AugAssign(ast.Name(name) as target, op, value):
                load = ast.copy_location(ast.Name(name, ast.Load()), target)
                total = ast.copy_location(ast.BinOp(load, op, value), node)
                return [self._let(name, total, node)]
            case ast.For(ast.Name(name), ast.Call(ast.Name("range")) as rounds, body, orelse):
                if orelse:
                    raise self.scope.refuse("TL-01", node, "a loop has no else")
                return [self._loop(name, rounds, body, stage, node)]
            case ast.If(test, body, orelse):
                return [self._condition(test, body, orelse, stage, node)]
            case ast.With():
                return [self._stage(node, stage)]
            case ast.Expr(ast.Call() as call):
                return [self._call(call, stage)]
            case ast.For():
                raise self.scope.refuse(
                    "TL-01", node, "loops are of the form 'for i in range(...)'"
                )
            case _:
                raise self.scope.refuse(
                    "TL-01", node, f"{ast.unparse(node).splitlines()[0]!r} is not a statement here"
                )

    # ---- scalars --------------------------------------------------------------------------------
    def _let(self, name: str, value: ast.expr, node: ast.stmt) -> Let:
        expr = self.scope.scalar(value)
        variable = self.scope.assign(name, expr.type, node)
        self.scope.facts.learn(name, variable.version, expr)
        return Let(name, variable.version, expr, Span.of(node))

    def _scalar_read(
        self, name: str, called: str, call: ast.Call, stage: StageKind | None
    ) -> ReadScalar | LoadScalar:
        wanted: StageKind = "compute" if called == "extract_scalar" else "copyin"
        self._demand_stage(call, f"tl.{called}", stage, wanted)
        if call.keywords or not call.args:
            raise self.scope.refuse("TL-04", call, f"tl.{called} takes a place and no keywords")
        span = Span.of(call)
        if called == "load_scalar":
            if len(call.args) != 1:
                raise self.scope.refuse("TL-04", call, "tl.load_scalar takes one pointer")
            pointer = views.pointer(call.args[0], self.scope)
            type_ = self._scalar_type(pointer.dtype, call)
            variable = self.scope.assign(name, type_, call)
            return LoadScalar(name, variable.version, type_, pointer, span)
        view = views.element(call.args[0], call.args[1:], self.scope)
        if view.buffer.dtype is None:
            raise self.scope.refuse("TL-07", call, "a mask has no elements to extract")
        type_ = self._scalar_type(view.buffer.dtype, call)
        variable = self.scope.assign(name, type_, call)
        return ReadScalar(name, variable.version, type_, view, span)

    def _scalar_type(self, dtype: dtypes.DType, node: ast.AST) -> Type:
        if dtype.name == "bfloat16":
            raise self.scope.refuse(
                "TL-09", node, "no scalar of type bfloat16", "cast the tile to float32 first"
            )
        return Type.FLOAT if dtype.kind == "float" else Type.INT

    # ---- structure ------------------------------------------------------------------------------
    def _loop(
        self,
        name: str,
        rounds: ast.Call,
        body: list[ast.stmt],
        stage: StageKind | None,
        node: ast.stmt,
    ) -> For:
        if rounds.keywords or not 1 <= len(rounds.args) <= 3:
            raise self.scope.refuse("TL-04", rounds, "range takes one to three numbers")
        numbers = [self.scope.integer(arg) for arg in rounds.args]
        start: Expr = Const(0) if len(numbers) == 1 else numbers[0]
        stop = numbers[0] if len(numbers) == 1 else numbers[1]
        step = numbers[2] if len(numbers) == 3 else Const(1)
        if not isinstance(step, Const) or step.value < 1:
            raise self.scope.refuse("TL-05", rounds, "the step of a loop is a positive literal")
        before = self.scope.snapshot()
        if name in before or name in _assigned(body):
            raise self.scope.refuse(
                "TL-05", node, f"the counter {name!r} has another value before or in the loop",
                "give the counter a name of its own",
            )  # fmt: skip
        carried = self._renew(_assigned(body), before, node)
        counter = self.scope.assign(name, Type.INT, node)
        self.scope.facts.learn_counter(name, counter.version, start, stop, int(step.value))
        statements = self.block(body, stage)
        self._leave(before, carried)
        return For(
            name, counter.version, start, stop, int(step.value), statements, Span.of(node),
            tuple((variable.name, variable.version) for variable in carried),
        )  # fmt: skip

    def _renew(self, assigned: set[str], before: Mapping[str, object], node: ast.stmt) -> list[Var]:
        """New versions for scalars that a loop changes: nothing is known of them at its head."""
        carried = []
        for name in sorted(assigned):
            old = before.get(name)
            if isinstance(old, Var):
                carried.append(self.scope.assign(name, old.type, node))
        return carried

    def _leave(self, before: Mapping[str, object], current: list[Var]) -> None:
        """Back to the names from before the block, with their current versions."""
        for name in list(self.scope.names):
            if name not in before and isinstance(self.scope.names[name], Var):
                del self.scope.names[name]
        for variable in current:
            self.scope.names[variable.name] = variable

    def _condition(
        self,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        stage: StageKind | None,
        node: ast.stmt,
    ) -> If:
        condition = self.scope.condition(test)
        before = self.scope.snapshot()
        then = self.block(body, stage)
        after_then = self.scope.snapshot()
        self.scope.names = dict(before)
        other = self.block(orelse, stage)
        after_else = self.scope.snapshot()
        joined: list[tuple[str, int]] = []
        self.scope.names = {
            name: binding for name, binding in after_then.items() if name in after_else
        }
        for name, binding in list(self.scope.names.items()):
            second = after_else[name]
            if not isinstance(binding, Var) or not isinstance(second, Var) or binding == second:
                continue
            if binding.type is not second.type:
                self.scope.findings.add("TL-05", node, f"{name!r} has two types after the branches")
                continue
            variable = self.scope.assign(name, binding.type, node)
            joined.append((name, variable.version))
        return If(condition, then, other, Span.of(node), tuple(joined))

    def _stage(self, node: ast.With, outer: StageKind | None) -> Stage:
        if outer is not None:
            raise self.scope.refuse("TL-06", node, f"a block inside a {outer} block")
        if len(node.items) == 1 and node.items[0].optional_vars is None:
            match node.items[0].context_expr:
                case ast.Call(ast.Attribute(ast.Name("tl"), kind), [], []):
                    if kind in ("copyin", "compute", "copyout"):
                        stage: StageKind = kind  # type: ignore[assignment]
                        return Stage(stage, self.block(node.body, stage), Span.of(node))
                case _:
                    pass
        raise self.scope.refuse(
            "TL-06",
            node,
            f"'with {ast.unparse(node.items[0])}' is no block of the language",
            "blocks are with tl.copyin():, with tl.compute(): and with tl.copyout():",
        )

    def _demand_stage(
        self, node: ast.AST, what: str, stage: StageKind | None, wanted: StageKind
    ) -> None:
        if stage != wanted:
            where = f"in a {stage} block" if stage else "outside any block"
            raise self.scope.refuse(
                "TL-06", node, f"{what} {where}", f"put it into 'with tl.{wanted}():'"
            )

    # ---- buffers --------------------------------------------------------------------------------
    def _alloc(self, name: str, called: str, call: ast.Call, top: bool) -> None:
        if not top:
            raise self.scope.refuse(
                "TL-15", call, f"{name!r} is allocated inside a block", "allocate before the loops"
            )
        if called not in ("alloc_ub", "alloc_mask"):
            raise self.scope.refuse(
                "TL-04", call, f"tl.{called} is not available", "use tl.alloc_ub or tl.alloc_mask"
            )
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        depth = self._depth(keywords.pop("buffers", None))
        args = list(call.args)
        dtype: dtypes.DType | None = None
        if called == "alloc_ub":
            type_node = keywords.pop("dtype", None) or (args.pop(1) if len(args) == 2 else None)
            if type_node is None:
                raise self.scope.refuse(
                    "TL-04", call, "no element type", "write tl.alloc_ub(shape, dtype=tl.float32)"
                )
            dtype = element_type(type_node, self.scope)
        if len(args) != 1 or keywords:
            raise self.scope.refuse("TL-04", call, f"tl.{called} takes a shape")
        dims = args[0].elts if isinstance(args[0], ast.Tuple) else [args[0]]
        if not 1 <= len(dims) <= 3:
            raise self.scope.refuse("TL-15", call, "a buffer has one to three dimensions")
        if dtype is None and len(dims) > 2:
            raise self.scope.refuse("TL-15", call, "a mask has one or two dimensions")
        shape = tuple(self._extent(dim, name) for dim in dims)
        buffer = Buffer(name, dtype, shape, depth, Span.of(call))
        self.scope.declare(name, buffer, call)
        self.buffers.append(buffer)

    def _depth(self, node: ast.expr | None) -> int | None:
        if node is None:
            return None
        if isinstance(node, ast.Constant) and node.value in (1, 2, 3, 4) and node.value is not True:
            return int(str(node.value))
        raise self.scope.refuse("TL-04", node, "buffers is 1 to 4")

    def _extent(self, node: ast.expr, name: str) -> Expr:
        extent = self.scope.facts.expand(self.scope.integer(node))
        parameters = {
            binding.name
            for binding in self.scope.names.values()
            if isinstance(binding, Var) and binding.version == 0
        }
        for leaf in walk(extent):
            if isinstance(leaf, Program | Shape) or (
                isinstance(leaf, Var) and (leaf.name not in parameters or leaf.version)
            ):
                raise self.scope.refuse(
                    "TL-15",
                    node,
                    f"the size of {name!r} is not known when the kernel starts",
                    "sizes come from parameters and constants only",
                )
        high = self.scope.facts.bounds(extent)[1]
        if high is not None and high < 1:
            raise self.scope.refuse("TL-15", node, f"{name!r} has an extent of {high}")
        return extent

    # ---- calls ----------------------------------------------------------------------------------
    def _call(self, call: ast.Call, stage: StageKind | None) -> Stmt:
        match call.func:
            case ast.Attribute(ast.Name("tl"), "load"):
                self._demand_stage(call, "tl.load", stage, "copyin")
                return self._load(call)
            case ast.Attribute(ast.Name("tl"), "store"):
                self._demand_stage(call, "tl.store", stage, "copyout")
                return self._store(call)
            case ast.Attribute(ast.Name("tl"), name) if name in ops.table():
                self._demand_stage(call, f"tl.{name}", stage, "compute")
                return forms.typed_op(ops.table()[name], call, self.scope)
            case ast.Attribute(ast.Name("tl"), name) if name in _SCALAR_READS:
                raise self.scope.refuse("TL-04", call, f"the result of tl.{name} is not used")
            case _:
                raise self.scope.refuse(
                    "TL-04",
                    call,
                    f"{ast.unparse(call.func)} is not an operation",
                    _nearest(ast.unparse(call.func)),
                )

    def _load(self, call: ast.Call) -> Load:
        pointer, view, strides = self._move(call, "load", ("stride", "again"))
        again = False
        for keyword in call.keywords:
            if keyword.arg == "again":
                match keyword.value:
                    case ast.Constant(bool(value)):
                        again = value
                    case other:
                        raise self.scope.refuse("TL-04", other, "again is True or False")
        return Load(view, pointer, strides, Span.of(call), again)

    def _store(self, call: ast.Call) -> Store:
        pointer, view, strides = self._move(call, "store", ("stride", "atomic"))
        atomic: Atomic | None = None
        for keyword in call.keywords:
            if keyword.arg == "atomic":
                value = keyword.value
                if not isinstance(value, ast.Constant) or value.value not in ("add", "max", "min"):
                    raise self.scope.refuse("TL-04", value, 'atomic is "add", "max" or "min"')
                atomic = value.value  # type: ignore[assignment]
        if atomic and pointer.dtype.name not in _ATOMIC_TYPES:
            raise self.scope.refuse(
                "TL-09", call, f"no atomic store of {pointer.dtype.name}",
                f"one of {', '.join(_ATOMIC_TYPES)}",
            )  # fmt: skip
        target = self.scope.names[pointer.tensor]
        if isinstance(target, Tensor) and target.role == "in":
            raise self.scope.refuse("TL-19", call, f"{pointer.tensor!r} is an input")
        return Store(pointer, view, strides, atomic, Span.of(call))

    def _move(
        self, call: ast.Call, name: str, keywords: tuple[str, ...]
    ) -> tuple[Pointer, View, tuple[Expr, ...]]:
        if len(call.args) != 2 or any(keyword.arg not in keywords for keyword in call.keywords):
            raise self.scope.refuse(
                "TL-04", call, f"tl.{name} takes a pointer and a view",
                f"write tl.{name}(x + offset, buf[:n]); keywords: {', '.join(keywords)}",
            )  # fmt: skip
        pointer = views.pointer(call.args[0], self.scope)
        view = views.view(call.args[1], self.scope)
        if view.buffer.dtype is None or view.buffer.dtype != pointer.dtype:
            held = "a mask" if view.buffer.dtype is None else view.buffer.dtype.name
            raise self.scope.refuse(
                "TL-07", call, f"{pointer.tensor!r} is {pointer.dtype.name}, the buffer {held}",
                "use a buffer of the tensor's dtype and tl.cast in a compute block",
            )  # fmt: skip
        if any(axis.dim is None for axis in view.axes) or view.rank == 0:
            raise self.scope.refuse("TL-16", call, "only whole stretches of a buffer are moved")
        return pointer, view, self._strides(call, view)

    def _strides(self, call: ast.Call, view: View) -> tuple[Expr, ...]:
        given = next((word.value for word in call.keywords if word.arg == "stride"), None)
        if given is None:
            if view.rank == 1:
                return ()
            raise self.scope.refuse(
                "TL-04", call, f"a move of {view.rank} dimensions needs stride=",
                "stride is the number of elements between rows in global memory",
            )  # fmt: skip
        nodes = given.elts if isinstance(given, ast.Tuple) else [given]
        if len(nodes) != view.rank - 1:
            raise self.scope.refuse(
                "TL-04", given, f"{len(nodes)} strides for {view.rank} dimensions",
                "one stride for each dimension but the last, which is contiguous",
            )  # fmt: skip
        return tuple(self.scope.integer(node) for node in nodes)


_ATOMIC_TYPES = ("float32", "float16", "bfloat16", "int16", "int32", "int8")


def _assigned(body: Iterable[ast.stmt]) -> set[str]:
    """Scalars that statements assign, at any depth."""
    found: set[str] = set()
    for statement in body:
        match statement:
            case ast.Assign([ast.Name(name)]) | ast.AugAssign(ast.Name(name)):
                found.add(name)
            case ast.For(ast.Name(name), _, inner):
                found |= {name} | _assigned(inner)
            case ast.With(_, inner):
                found |= _assigned(inner)
            case ast.If(_, then, orelse):
                found |= _assigned(then) | _assigned(orelse)
            case _:
                pass
    return found


def _nearest(name: str) -> str:
    """Advice for an unknown operation: known ones that look like it."""
    import difflib  # noqa: PLC0415  # only when a program is wrong

    wanted = name.removeprefix("tl.")
    close = difflib.get_close_matches(wanted, list(ops.table()), n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(f"tl.{item}" for item in close) + "?"
    return "see docs/tile.md for the operations"
