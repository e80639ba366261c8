# SPDX-License-Identifier: Apache-2.0
"""Cheats that show in the text of an answer's Python.

What runs is the module's own statements, `ModelNew` and whatever is called from there; functions
and classes that nothing calls are not looked at (an answer may carry the reference's class, to make
its parameters by it). In what `__init__` calls anything may be computed; in what `forward` calls
nothing may.

A value counts as a tensor if it is an argument of `forward` that is not annotated as a number, a
parameter or buffer of the module, what the extension returns, or made from those by views.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from npuforge import syntax
from npuforge.bench.attempt import Cheat
from npuforge.bench.cheats.kinds import cheat, once
from npuforge.bench.cheats.names import NAMES
from npuforge.untrusted.inputs import read_source

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_REFERENCE = "Model"  # what tasks call it


@dataclass(slots=True)
class PythonSource:
    """The module with the model, and files of the answer that it may import."""

    path: Path
    model_class: str
    extensions: frozenset[str]

    def cheats(self) -> list[Cheat]:
        try:
            tree = syntax.parse(read_source(self.path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []  # it does not run either
        own = {path.stem for path in self.path.parent.rglob("*.py")}
        return once(_Walk(tree, self.model_class, self.extensions, own).run())


@dataclass(slots=True)
class _Scope:
    """A piece of code: `computes` where tensors are the kernels' business."""

    computes: bool
    tensors: set[str] = field(default_factory=set)
    klass: ast.ClassDef | None = None
    methods: dict[str, _Function] = field(default_factory=dict)


class _Walk:
    def __init__(
        self, tree: ast.Module, model_class: str, extensions: frozenset[str], own: set[str]
    ) -> None:
        self.tree, self.model_class = tree, model_class
        self.extensions, self.own = extensions, own
        self.found: list[Cheat] = []
        self.aliases: dict[str, str] = {}  # name in this file -> what it stands for
        self.functions: dict[str, _Function] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.attributes: dict[str, ast.expr] = {}  # of the model -> what it was made from
        self.seen: set[tuple[int, bool, frozenset[str]]] = set()

    def run(self) -> list[Cheat]:
        for node in ast.walk(self.tree):
            self._imports(node)
        top = _Scope(computes=False)
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions[node.name] = node
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.functions[target.id] = node.value
        for node in self.tree.body:
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._statement(node, top)
        model = self.classes.get(self.model_class)
        if model is not None:
            self._model(model)
        return self.found

    # ---- the model ---------------------------------------------------------------------------
    def _model(self, model: ast.ClassDef) -> None:
        methods = self._bases(model)
        for function in methods.values():
            for node in ast.walk(function):
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        if _is_self(target):
                            assert isinstance(target, ast.Attribute)
                            self.attributes.setdefault(target.attr, node.value)
        for name, function in methods.items():
            if name in ("__init__", "extra_repr"):
                self._function(function, _Scope(computes=False, klass=model, methods=methods))
        for name in ("forward", "__call__", "__getattr__", "__getattribute__"):
            if name in methods:
                scope = _Scope(computes=True, klass=model, methods=methods)
                scope.tensors = _tensor_arguments(methods[name])
                self._function(methods[name], scope)

    def _bases(self, model: ast.ClassDef) -> dict[str, _Function]:
        """Methods by name, own classes it inherits from included."""
        methods: dict[str, _Function] = {}
        for base in model.bases:
            name = self._dotted(base)
            if name == _REFERENCE or (name is not None and name.endswith(f".{_REFERENCE}")):
                self._note("reference-model", model, f"{model.name} inherits from {name}")
            elif name in self.classes:
                methods |= self._bases(self.classes[name])
            elif name not in ("torch.nn.Module", "torch.nn.modules.Module", "object", None):
                self._note("torch-compute", model, f"{model.name} inherits from {name}")
        methods |= {
            node.name: node
            for node in model.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        return methods

    # ---- code --------------------------------------------------------------------------------
    def _function(self, function: _Function, scope: _Scope) -> bool:
        """Look at a function's code; whether it returns a tensor."""
        key = (id(function), scope.computes, frozenset(scope.tensors))
        if key in self.seen:
            return True
        self.seen.add(key)
        if isinstance(function, ast.Lambda):
            self._expression(function.body, scope)
            return self._is_tensor(function.body, scope)
        for decorator in function.decorator_list:
            self._expression(decorator, scope)
        for node in function.body:
            self._statement(node, scope)
        return any(
            isinstance(node, ast.Return)
            and node.value is not None
            and self._is_tensor(node.value, scope)
            for node in ast.walk(function)
        )

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = _Scope(scope.computes, set(scope.tensors), scope.klass, scope.methods)
            inner.tensors |= _tensor_arguments(node) if scope.computes else set()
            self._function(node, inner)
            return
        if isinstance(node, ast.Try):
            self._try(node, scope)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
            self._assignment(node, scope)
        if isinstance(node, (ast.For, ast.AsyncFor)) and self._is_tensor(node.iter, scope):
            scope.tensors |= _names(node.target)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self._statement(child, scope)
            elif isinstance(child, ast.expr):
                self._expression(child, scope)
            else:
                for inner_node in ast.iter_child_nodes(child):
                    if isinstance(inner_node, ast.stmt):
                        self._statement(inner_node, scope)
                    elif isinstance(inner_node, ast.expr):
                        self._expression(inner_node, scope)

    def _expression(self, node: ast.expr, scope: _Scope) -> None:
        for part in _parts(node):
            if isinstance(part, ast.Call):
                self._call(part, scope)
            elif isinstance(part, (ast.Attribute, ast.Name)):
                self._name(part)
            elif isinstance(part, ast.Lambda):
                inner = _Scope(scope.computes, set(scope.tensors), scope.klass, scope.methods)
                inner.tensors |= _tensor_arguments(part) if scope.computes else set()
                self._function(part, inner)
            elif scope.computes and self._is_arithmetic(part, scope):
                self._note("torch-compute", part, ast.unparse(part))

    def _try(self, node: ast.Try, scope: _Scope) -> None:
        """What is raised again is no other path."""
        silent = [
            handler
            for handler in node.handlers
            if not any(isinstance(inner, ast.Raise) for inner in ast.walk(handler))
        ]
        imports = [
            alias.name
            for inner in node.body
            if isinstance(inner, ast.Import)
            for alias in inner.names
        ]
        needed = scope.computes or self.extensions & set(imports)
        if silent and needed:
            self._note("fallback", node, "what the kernel's path raises is caught")

    def _assignment(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete, scope: _Scope
    ) -> None:
        targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
        for target in targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
                target = target.value if target.value.attr in ("__dict__", "modules") else target
            if isinstance(target, ast.Attribute) and not _is_self(target):
                owner = self._dotted(target.value)
                if owner is not None and owner.partition(".")[0] in self._modules():
                    name = f"{owner}.{target.attr}"
                    if not name.startswith(("sys.path", "torch.backends")):
                        self._note("patched", node, f"{name} is assigned")
        if (
            isinstance(node, ast.AugAssign)
            and scope.computes
            and (self._is_tensor(node.target, scope) or self._is_tensor(node.value, scope))
        ):
            self._note("torch-compute", node, ast.unparse(node))
        if isinstance(node, ast.Assign):
            is_tensor = self._is_tensor(node.value, scope)
            for target in node.targets:
                names = _names(target)
                scope.tensors = scope.tensors | names if is_tensor else scope.tensors - names

    # ---- calls and names ---------------------------------------------------------------------
    def _call(self, node: ast.Call, scope: _Scope) -> None:
        name = self._dotted(node.func)
        self._attribute_by_text(node, scope)
        if name is not None and scope.computes:
            self._torch_function(node, name)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            self._own_function(self.functions[node.func.id], node, scope)
        elif isinstance(node.func, ast.Name) and node.func.id in self.classes:
            self._own_class(self.classes[node.func.id], scope)
        elif isinstance(node.func, ast.Attribute):
            self._method(node, node.func, scope)

    def _attribute_by_text(self, node: ast.Call, scope: _Scope) -> None:
        if not isinstance(node.func, ast.Name) or node.func.id not in ("getattr", "setattr"):
            return
        if len(node.args) < 2:
            return
        owner, name = node.args[:2]
        if not isinstance(name, ast.Constant):
            self._note("hidden-code", node, f"{node.func.id} with a name made at run time")
            return
        made = ast.copy_location(ast.Attribute(owner, str(name.value), ast.Load()), node)
        if node.func.id == "getattr":
            self._name(made)
            dotted = self._dotted(made)
            if dotted is not None and scope.computes:
                self._torch_function(node, dotted)
        else:
            dotted = self._dotted(owner)
            if dotted is not None and dotted.partition(".")[0] in self._modules():
                self._note("patched", node, f"{dotted}.{made.attr} is assigned")

    def _torch_function(self, node: ast.AST, name: str) -> None:
        head, _, rest = name.partition(".")
        if head not in ("torch", "einops", "torch_npu") or self._kind(name) is not None:
            return
        if rest.startswith("ops."):
            if rest.split(".")[1] in ("aten", "prims", "prim", "quantized", "npu"):
                self._note("torch-compute", node, name)
        elif head != "torch" or not (
            rest in NAMES.python.torch or rest.startswith(("nn.Module", "nn.Parameter"))
        ):
            self._note("torch-compute", node, name)

    def _own_function(self, function: _Function, node: ast.Call, scope: _Scope) -> None:
        given = {
            argument.arg
            for argument, value in zip(_arguments(function), node.args, strict=False)
            if self._is_tensor(value, scope)
        }
        given |= {
            keyword.arg
            for keyword in node.keywords
            if keyword.arg is not None and self._is_tensor(keyword.value, scope)
        }
        self._function(function, _Scope(scope.computes, given))

    def _own_class(self, made: ast.ClassDef, scope: _Scope) -> None:
        for node in made.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                self._function(node, _Scope(computes=False, klass=made))
        if scope.computes:
            self._forward_of(made)

    def _forward_of(self, made: ast.ClassDef) -> None:
        if made.name == _REFERENCE:
            self._note("reference-model", made, f"calls {made.name}")
            return
        methods = self._bases(made)
        for name in ("forward", "__call__"):
            if name in methods:
                scope = _Scope(computes=True, klass=made, methods=methods)
                scope.tensors = _tensor_arguments(methods[name])
                self._function(methods[name], scope)

    def _method(self, node: ast.Call, func: ast.Attribute, scope: _Scope) -> None:
        if not scope.computes:
            return
        if isinstance(func.value, ast.Call) and self._dotted(func.value.func) == "super":
            if func.attr == "forward":
                self._note("reference-model", node, "super().forward")
            return
        called = func.value if func.attr in ("forward", "__call__") else func
        if _is_self(called):
            assert isinstance(called, ast.Attribute)
            if called.attr in scope.methods and called is func:
                self._own_function_of_self(scope.methods[called.attr], node, scope)
            elif called.attr in self.attributes:
                self._attribute_called(self.attributes[called.attr], node)
            return
        if func.attr in NAMES.python.paths and not self._is_tensor(func.value, scope):
            self._note("harness", node, f".{func.attr}()")
        if not self._is_tensor(func.value, scope):
            return
        if kind := NAMES.python.tensor_methods.get(func.attr):
            self._note(kind, node, ast.unparse(node))
        elif func.attr not in NAMES.python.methods and func.attr not in NAMES.python.questions:
            self._note("torch-compute", node, f".{func.attr}()")

    def _own_function_of_self(self, function: _Function, node: ast.Call, scope: _Scope) -> None:
        given = {
            argument.arg
            for argument, value in zip(_arguments(function)[1:], node.args, strict=False)
            if self._is_tensor(value, scope)
        }
        self._function(function, _Scope(True, given, scope.klass, scope.methods))

    def _attribute_called(self, made_from: ast.expr, node: ast.Call) -> None:
        """`self.x(...)` where `x` was made in `__init__`."""
        maker = made_from.func if isinstance(made_from, ast.Call) else made_from
        name = self._dotted(maker)
        if name is None:
            if isinstance(made_from, ast.Lambda):
                scope = _Scope(computes=True, tensors=_tensor_arguments(made_from))
                self._function(made_from, scope)
        elif name in self.classes:
            self._forward_of(self.classes[name])
        elif name in self.functions and not isinstance(made_from, ast.Call):
            function = self.functions[name]
            self._function(function, _Scope(True, _tensor_arguments(function)))
        else:
            self._torch_function(node, name)

    def _name(self, node: ast.Attribute | ast.Name) -> None:
        if isinstance(node, ast.Name):
            if node.id not in self.aliases and (kind := NAMES.python.builtins.get(node.id)):
                self._note(kind, node, node.id)
        elif _is_dunder(node.attr) and node.attr not in NAMES.python.dunders:
            self._note("hidden-code", node, f".{node.attr}")
        name = self._dotted(node)
        if name is None or name.partition(".")[0] not in self._modules():
            return
        if kind := self._kind(name):
            self._note(kind, node, name)
        elif name.partition(".")[0] not in self.extensions and any(
            part.startswith("_") and not _is_dunder(part) for part in name.split(".")[1:]
        ):
            self._note("harness", node, f"{name} is private")

    def _kind(self, name: str) -> str | None:
        """What the use of a dotted name means; None for nothing."""
        if any(name == known or name.startswith(f"{known}.") for known in NAMES.python.harmless):
            return None
        if name in ("sys", "os", "functools", "numpy"):  # the name alone, before an attribute
            return None
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            if kind := NAMES.python.kinds.get(".".join(parts[:length])):
                return None if kind == "allowed" else kind
        return None

    # ---- names -------------------------------------------------------------------------------
    def _imports(self, node: ast.AST) -> None:
        pairs: list[tuple[str, str]] = []
        if isinstance(node, ast.Import):
            for alias in node.names:
                real = alias.name if alias.asname else alias.name.partition(".")[0]
                pairs.append((alias.asname or real, real))
                self._imported(node, alias.name)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            self._imported(node, module)
            pairs = [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names]
        for name, real in pairs:
            self.aliases[name] = real

    def _imported(self, node: ast.stmt, module: str) -> None:
        head = module.partition(".")[0]
        known = {*NAMES.python.imports, *self.extensions, *self.own}
        if head not in known and NAMES.python.kinds.get(head) is None:
            self._note("harness", node, f"imports {module}")
        if self._kind(module) in ("reads-reference", "harness") and head.startswith(
            ("npuforge", "__main__")
        ):
            self._note("harness", node, f"imports {module}")

    def _modules(self) -> set[str]:
        return {real.partition(".")[0] for real in self.aliases.values()}

    def _dotted(self, node: ast.expr) -> str | None:
        """`F.relu` as `torch.nn.functional.relu`; None for what is not a chain of names."""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return None if owner is None or _is_self(node) else f"{owner}.{node.attr}"
        return None

    def _note(self, kind: str, node: ast.AST, evidence: str) -> None:
        line = getattr(node, "lineno", None)
        self.found.append(cheat(kind, f"{evidence} (line {line} of the model)"))

    # ---- tensors -----------------------------------------------------------------------------
    def _is_arithmetic(self, node: ast.expr, scope: _Scope) -> bool:
        if isinstance(node, ast.BinOp):
            return self._is_tensor(node.left, scope) or self._is_tensor(node.right, scope)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self._is_tensor(node.operand, scope)
        if isinstance(node, ast.Compare) and isinstance(
            node.ops[0], (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
        ):
            return self._is_tensor(node.left, scope) or self._is_tensor(node.comparators[0], scope)
        return False

    def _is_tensor(self, node: ast.expr, scope: _Scope) -> bool:
        if isinstance(node, ast.Name):
            return node.id in scope.tensors
        if isinstance(node, ast.Subscript):
            return self._is_tensor(node.value, scope)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return self._is_arithmetic(node, scope)
        if isinstance(node, ast.IfExp):
            return self._is_tensor(node.body, scope) or self._is_tensor(node.orelse, scope)
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(self._is_tensor(item, scope) for item in node.elts)
        if isinstance(node, ast.Attribute):
            if node.attr in NAMES.python.questions:
                return False
            return self._is_parameter(node) or self._is_tensor(node.value, scope)
        if isinstance(node, ast.Call):
            name = self._dotted(node.func)
            if name is not None and name.partition(".")[0] in self.extensions:
                return True
            if isinstance(node.func, ast.Attribute):
                if node.func.attr in NAMES.python.questions:
                    return False
                return self._is_tensor(node.func.value, scope)
        return False

    def _is_parameter(self, node: ast.Attribute) -> bool:
        """`self.weight`, or `self.layer.weight`."""
        if _is_self(node):
            made = self.attributes.get(node.attr)
            name = self._dotted(made.func) if isinstance(made, ast.Call) else None
            return name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
        return _is_self(node.value) and node.attr in ("weight", "bias")


def _is_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _arguments(function: _Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args]


def _tensor_arguments(function: _Function) -> set[str]:
    """Arguments that may be tensors: not annotated as numbers, without a number as default."""
    arguments = _arguments(function)
    plain = {
        argument.arg
        for argument, default in zip(
            reversed(arguments), reversed(function.args.defaults), strict=False
        )
        if isinstance(default, ast.Constant) and default.value is not None
    }
    return {
        argument.arg
        for argument in [*arguments, *function.args.kwonlyargs]
        if argument.arg != "self" and argument.arg not in plain and not _is_number(argument)
    }


def _is_number(argument: ast.arg) -> bool:
    if argument.annotation is None:
        return False
    words = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(argument.annotation)
        if isinstance(node, (ast.Name, ast.Attribute))
    }
    return "Tensor" not in words and bool(words & set(NAMES.python.scalars))


def _names(target: ast.AST) -> set[str]:
    """Names that a target binds; `x[i] = ...` and `self.x = ...` bind none."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for item in target.elts for name in _names(item)}
    return _names(target.value) if isinstance(target, ast.Starred) else set()


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expression and its parts, without the insides of functions."""
    yield node
    if isinstance(node, ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _parts(child)
        elif isinstance(child, (ast.keyword, ast.comprehension)):
            for inner in ast.iter_child_nodes(child):
                if isinstance(inner, ast.expr):
                    yield from _parts(inner)
